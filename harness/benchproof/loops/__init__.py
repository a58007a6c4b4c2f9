"""Many proposed changes: one at a time in a loop (`try`), or all branches at once (`rank`)."""
