"""The culprit of a change: the commit, found with as few builds as the evidence allows."""
