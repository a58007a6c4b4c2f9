"""Setting a project up: what is found in it, what is written for it, and nothing overwritten."""
