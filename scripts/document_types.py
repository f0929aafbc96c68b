"""Writes static/shared/types.d.ts: the API's shapes as TypeScript, from the OpenAPI document.

The pages' JavaScript names them as `Api.Session`; `tsc` checks every use. No browser loads the file.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webapp.routes.api import routes
from webapp.routes.api.documents import build_document

PAGE = Path(__file__).resolve().parent.parent / "static" / "shared" / "types.d.ts"
HEAD = """\
// The API's shapes; docs/api.md says what the fields mean. No browser loads this file.
// Written by scripts/document_types.py; `make docs` rewrites it."""
WIDTH = 110
# An interface extends another only where they share more than a few common names.
LEAST_BASE = 4
REFERENCE = "#/components/schemas/"
NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = Mapping[str, Any]


def type_of(schema: Schema) -> str:
    """Return the TypeScript type of a schema.

    Raises:
        KeyError: If the schema uses a type that has no row in `NAMES`.
    """
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REFERENCE)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(type_of(one) for one in schema['prefixItems'])}]"
    match schema.get("type"):
        case None:
            return "unknown"
        case "array":
            item = type_of(schema.get("items", {}))
            return f"({item})[]" if " | " in item else f"{item}[]"
        case "object":
            values = schema.get("additionalProperties")
            return f"Record<string, {type_of(values) if isinstance(values, Mapping) else 'unknown'}>"
        case name:
            return NAMES[name]


def _fields(schema: Schema) -> dict[str, str]:
    """Return the declaration of each field of an object, by the field's name."""
    required = set(schema.get("required", ()))
    fields = {
        name: f"{name}{'' if name in required else '?'}: {type_of(one)};"
        for name, one in schema.get("properties", {}).items()
    }
    return fields | ({"": "[field: string]: unknown;"} if schema.get("additionalProperties") else {})


def _base(fields: Mapping[str, str], others: Mapping[str, Mapping[str, str]]) -> str:
    """Return the name of the largest of the others whose fields are all among these, "" if there is none."""
    within = [
        name for name, other in others.items() if len(other) >= LEAST_BASE and other.items() < fields.items()
    ]
    return max(within, key=lambda name: len(others[name]), default="")


def page(document: Schema | None = None) -> str:
    """Return the file for an OpenAPI document, by default for that of our own routes."""
    schemas = (document or build_document(routes()))["components"]["schemas"]
    interfaces = {name: _fields(schema) for name, schema in sorted(schemas.items())}
    lines = [HEAD, "", "declare namespace Api {"]
    for name, fields in interfaces.items():
        base = _base(fields, interfaces)
        own = [field for key, field in fields.items() if key not in interfaces.get(base, {})]
        head = f"  interface {name}{f' extends {base}' if base else ''} {{"
        one_line = " ".join([head, *own, "}"])
        # A field with spaces in its type is never divided between two lines.
        glued = " ".join(field.replace(" ", "\0") for field in own)
        filled = textwrap.wrap(glued, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
        several = [head, *(f"    {line.replace(chr(0), ' ')}" for line in filled), "  }"]
        lines += [one_line] if len(one_line) <= WIDTH else several
    return "\n".join([*lines, "}", ""])


def main() -> int:
    """Write the file."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
