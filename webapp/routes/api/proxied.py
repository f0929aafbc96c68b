"""The route by which the proxy hands over copies of calls."""

from __future__ import annotations

from flask import request

from webapp.access.gate import sending_user
from webapp.access.identity import SENDER
from webapp.app import App
from webapp.bodies import ProxiedCall
from webapp.routes.api.routing import Table
from webapp.services.proxied.answers import TakenCall

table = Table("proxy")


@table.post("/proxy/calls", role=SENDER, errors=(409,))
def take_call(app: App, body: ProxiedCall) -> TakenCall:
    """Store a copy of a call; `coppice proxy` sends one after its client has the answer.

    Messages that the session does not have yet are appended, with the usage that the provider reported. A sender's
    token with a name reaches only the sessions of that user; 409 for another's.
    """
    return app.calls.receive(body, sending_user(request.environ))
