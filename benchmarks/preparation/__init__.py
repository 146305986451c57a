"""Before the first call of a run: rendered prompts and items."""
