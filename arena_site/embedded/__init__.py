"""PostgreSQL, Valkey, the local model and the web server as programs of this installation."""
