"""What `scripts/in-parts` is made of."""
