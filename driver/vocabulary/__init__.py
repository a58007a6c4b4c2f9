"""Floor 0: the words that every other floor speaks, with no behaviour of their own."""
