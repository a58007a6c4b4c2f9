"""The commands of `hotpath`: one file each, its help text first; `harness/cli.py` lists them."""
