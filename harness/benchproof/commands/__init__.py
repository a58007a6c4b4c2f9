"""The commands of `benchproof`: one file each, its docstring is its help; `app.py` lists them."""
