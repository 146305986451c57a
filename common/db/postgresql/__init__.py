"""Django database engine: PostgreSQL with a pool that survives restarts."""
