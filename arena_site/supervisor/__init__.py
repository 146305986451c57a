"""Start, watch and stop an arena's processes. Without Django, because there is no database yet."""
