"""Serves the application below a path. A reverse proxy in front may keep or remove that path."""

from __future__ import annotations

from collections.abc import Iterable

from webapp.access.requests import Environ, StartResponse, WsgiApp


class Prefixed:
    """A WSGI application whose addresses begin with `prefix`, like "/coppice"."""

    def __init__(self, application: WsgiApp, prefix: str) -> None:
        self._application = application
        self._prefix = prefix

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request by its path below the prefix."""
        path = environ.get("PATH_INFO", "")
        below = path.removeprefix(self._prefix)
        if below and not below.startswith("/"):  # another path that begins with the same characters
            below = path
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = self._prefix, below or "/"
        return self._application(environ, start_response)
