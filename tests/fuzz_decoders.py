"""Coverage-guided fuzzing of every decoder: `python -m tests.fuzz_decoders INPUTS [FOLDER]` (`make fuzz-decoders`).

The corpus begins with the samples and grows in FOLDER by what reaches new code. Whatever the bytes: records, or an
error of ours. The first input that leads to something else is written to a file beside it and shown.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["webapp.agents", "scoring.formats", "scoring.messages"]):
    from scoring.errors import ScoringError
    from scoring.formats import decode
    from tests.odd_values import decodable
    from webapp.agents.reading.text import Content
    from webapp.agents.recognise import IMPORTS, recognise
    from webapp.errors import CoppiceError

# An input's first byte says which decoder reads the rest, or that it is recognised by content.
SOURCES = (*IMPORTS, None)
LARGEST = 20_000


def one_input(data: bytes) -> None:
    """Decode one input, as an import does."""
    if not data:
        return
    source, text = SOURCES[data[0] % len(SOURCES)], data[1:]
    found = recognise(text) if source is None else source
    if found in IMPORTS:
        for _ in IMPORTS[found].decode(Content(text)):
            pass
        return
    with suppress(ScoringError, CoppiceError, ValueError):  # what is no JSON is no list
        decode(json.loads(text))


def main() -> None:
    """Fuzz for a fixed number of inputs."""
    logging.disable(logging.CRITICAL)
    inputs, folder = int(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "build/fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    for path, source in decodable(LARGEST):
        mark = bytes([SOURCES.index(source)])
        (folder / f"{source}-{path.name}"[:100]).write_bytes(mark + path.read_bytes())
    atheris.Setup(
        [
            sys.argv[0],
            f"-runs={inputs}",
            f"-max_len={LARGEST}",
            f"-artifact_prefix={folder}/fault-",
            str(folder),
        ],
        one_input,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
