"""Layer 0: the words that every other layer speaks, with no behaviour of their own."""
