"""The application around `scoring`: store, services, pages and the live connection.

Importing the package loads nothing else: Flask and the rest are imported when an application is made, so that
`webapp.client` loads fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost a status line a fifth of its time
if TYPE_CHECKING:
    from flask import Flask

    from webapp.app import App
    from webapp.config import Config


def create_app(config: Config | None = None, *, app: App | None = None) -> Flask:
    """Return the Flask application, including Socket.IO and access control.

    `app` is an application from `webapp.wiring`; without it, one is built from `config`, by default the one from file
    and environment. No files are followed until its `watcher.start()` is called.
    """
    from flask import Flask
    from werkzeug.middleware.proxy_fix import ProxyFix

    from webapp.access.gate import Gate
    from webapp.access.guard import Guarded
    from webapp.access.requests import WsgiApp, hosts_of
    from webapp.config import Config
    from webapp.live.gateway import Gateway
    from webapp.routes import install, needed_by
    from webapp.routes.assets import TEMPLATES
    from webapp.serving.prefixed import Prefixed
    from webapp.wiring import build

    config = config or Config.load()
    app = app or build(config)
    flask_app = Flask(__name__, static_folder=None, template_folder=str(TEMPLATES))
    hosts = hosts_of(config.host, config.allowed_hosts)
    gate = Gate(
        hosts=hosts,
        origins=frozenset(config.allowed_origins),
        tokens=app.access_tokens,
        closed=config.is_reachable,
        needs=needed_by(flask_app),
    )
    install(flask_app, app, gate)
    flask_app.extensions["coppice.live"] = Gateway(app, flask_app, gate)
    wsgi_app: WsgiApp = Guarded(flask_app.wsgi_app, gate)
    if config.prefix:
        wsgi_app = Prefixed(wsgi_app, config.prefix)
    if config.proxies:  # outermost, so that the gate sees the address of the proxy's client
        wsgi_app = ProxyFix(wsgi_app, x_for=config.proxies, x_proto=config.proxies, x_host=0)
    flask_app.wsgi_app = wsgi_app  # type: ignore[method-assign, assignment]
    return flask_app
