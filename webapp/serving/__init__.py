"""The HTTP server, with gunicorn or Werkzeug."""
