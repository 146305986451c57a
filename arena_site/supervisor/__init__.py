"""Start, watch and stop an arena's processes. Django is imported once its services run."""
