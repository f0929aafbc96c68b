"""Writes the OpenAPI document of the API to a file, by default build/openapi.json, without starting a server.

The types of the browser's code are generated from it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from webapp.routes.api import routes
from webapp.routes.api.documents import build_document

DEFAULT = Path(__file__).resolve().parent.parent / "build" / "openapi.json"


def main(arguments: list[str]) -> int:
    """Write the document to the file named in `arguments`, or to the default."""
    path = Path(arguments[0]) if arguments else DEFAULT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(build_document(routes()), option=orjson.OPT_INDENT_2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
