"""Write changed parts back into the wire blocks they came from.

An unchanged block stays the same object; a block whose part changed is copied with only that change; a block whose part
is gone is left out; a part without a block gets a new one at its place. A block without any part (an empty text, a
marker) stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scoring.formats.numbering import same_call, same_part
from scoring.messages import Part, ToolCall, ToolResult

One = TypeVar("One", bound=Part)


def patch_blocks(
    blocks: Sequence[Any],
    parts: Sequence[One],
    *,
    read: Callable[[Any], Sequence[Part]],
    rewrite: Callable[[Any, One], Any],
    build: Callable[[One], Any | None],
) -> list[Any]:
    """Return the blocks updated to `parts`.

    `read` gives the parts of one block, `rewrite` a copy of a block for a changed part, `build` a block for a new
    part or None if the format cannot hold it.
    """
    old = [list(read(block)) for block in blocks]
    out: list[Any] = []
    at = 0

    def build_until(end: int) -> None:
        out.extend(built for part in parts[at:end] if (built := build(part)) is not None)

    for n, block in enumerate(blocks):
        if not old[n]:
            out.append(block)
            continue
        found = _find(old[n][0], parts, at, [p for later in old[n + 1 :] for p in later])
        if found is None:
            continue
        build_until(found)
        same = all(same_part(a, b) for a, b in zip(old[n], parts[found:], strict=False))
        whole = same and found + len(old[n]) <= len(parts)
        out.append(block if whole else rewrite(block, parts[found]))
        at = found + (len(old[n]) if whole else 1)
    build_until(len(parts))
    return out


def _find(part: Part, parts: Sequence[Part], at: int, later: list[Part]) -> int | None:
    """Return the index in `parts`, at or after `at`, of this block's part; None if it is gone."""
    for n in range(at, len(parts)):
        if same_part(part, parts[n]):
            return n
    for n in range(at, len(parts)):
        if same_call(part, parts[n]):
            return n
    has_call = isinstance(part, ToolCall | ToolResult)
    if at < len(parts) and type(parts[at]) is type(part) and not has_call and parts[at] not in later:
        return at
    return None
