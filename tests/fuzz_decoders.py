"""Coverage-guided fuzzing of every decoder: `python -m tests.fuzz_decoders INPUTS [FOLDER]` (`make fuzz-decoders`).

The corpus begins with the samples; inputs that reach new code are added to it in FOLDER. Half of the inputs are
changed as JSON (an odd value in any place of any row, or a value of another place), the others as bytes. A decoder must
return records or raise one of our errors within `SECONDS`; the first input for which it does not is written to FOLDER
and shown.
"""

from __future__ import annotations

import json
import logging
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=[
        "webapp.agents",
        "webapp.proxy.editing",
        "webapp.services.proxied",
        "scoring.formats",
        "scoring.messages",
    ]
):
    from tests.decoders import DECODERS, all_samples
    from tests.odd_values import VALUES, places, replaced

NAMES = tuple(DECODERS)  # the first byte of an input chooses the decoder of the rest
LARGEST = 8_000  # bytes of an input: a longer one takes longer and reaches no more
SECONDS = 10


def one_input(data: bytes) -> None:
    """Decode one input."""
    if data:
        DECODERS[NAMES[data[0] % len(NAMES)]](data[1:])


def changed(data: bytes, largest: int, seed: int) -> bytes:
    """Return an input with a change: in the JSON of one of its rows, or in its bytes."""
    choice = random.Random(seed)
    rows = data[1:].split(b"\n")
    at = choice.randrange(len(rows))
    try:
        value = json.loads(rows[at])
    except (ValueError, RecursionError):
        value = None
    if value is None or choice.random() < 0.5:
        return bytes(atheris.Mutate(data, largest))
    ways = list(places(value))
    odd = choice.choice(VALUES)
    if choice.random() < 0.3:
        odd = value
        for step in choice.choice(ways):
            odd = odd[step]
    rows[at] = json.dumps(replaced(value, choice.choice(ways), odd)).encode()
    return (data[:1] + b"\n".join(rows))[:largest]


def main() -> None:
    """Fuzz for a fixed number of inputs."""
    logging.disable(logging.CRITICAL)
    inputs, folder = int(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "build/fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(all_samples(LARGEST)):
        mark = bytes([NAMES.index(sample.decoder)])
        (folder / f"sample-{number:03}").write_bytes(mark + sample.data)
    options = (
        f"-runs={inputs}",
        f"-max_len={LARGEST}",
        f"-timeout={SECONDS}",
        f"-artifact_prefix={folder}/fault-",
    )
    atheris.Setup([sys.argv[0], *options, str(folder)], one_input, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
