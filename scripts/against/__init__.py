"""The same work by this driver and by others: what is done, by whom, and how it is measured."""
