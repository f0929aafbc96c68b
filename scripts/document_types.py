"""Writes static/shared/types.d.ts: the routes that the pages call, and their shapes, as TypeScript.

The pages' JavaScript names them as `Api.Session`; `tsc` checks every use. No browser loads the file.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from webapp.routes.api import routes
from webapp.routes.api.documents import PARAMETER, build_document
from webapp.routes.api.routing import Route

SHARED = Path(__file__).resolve().parent.parent / "static" / "shared"
PAGE = SHARED / "types.d.ts"
# A call of a route by the pages; a part of its path may be a variable.
CALL = re.compile(r"""\bcall\((?:"([^"]+)"|`([^`]+)`)""")
VARIABLE = re.compile(r"\\\$\\\{.+?\\\}")
HEAD = """\
// The shapes of the API that pages use; docs/api.md says what the fields mean. No browser loads this file.
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


def interfaces(schemas: Schema) -> list[str]:
    """Return the lines of one interface for each schema, sorted by name."""
    every = {name: _fields(schema) for name, schema in sorted(schemas.items())}
    lines = []
    for name, fields in every.items():
        base = _base(fields, every)
        own = [field for key, field in fields.items() if key not in every.get(base, {})]
        head = f"  interface {name}{f' extends {base}' if base else ''} {{"
        one_line = " ".join([head, *own, "}"])
        # A field with spaces in its type is divided between two lines only if it fits no line.
        glued = " ".join(field.replace(" ", "\0") if len(field) <= WIDTH - 4 else field for field in own)
        filled = textwrap.wrap(glued, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
        several = [head, *(f"    {line.replace(chr(0), ' ')}" for line in filled), "  }"]
        lines += [one_line] if len(one_line) <= WIDTH else several
    return lines


def named(route: Route) -> str:
    """Return the method and the path of a route, as the pages name it."""
    return f"{route.method} {PARAMETER.sub('{}', route.path)}"


def called(table: Iterable[Route], script: str) -> list[Route]:
    """Return the routes that a script calls; a variable in a path is any word."""
    paths = [VARIABLE.sub("[a-z-]+", re.escape(plain or filled)) for plain, filled in CALL.findall(script)]
    return [route for route in table if re.fullmatch("|".join(paths), named(route))]


def route_types(table: Iterable[Route]) -> list[str]:
    """Return the lines of the interface `Routes`: the query, body and answer of each route, by method and path."""
    lines = ["  interface Routes {"]
    for route in table:
        parts = {"query": route.query, "body": route.body, "answer": route.answers}
        names = {part: one.__name__ if one else "never" for part, one in parts.items()}
        if route.raw:
            names["body"] += " | FormData"
        fields = " ".join(f"{part}: {name};" for part, name in names.items())
        lines.append(f'    "{named(route)}": {{ {fields} }};')
    return [*lines, "  }"]


def page() -> str:
    """Return the file for the routes that the pages call."""
    table = called(routes(), (SHARED / "api.js").read_text(encoding="utf-8"))
    queries = {route.query.__name__: route.query.model_json_schema() for route in table if route.query}
    schemas = build_document(table)["components"]["schemas"] | queries
    body = [*interfaces(schemas), *route_types(table)]
    return "\n".join([HEAD, "", "declare namespace Api {", *body, "}", ""])


def main() -> int:
    """Write the file."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
