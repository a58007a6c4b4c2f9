"""The commands of `benchproof`: one file each, its help text first; `cli.py` lists them."""
