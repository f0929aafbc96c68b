"""Puts `static/` and `templates/` beside the code that serves them, under `webapp/` in the wheel.

Only the wheel that is shipped gets them; an editable install reads them from the top of the tree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = {"static": "webapp/static", "templates": "webapp/templates"}


class ShipPages(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's config parameter means nothing here
    """Adds the pages and the vendored browser libraries to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files. Raises FileNotFoundError if the browser libraries are missing: no page would work then."""
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "static" / "vendor").is_dir():
            raise FileNotFoundError("no static/vendor to put in the wheel; run `make wheel`, which makes it")
        build_data["force_include"].update({str(root / source): target for source, target in SHIPPED.items()})
