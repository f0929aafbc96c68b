"""The route that tells a page what its token allows, before a request is refused."""

from __future__ import annotations

from flask import request

from webapp.access.gate import may_change
from webapp.answers import Access
from webapp.app import App
from webapp.routes.api.routing import Table

table = Table("access")


@table.get("/access")
def get_access(_: App) -> Access:
    """Return the role of the request's token or sign-in; where no token is needed, it is an operator's."""
    return Access(role="operator" if may_change(request.environ) else "viewer")
