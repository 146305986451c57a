"""Services and the web server as programs of this installation."""
