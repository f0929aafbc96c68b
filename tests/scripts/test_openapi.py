"""The OpenAPI document in a file."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.openapi import main
from webapp.routes.api import routes
from webapp.routes.api.documents import build_document


class TestMain:
    """`python scripts/openapi.py FILE`."""

    def test_writes_what_the_server_serves(self, tmp_path: Path) -> None:
        """In a folder that is made for it."""
        file = tmp_path / "made" / "openapi.json"
        assert main([str(file)]) == 0
        assert json.loads(file.read_text()) == json.loads(json.dumps(build_document(routes())))
