"""Request bodies and query strings, over HTTP and Socket.IO alike. Parsing is strict: no field is guessed or ignored.

Only the shape is checked here; services check the values (is the strategy known, is the plan stale). Message lists are
not checked: `scoring.formats` reads their many formats.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, ValidationError

# The largest integer that both SQLite and browsers represent exactly.
MOST = 2**53 - 1

# Characters of a wrong value in an error message.
SHOWN = 40

Tokens = Annotated[int, Field(ge=0, le=MOST)]
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
# The same in words; no other field has a pattern.
ID_WORDS = "expected up to 200 letters, digits and . _ : @ + -, beginning with a letter or digit"
SessionIds = Annotated[list[str], Field(max_length=1_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
# A search text. SQLite's search ends at a NUL, so NUL counts as a blank.
Words = Annotated[str, Field(max_length=500), AfterValidator(lambda words: words.replace("\0", " "))]
MessageIds = Annotated[list[str], Field(max_length=1_000_000)]
Json = dict[str, Any]


class Body(BaseModel):
    """The base of all bodies: strict types, no unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid", use_attribute_docstrings=True)

    def given(self) -> Json:
        """Return only the fields that were sent."""
        return self.model_dump(exclude_unset=True)


class Query(BaseModel):
    """The base of all query strings: values arrive as text, unknown names are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def given(self) -> Json:
        """Return only the parameters that were sent."""
        return self.model_dump(exclude_unset=True)


class NewSession(Body):
    """A session to which a program sends the messages."""

    id: SessionId | None = None
    """Made up if missing."""
    title: Annotated[str, Field(max_length=500)] | None = None
    model: Name | None = None
    system: str | list[Json] | None = None
    """The system prompt of every call: a text, or blocks with text."""
    tools: list[Json] | None = None
    """The tool definitions of every call."""
    settings: Json | None = None
    """Overrides of the settings for this session."""
    format: Name | None = None
    """The format of its messages; if missing, that of the first message that can only be in one, or of its model."""


class SessionChange(Body):
    """Changes of a session; a missing field stays as it is."""

    title: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    model: Name | None = None
    automatic: bool | None = None
    """Prune by itself; null follows the settings."""
    window: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = None
    """The window in tokens; null takes back what was set or seen in use."""
    settings: Json | None = None
    """Overrides to change; a null value removes an override, null removes all."""
    proxy_prunes: bool | None = None
    """Let the proxy send this session pruned; null is false. Only for a session of the proxy."""


class Append(Body):
    """Messages in any wire format."""

    messages: list[Any]
    usage: Json | None = None
    """The usage that the provider reported for the call that made the last message."""
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A request with a key that was used before adds nothing and gets the same ids."""
    whole: bool = False
    """The list is the whole conversation: only what the session does not have yet is appended."""


class WebhookNew(Body):
    """A webhook to add."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The address to post to: http or https, without a user or password."""
    events: list[str] | None = None
    """The events it gets; all if missing."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """`whsec_` and 24 to 64 bytes in base64, for a receiver that has one; made if missing."""


class WebhookChange(Body):
    """Changes of a webhook; a missing field stays as it is."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    events: list[str] | None = None
    active: bool | None = None
    """False pauses it."""


class ProxiedCall(Body):
    """A copy of a call that went through the proxy."""

    provider: Literal["openai", "anthropic"]
    path: Annotated[str, Field(max_length=200)]
    """The provider's own path, without its query."""
    session: SessionId | Literal[""]
    """The id of the session; empty where the messages have to find it."""
    parent: SessionId | None
    """The session above a sub-agent's."""
    status: Annotated[int, Field(ge=100, le=999)]
    request: str
    """The body as the client sent it."""
    answer: str
    """The body of the answer: a document, or a stream of events."""
    whole: bool
    """False for an answer that broke off."""
    at: Annotated[int, Field(ge=0, le=MOST)]
    """The time of the call in ms since 1970."""
    applied: Annotated[str, Field(max_length=100)]
    """The version of the edit script that was applied; empty for a call that was sent as it came."""
    reason: Annotated[str, Field(max_length=2_000)]
    """The reason a call that was to be pruned was sent as it came; empty for any other."""
    subscription: bool
    """True where the key is a subscription's."""


class PlanWish(Body):
    """A plan to make. Every field is optional; the session's settings decide the rest."""

    max_tokens: Tokens | None = None
    """The tokens that the context may have afterwards; by default the aim."""
    strategy: Name | None = None
    settings: Json | None = None
    """Settings to try without saving them."""
    spare: MessageIds | None = None
    """Ids of messages to keep."""
    drop: MessageIds | None = None
    """Ids of messages to drop."""
    shorten: MessageIds | None = None
    """Ids of messages whose output is cut to its beginning, its end and every error line."""
    compare: bool | None = None
    """Count the messages whose fate differs from that with the saved settings."""
    brief: bool | None = None
    """Leave the lists of messages empty, for a reader of the figures alone."""


class PruneWish(Body):
    """A prune to apply: a plan that was shown, or a new one."""

    plan_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The plan that was shown; without it a new one is made and applied."""
    max_tokens: Tokens | None = None
    strategy: Name | None = None


class Nothing(Body):
    """No fields."""


class OverflowWish(Body):
    """An overflow of the context."""

    reported: bool = True
    """The provider refused the context as too long: half of the turns are dropped in any case, otherwise only as many
    as necessary.
    """


class SummaryWish(Body):
    """A summary to write."""

    wait: bool | None = None
    """Answer when the summary is done; by default only if it is written without a model."""


class MemoryNew(Body):
    """A text to keep, or a message whose text is kept."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    session_id: Name | None = None
    message_id: Name | None = None


class MemoryChange(Body):
    """The new text."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class AnySettings(RootModel[Json]):
    """Settings, in whole or in part, or `preset` with the name of a preset. Fields: see [Settings](#settings)."""

    @property
    def preset(self) -> str | None:
        """Return the name of the preset to start from, None for the settings in force."""
        return str(self.root["preset"]) if "preset" in self.root else None

    @property
    def fields(self) -> Json:
        """Return the settings; they may stand in `settings`, as the answer has them."""
        inner = self.root.get("settings")
        return inner if isinstance(inner, dict) else {k: v for k, v in self.root.items() if k != "preset"}


class Suggest(Body):
    """A search for better weights."""

    sessions: SessionIds = []
    """The sessions to learn from; by default the newest."""


class ModelRow(Body):
    """Limits of a model, in tokens, that override those of the table.

    Without a window the table's stays; a model that is not in the table gets four times its output limit.
    """

    window: Annotated[int, Field(gt=0, le=MOST)] | None = None
    input_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None
    output_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None


class ResumeAsked(Body):
    """A copy to resume from."""

    prune: bool = False
    """Prune the session first."""
    max_tokens: Tokens | None = None
    """The most tokens after that prune; the session's aim by default."""


class FileSent(Body):
    """A file in a JSON body."""

    content: str | list[Any] | Json
    """Its text, or its value."""
    name: Annotated[str, Field(max_length=500)] = "upload.json"
    format: Name = "auto"
    """The format's name; "auto" recognises it by content."""
    model: Name | None = None
    """The model, for a file that does not name it."""


class SocketPlan(PlanWish):
    """The request `context:plan`."""

    session_id: Name


class SocketPrune(PruneWish):
    """The request `context:prune`."""

    session_id: Name


class SocketUndo(Body):
    """The request `context:undo`."""

    session_id: Name
    n: Annotated[int, Field(ge=0, le=MOST)] | None = None
    """The operation's number; by default the newest."""


class Subscribe(Body):
    """The request `subscribe`: a room, and the last revision of it that the page has seen."""

    room: Annotated[str, Field(max_length=300)]
    revision: Annotated[int, Field(ge=0, le=MOST)] | None = None


class SessionsQuery(Query):
    """Filter and order of sessions. Without `limit` all are returned; `after` is the `next` of the page before."""

    state: Literal["idle", "active", "warning"] | None = None
    source: Name | None = None
    q: Words | None = None
    sort: Name | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] | None = None
    after: Name | None = None


class MessagesQuery(Query):
    """Filter and order of a session's messages.

    `after` is the `next` of the page before, `offset` the rows before the page instead; `first` and `last` are the
    numbers of the first and last message to list; `tool` lists the calls and results of one tool; `at_once` does not
    wait for scores and fates; `without_parts` leaves out what a score is made of, `brief` that and all but the first 80
    characters of a text.
    """

    after: Annotated[str, Field(max_length=200)] | None = None
    offset: Annotated[int, Field(ge=0, le=MOST)] | None = None
    first: Annotated[int, Field(ge=1, le=MOST)] | None = None
    last: Annotated[int, Field(ge=0, le=MOST)] | None = None
    tool: Name | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    role: Literal["system", "user", "assistant", "tool"] | None = None
    fate: Name | None = None
    q: Words | None = None
    sort: Literal["newest", "oldest", "score", "tokens"] | None = None
    plan_id: Annotated[str, Field(max_length=200)] | None = None
    at_once: bool = False
    without_parts: bool = False
    brief: bool = False


class FormatQuery(Query):
    """The name of a wire format or file format."""

    format: Name | None = None


class DeleteQuery(Query):
    """`confirm` repeats the session's id, so that none is deleted by mistake."""

    confirm: str | None = None


class TimelineQuery(Query):
    """The most points to return, evenly chosen."""

    points: Annotated[int, Field(ge=2, le=10_000)] = 600


class OperationsQuery(Query):
    """Only operations of one `kind`."""

    kind: Name | None = None


class SearchQuery(Query):
    """A search text, and what the messages have to be. `after` is the `next` of the page before."""

    q: Words = ""
    session: Name | None = None
    role: Literal["system", "user", "assistant", "tool"] | None = None
    tool: Name | None = None
    """The name of a tool that the message calls or answers for."""
    since: date | None = None
    """The first day, in UTC."""
    until: date | None = None
    """The last day, in UTC."""
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class ProposalText(Body):
    """The text of a proposal."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class MemoryQuery(Query):
    """Words to search for; one of them is enough."""

    q: Words = ""


class ArchiveQuery(Query):
    """A search text for messages that are not in the context."""

    q: Words = ""


# A step of the library's path that is a type it tried, not a field.
_TYPE = re.compile(r"str|int|float|bool|none|constrained-\w+|\w+\[.*\]")
# The expected value for each kind of fault of the library; it fills in `{…}`.
_EXPECTED = {
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "string_type": "a string",
    "string_unicode": "a string of whole characters",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "string_too_long": "at most {max_length} characters",
    "too_long": "at most {max_length} of them",
    "literal_error": "{expected}",
}


def refusal(error: ValidationError) -> Json:
    """Return the body of a failure with a detail for each wrong field: its dotted path, what was expected and found.

    Where a field may be of several types, the library reports a fault for each, with the type in its path; here they
    are one fault of the field.
    """
    by_field: dict[str, list[Any]] = {}
    for fault in error.errors(include_url=False):
        steps = [str(step) for step in fault["loc"] if not _TYPE.fullmatch(str(step))]
        by_field.setdefault(".".join(steps) or "body", []).append(fault)
    details = [{"field": field, "message": _together(faults)} for field, faults in by_field.items()]
    message = "; ".join(f"{one['field']}: {one['message']}" for one in details[:3])
    return {"error": {"type": "invalid", "message": message, "details": details}}


def _together(faults: list[Any]) -> str:
    """Return the faults of one field in words: "expected a string or a list, got a number"."""
    words = list(dict.fromkeys(map(_words, faults)))
    parts = [one.removeprefix("expected ").rpartition(", got ") for one in words]
    if len(words) == 1 or not all(one.startswith("expected ") and ", got " in one for one in words):
        return "; ".join(words)
    return f"expected {' or '.join(dict.fromkeys(p[0] for p in parts))}, got {parts[0][2]}"


def _words(fault: Any) -> str:
    """Return a fault in our words."""
    kind, given = fault["type"], fault.get("ctx") or {}
    if kind == "missing":
        return "missing"
    if kind == "extra_forbidden":
        return "unknown; expected no such field"
    came = _shown(fault["input"])
    if kind == "string_pattern_mismatch":
        return f"{ID_WORDS}, got {came}"
    if kind == "string_too_short":
        least = given["min_length"]
        return f"expected at least {least} {'character' if least == 1 else 'characters'}, got {came}"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind].format(**given)}, got {came}"
    return lower_first(fault["msg"])


def _shown(value: Any) -> str:
    """Return a value as it came, cut short."""
    if (kind := _KINDS.get(type(value))) is not None:
        return kind
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


_KINDS = {list: "a list", dict: "an object", type(None): "null"}


def lower_first(text: str) -> str:
    """Return the text with a lower-case first letter, as in all our messages."""
    return text[:1].lower() + text[1:]
