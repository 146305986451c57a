"""Start, watch and stop an arena's processes. Without Django: it runs before there is a database."""
