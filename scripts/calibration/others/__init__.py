"""The same commits by other tools, with their best documented settings.

Each tool gets the very wheels that the gate measured. What a tool decides is decided by its own
code; only the instruction count has none, and its limit of 1 % is what projects use.
"""
