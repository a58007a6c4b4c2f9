"""Parts of `scripts/originals`: other people's pull requests in their own repository."""
