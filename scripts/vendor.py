"""Copies the browser libraries that npm installed, with their licences, to `static/vendor/`.

The table below is the whole of it: what a page loads, and whose licence covers it. socket.io-client's one
file bundles four smaller packages, so theirs come along. `static/vendor/` is ignored by git and carried by
the wheel.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Library:
    """One package of node_modules: the dist files that a page loads, and the packages bundled in them.

    `script` is a classic script, the module to make of it, and the global that the module exports by default: for a
    library that ships no minified module.
    """

    package: str
    files: tuple[str, ...]
    bundles: tuple[str, ...] = ()
    script: tuple[str, str, str] | None = None


LIBRARIES = (
    Library("lit-html", ("lit-html.js", "directive.js", "directive-helpers.js", "directives/repeat.js")),
    Library(
        "socket.io-client",
        ("dist/socket.io.esm.min.js", "dist/socket.io.esm.min.js.map"),
        ("@socket.io/component-emitter", "engine.io-client", "engine.io-parser", "socket.io-parser"),
    ),
    # The module in the package is not minified: compressed it has 42 kB, this script 22 kB.
    Library("uplot", ("dist/uPlot.min.css",), script=("dist/uPlot.iife.min.js", "uPlot.esm.js", "uPlot")),
)


def licence_of(package_folder: Path) -> str:
    """Return the text of a package's licence file. Raises FileNotFoundError if it has none."""
    found = sorted(path for path in package_folder.iterdir() if path.stem.upper() in {"LICENSE", "LICENCE"})
    if not found:
        raise FileNotFoundError(f"no licence file in {package_folder}; do not ship what has no licence")
    return found[0].read_text(encoding="utf-8").strip()


def copy_library(library: Library, modules: Path, vendor: Path) -> str:
    """Copy one library into its own folder under `vendor` and return its version."""
    source, target = modules / library.package, vendor / library.package
    target.mkdir(parents=True)
    for name in library.files:
        place = target / name.removeprefix("dist/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, place)
    if library.script:
        name, module, exported = library.script
        code = (source / name).read_text(encoding="utf-8").rstrip()
        (target / module).write_text(f"{code}\nexport default {exported};\n", encoding="utf-8")
    licences = [f"{name}\n\n{licence_of(modules / name)}\n" for name in (library.package, *library.bundles)]
    (target / "LICENSE").write_text("\n---\n\n".join(licences), encoding="utf-8")
    version: str = json.loads((source / "package.json").read_text(encoding="utf-8"))["version"]
    return version


def copy_all(modules: Path, vendor: Path) -> dict[str, str]:
    """Fill an emptied `vendor` from `modules`; return package -> version, as in `versions.json`."""
    shutil.rmtree(vendor, ignore_errors=True)
    versions = {library.package: copy_library(library, modules, vendor) for library in LIBRARIES}
    (vendor / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
    return versions


def main() -> int:
    """Copy from this tree's node_modules to its static/vendor; return 1 if npm has not installed them."""
    try:
        versions = copy_all(ROOT / "node_modules", ROOT / "static" / "vendor")
    except FileNotFoundError as error:
        print(f"cannot copy the browser libraries: {error}; run `npm ci` first", file=sys.stderr)
        return 1
    print("static/vendor: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
