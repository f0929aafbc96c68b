"""An integration by a file of ours in an agent's folder of extensions: code that the agent loads into its process.

The code applies a session's edit script before each call. It is a file in the agent's folder here, with a mark that
identifies it as ours. The code that all extensions share replaces its import, with the folder of the hints filled in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from webapp.agents.agent import Integration
from webapp.agents.hook_runtime import hints
from webapp.errors import Malformed

MARK = "Written by `coppice hooks install`."
PART = "edits before each call"
_FOLDER = '"HINTS_FOLDER"'
_SHARED = Path(hints.__file__).with_name("edit_scripts.js")
_IMPORT = 'import { note, scriptOf } from "../hook_runtime/edit_scripts.js";\n'


def extension_integration(use: str, file: Callable[[Mapping[str, str]], Path], code: Path) -> Integration:
    """Return the integration of an extension with this code."""

    def installed_parts(text: str) -> list[str]:
        return [PART] if MARK in text else []

    def add(text: str | None, _: str) -> str:
        if text is not None and not installed_parts(text):
            raise Malformed("there is another extension of this name, which is not ours; move it first")
        folder = json.dumps(str(Path(hints.folder()).absolute()))
        shared = _SHARED.read_text("utf-8").replace(_FOLDER, folder).replace("export function", "function")
        return code.read_text("utf-8").replace(_IMPORT, shared)

    return Integration(
        use=use, parts=(PART,), file=file, add=add, remove=lambda _: None, installed_parts=installed_parts
    )
