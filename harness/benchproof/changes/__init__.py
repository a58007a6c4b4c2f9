"""Which commits changed what: the steps of every series of a history."""
