"""Wire formats: recognise, decode, encode and validate message lists.

Decoding and encoding in the same format gives back the very objects that came in. A message whose parts were changed
gets a copy of its object with only that change. A list for another format is built from parts and from the media
in the original objects. Content that the target cannot hold is left out (docs/formats.md has the list).
"""

from scoring.formats.base import Decoded, gathered_sources, turns_of
from scoring.formats.blocks import said_and_shown
from scoring.formats.contents import parts_in
from scoring.formats.decoding import decode, decode_readable, flat_texts
from scoring.formats.encoding import encode, is_empty, matches_wire, with_wire_format
from scoring.formats.media import DETAILS, Source, media_in, media_of, source_of
from scoring.formats.numbering import note_calls, numbered
from scoring.formats.reading import DEPTH_LIMIT, call_input, json_text
from scoring.formats.recognition import could_be, is_sure, recognise
from scoring.formats.repairs import OPENING, OPENING_TOKENS, opening, repair
from scoring.formats.system_prompts import SYSTEM_KEYS, system_text
from scoring.formats.table import FORMATS, must_begin_with_user, native_format
from scoring.formats.thoughts import has_bound_thoughts, is_bound_to_history, without_bound_thoughts
from scoring.formats.validation import validate

__all__ = [
    "DEPTH_LIMIT",
    "DETAILS",
    "FORMATS",
    "OPENING",
    "OPENING_TOKENS",
    "SYSTEM_KEYS",
    "Decoded",
    "Source",
    "call_input",
    "could_be",
    "decode",
    "decode_readable",
    "encode",
    "flat_texts",
    "gathered_sources",
    "has_bound_thoughts",
    "is_bound_to_history",
    "is_empty",
    "is_sure",
    "json_text",
    "matches_wire",
    "media_in",
    "media_of",
    "must_begin_with_user",
    "native_format",
    "note_calls",
    "numbered",
    "opening",
    "parts_in",
    "recognise",
    "repair",
    "said_and_shown",
    "source_of",
    "system_text",
    "turns_of",
    "validate",
    "with_wire_format",
    "without_bound_thoughts",
]
