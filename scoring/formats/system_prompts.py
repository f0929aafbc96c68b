"""The system prompt that a request body has beside its list, under the field of any format."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from scoring.formats.base import Format
from scoring.formats.reading import words_in
from scoring.formats.table import FORMATS

SYSTEM_KEYS = tuple(key for f in FORMATS.values() for key in f.system)


def system_text(envelope: Mapping[str, Any]) -> str:
    """Return the system prompt that a request body of any format has beside its list; "" if none."""
    return "\n".join(words_in(envelope[key]) for key in SYSTEM_KEYS if envelope.get(key))


def place_system(envelope: MutableMapping[str, Any], target: Format, texts: Sequence[str]) -> list[str]:
    """Move system texts into the envelope's field of the target format; return those that have to stay in the list.

    A prompt under another format's key is moved too. Placing the same text again changes nothing.
    """
    foreign = [k for k in SYSTEM_KEYS if k in envelope and k not in target.system]
    texts = [t for t in (system_text({k: envelope.pop(k)}) for k in foreign) if t] + list(texts)
    if not target.system:
        return texts
    key = next((k for k in target.system if k in envelope), target.system[0])
    present = system_text({key: envelope.get(key)})
    new = [t for t in texts if t not in present]
    if new:
        envelope[key] = target.with_system(envelope.get(key), new)
    return []
