"""Serving: the process that listens, under gunicorn or Werkzeug."""
