"""PostgreSQL, Valkey, the local model and the web server as programs this installation carries itself."""
