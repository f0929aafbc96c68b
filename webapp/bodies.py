"""Request bodies and query strings, for HTTP and Socket.IO. Parsing is strict: no field is guessed or ignored.

Only the shape is checked here; services check values, such as the name of a strategy. Message lists are not checked:
`scoring.formats` reads their formats.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from scoring.errors import shown

# The largest integer that both SQLite and browsers represent exactly.
MOST = 2**53 - 1

Tokens = Annotated[int, Field(ge=0, le=MOST)]
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
# The pattern in words; no other field has one.
ID_WORDS = "up to 200 letters, digits and . _ : @ + -, beginning with a letter or digit"
SessionIds = Annotated[list[str], Field(max_length=1_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
# A search text. SQLite's search stops at a NUL, so a NUL is replaced by a blank.
Words = Annotated[str, Field(max_length=500), AfterValidator(lambda words: words.replace("\0", " "))]
MessageIds = Annotated[list[str], Field(max_length=1_000_000)]
Json = dict[str, Any]


class ClientInput(BaseModel):
    """The base of all that clients send: no unknown fields, and no changes after parsing."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    def sent_fields(self) -> Json:
        """Return only the fields that were sent."""
        return self.model_dump(exclude_unset=True)


class Body(ClientInput):
    """The base of all bodies: strict types."""

    model_config = ConfigDict(strict=True)


class Query(ClientInput):
    """The base of all query strings, and the one of routes without parameters: values arrive as text."""


class NewSession(Body):
    """A session whose messages a program appends."""

    id: SessionId | None = None
    """Generated if missing."""
    title: Annotated[str, Field(max_length=500)] | None = None
    model: Name | None = None
    system: str | list[Json] | None = None
    """The system prompt of every call: a text, or blocks with text."""
    tools: list[Json] | None = None
    """The tool definitions of every call."""
    settings: Json | None = None
    """Overrides of the settings for this session."""
    format: Name | None = None
    """The format of its messages; if missing, that of the first message that fits only one, or of its model."""


class SessionChange(Body):
    """Changes of a session; a missing field is not changed."""

    title: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    model: Name | None = None
    automatic: bool | None = None
    """Prune automatically; null follows the settings."""
    window: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = None
    """The window in tokens; null removes a value that was set here, and one that the agent reported holds again."""
    settings: Json | None = None
    """Overrides to change; a null value removes an override, null removes all."""
    proxy_prunes: bool | None = None
    """Let the proxy send this session pruned; null is false. Only for a session of the proxy."""
    kept: bool | None = None
    """Except the session and its sub-agents from the limits on age and size; null is false."""


Limit = Annotated[int, Field(ge=1, le=MOST)]


class SessionLimits(Body):
    """Limits on the age and size of sessions; null, or missing, for none."""

    days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Delete sessions that were not used for so many days."""
    size_mib: Limit | None = None
    """Delete those unused for longest while the logs of all sessions take more than so many MiB."""
    user_size_mib: Limit | None = None
    """The same for the sessions of each user."""


class ConfirmedDeletion(Body):
    """The confirmation that sessions are to be deleted now."""

    sessions: Annotated[int, Field(ge=0, le=MOST)]
    """The number of sessions that the preview named; if it has changed, nothing is deleted."""


class Append(Body):
    """Messages in any wire format."""

    messages: list[Any]
    usage: Json | None = None
    """The usage that the provider reported for the call that made the last message."""
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A repeated key appends nothing and gets the same ids; 409 with other messages."""
    whole: bool = False
    """The list is the whole conversation: only messages that the session does not have are appended."""


class NewWebhook(Body):
    """A webhook to add."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The address to post to: http or https, without a user or password."""
    events: list[str] | None = None
    """The events it gets; all if missing."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """`whsec_` and 24 to 64 bytes in base64, if the receiver has one already; generated if missing."""


class WebhookChange(Body):
    """Changes of a webhook; a missing field is not changed."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    events: list[str] | None = None
    active: bool | None = None
    """False pauses it."""


FileKey = Annotated[str, Field(min_length=1, max_length=5_000)]


class PushedFile(Body):
    """A transcript on the machine that pushes it."""

    key: FileKey
    """The file's path, and the session where it contains several."""
    source: Name
    """The agent that writes it."""
    session_id: SessionId
    parent_id: SessionId | None = None
    """The session that started it."""
    title: Annotated[str, Field(max_length=500)] | None = None
    agent_type: Name | None = None


class SenderFields(Body):
    """The machine and the user that push."""

    host: Name
    user: Name
    """The user's login name there; the name of the token comes before it, where it has one."""


class PushedPositions(SenderFields):
    """Positions that a sender has for its files."""

    files: Annotated[dict[FileKey, Annotated[str, Field(max_length=64)]], Field(max_length=1_000)]
    """Key of each file to the digest of its position, empty at the start."""


class PushedLines(SenderFields):
    """A part of a transcript, decoded on the machine that follows it."""

    file: PushedFile
    before: Annotated[str, Field(max_length=64)]
    """The digest of the position before it; empty at the start of the file."""
    after: Json
    """The position after it."""
    restarted: bool = False
    """The file was cut off or replaced, and is read from its start."""
    unreadable: bool = False
    """The file is not text."""
    records: Annotated[list[Json], Field(max_length=1_000_000)]
    """The records, in order: `record`, the name of its type, and the fields of each."""


class ProxiedCall(Body):
    """A copy of a call that went through the proxy."""

    provider: Literal["openai", "anthropic"]
    path: Annotated[str, Field(max_length=200)]
    """The provider's own path, without its query."""
    session: SessionId | Literal[""]
    """The id of the session; empty if the messages must identify it."""
    parent: SessionId | None
    """The session that started the sub-agent; null for any other."""
    status: Annotated[int, Field(ge=100, le=999)]
    request: str
    """The body as the client sent it."""
    answer: str
    """The body of the answer: a document, or a stream of events."""
    whole: bool
    """False if the connection broke off; a stream that has its last event still counts whole."""
    at: Annotated[int, Field(ge=0, le=MOST)]
    """The time of the call in ms since 1970."""
    applied: Annotated[str, Field(max_length=100)]
    """The version of the applied edit script; empty for a call that was sent unchanged."""
    reason: Annotated[str, Field(max_length=2_000)]
    """The reason a call to be pruned was sent unchanged; empty for any other."""
    subscription: bool
    """True if a subscription pays for the call."""


class PlanBody(Body):
    """A plan to make. Every field is optional; the session's settings are the defaults."""

    max_tokens: Tokens | None = None
    """The most tokens in the context afterwards; by default the aim."""
    strategy: Name | None = None
    settings: Json | None = None
    """Settings to try without saving them."""
    spare: MessageIds | None = None
    """Ids of messages to keep."""
    drop: MessageIds | None = None
    """Ids of messages to drop."""
    shorten: MessageIds | None = None
    """Ids of messages whose output is shortened to its beginning, its end and every error line."""
    compare: bool | None = None
    """Count the messages whose fate differs from the one with the saved settings."""
    brief: bool | None = None
    """Leave the lists of messages empty, for a client that needs only the totals."""


class PruneBody(Body):
    """A prune to apply: a plan that was shown, or a new one."""

    plan_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The plan that was shown, which has a size and strategy of its own; without it a new one is made and applied."""
    max_tokens: Tokens | None = None
    strategy: Name | None = None


class EmptyBody(Body):
    """No fields."""


class OverflowBody(Body):
    """An overflow of the context to resolve."""

    reported: bool = True
    """The provider refused the context as too long: half of the turns are dropped in any case, otherwise only as many
    as necessary.
    """


class SummaryBody(Body):
    """A summary to write."""

    wait: bool | None = None
    """Answer after the summary is done; by default only if no model writes it."""


class NewMemory(Body):
    """A text to store, or a message whose text is stored."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    session_id: Name | None = None
    message_id: Name | None = None


class MemoryChange(Body):
    """The new text."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class AnySettings(RootModel[Json]):
    """Fields of `Settings`, alone or within `settings`; `preset` names the preset that they change."""

    @property
    def preset(self) -> str | None:
        """Return the name of the preset to start from, None for the current settings."""
        return str(self.root["preset"]) if "preset" in self.root else None

    @property
    def fields(self) -> Json:
        """Return the settings; those within `settings` if nothing is beside them."""
        fields = {k: v for k, v in self.root.items() if k != "preset"}
        inner = fields.get("settings")
        return inner if isinstance(inner, dict) and len(fields) == 1 else fields


class Suggest(Body):
    """A search for better weights."""

    sessions: SessionIds = []
    """The sessions to learn from; by default the newest."""


class ModelRow(Body):
    """Limits of a model, in tokens, that override those of the table.

    Without a window the table's applies; a model that is not in the table gets four times its output limit.
    """

    window: Annotated[int, Field(gt=0, le=MOST)] | None = None
    input_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None
    output_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None


class ResumeBody(Body):
    """A copy to resume from."""

    prune: bool = False
    """Prune the session first."""
    max_tokens: Tokens | None = None
    """Prune it to at most so many tokens; by default to the session's aim."""


class FileUpload(Body):
    """A file in a JSON body."""

    content: str | list[Any] | Json
    """Its text, or its value."""
    name: Annotated[str, Field(max_length=500)] = "upload.json"
    format: Name = "auto"
    """The name of its format; "auto" recognises it by content."""
    model: Name | None = None
    """The model, for a file that does not name it."""


class SocketPlan(PlanBody):
    """The request `context:plan`."""

    session_id: Name


class SocketPrune(PruneBody):
    """The request `context:prune`."""

    session_id: Name


class SocketUndo(Body):
    """The request `context:undo`."""

    session_id: Name
    n: Annotated[int, Field(ge=0, le=MOST)] | None = None
    """The operation's number; by default the newest."""


class Subscribe(Body):
    """The request `subscribe`: a room, and the last revision that the page has seen."""

    room: Annotated[str, Field(max_length=300)]
    revision: Annotated[int, Field(ge=0, le=MOST)] | None = None


class SessionsQuery(Query):
    """Filter and order of sessions."""

    state: Literal["idle", "active", "warning"] | None = None
    source: Name | None = None
    q: Words | None = None
    sort: Name | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] | None = None
    after: Name | None = None


class MessagesQuery(Query):
    """Filter and order of a session's messages."""

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
    """`confirm` repeats the session's id, so that no session is deleted by mistake."""

    confirm: str | None = None


class TimelineQuery(Query):
    """The most points to return, evenly spaced."""

    points: Annotated[int, Field(ge=2, le=10_000)] = 600


class OperationsQuery(Query):
    """Only operations of one `kind`."""

    kind: Name | None = None


def _with_a_time(value: object) -> object:
    """Refuse what pydantic would take for a moment otherwise: a number of seconds, or a day."""
    if not isinstance(value, str) or "T" not in value:
        raise PydanticCustomError("moment", "expected a moment")
    return value


def _day_alone(value: object) -> object:
    """Refuse what pydantic would take for a day otherwise: a number of seconds, or a midnight without its zone."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise PydanticCustomError("day", "expected a day")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_with_a_time)]
OnlyDay = Annotated[date, BeforeValidator(_day_alone)]
Day = Annotated[Moment | OnlyDay, Field(union_mode="left_to_right")]


class SearchQuery(Query):
    """A search text, and filters of messages. `after` is the `next` of the page before."""

    q: Words = ""
    session: Name | None = None
    role: Literal["system", "user", "assistant", "tool"] | None = None
    tool: Name | None = None
    """The name of a tool that the message calls, or whose result it holds."""
    since: Day | None = None
    """The first day, in UTC, or a moment with its time zone."""
    until: Day | None = None
    """The last day, in UTC, or a moment with its time zone; what came at that moment or later is left out."""
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class ProposalText(Body):
    """The text of a proposal."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class GroupQuery(Query):
    """One of the heaviest groups of a session."""

    kind: Literal["file", "tool", "role", "repeated"]
    name: str = ""
    """The path, the tool or the role; empty for repeated outputs."""


class WordsQuery(Query):
    """A search text; without one everything is listed."""

    q: Words = ""


# A step in pydantic's path that is an attempted type, not a field.
_TYPE = re.compile(r"str|int|float|bool|none|date|constrained-\w+|[\w-]+\[.*\]")
_MOMENT, _DAY = "a moment like 2026-11-26T09:30:00Z", "a day like 2026-11-26"
# The expected value for each of pydantic's errors, which fills in `{…}`.
_EXPECTED = {
    "moment": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "timezone_aware": _MOMENT,
    "day": _DAY,
    "date_from_datetime_parsing": _DAY,
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
    "string_pattern_mismatch": ID_WORDS,
    "string_too_short": "at least {min_length} character",  # no field has another minimum than 1
}
_OTHERS = {"missing": "missing", "extra_forbidden": "unknown; expected no such field"}


def refusal(error: ValidationError) -> Json:
    """Return the body of a failure with a detail for each wrong field: its dotted path, what was expected and found.

    For a field of several types, pydantic reports an error for each, with the type in its path; here they are one.
    """
    by_field: dict[str, list[ErrorDetails]] = {}
    for fault in error.errors(include_url=False):
        steps = [s for n, s in enumerate(map(str, fault["loc"])) if n == 0 or not _TYPE.fullmatch(s)]
        by_field.setdefault(".".join(steps) or "body", []).append(fault)
    details = [{"field": field, "message": _together(faults)} for field, faults in by_field.items()]
    message = "; ".join(f"{one['field']}: {one['message']}" for one in details[:3])
    return {"error": {"type": "invalid", "message": message, "details": details}}


def _together(faults: list[ErrorDetails]) -> str:
    """Return the faults of one field in words: "expected a string or a list, got a number"."""
    expected = list(dict.fromkeys(map(_expected, faults)))
    if all(expected):
        return f"expected {' or '.join(expected)}, got {shown(faults[0]['input'])}"
    return "; ".join(dict.fromkeys(map(_words, faults)))


def _expected(fault: ErrorDetails) -> str:
    return _EXPECTED.get(fault["type"], "").format(**fault.get("ctx", {})).replace("'", '"')  # as in JSON


def _words(fault: ErrorDetails) -> str:
    """Return the message of an error of pydantic."""
    expected, message = _expected(fault), _OTHERS.get(fault["type"], fault["msg"])
    if expected:
        return f"expected {expected}, got {shown(fault['input'])}"
    return message[:1].lower() + message[1:]
