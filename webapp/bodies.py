"""What may be sent to us, over HTTP and Socket.IO alike. Parsing is strict: no field is guessed, none ignored.

Only the shape is checked here; what the values mean (is this a known strategy, is this plan stale) is the services'
business. Message lists stay as they are: their formats are many and `scoring.formats` knows them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, ValidationError

# What SQLite and every browser can count with.
MOST = 2**53 - 1

# Of a wrong value so many characters are shown.
SHOWN = 40

Tokens = Annotated[int, Field(ge=0, le=MOST)]
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
# The same in words; it is the only pattern that there is.
ID_WORDS = "expected up to 200 letters, digits and . _ : @ + -, beginning with a letter or digit"
SessionIds = Annotated[list[str], Field(max_length=1_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
# What to look for. SQLite's search ends at a NUL, so that it counts as a blank.
Words = Annotated[str, Field(max_length=500), AfterValidator(lambda words: words.replace("\0", " "))]
MessageIds = Annotated[list[str], Field(max_length=1_000_000)]
Json = dict[str, Any]


class Body(BaseModel):
    """Base of all bodies: strict types, no unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid")

    def given(self) -> Json:
        """The fields that were sent, and only those."""
        return self.model_dump(exclude_unset=True)


class Query(BaseModel):
    """Base of all query strings: values arrive as text, unknown names are refused."""

    model_config = ConfigDict(extra="forbid")

    def given(self) -> Json:
        """The parameters that were sent, and only those."""
        return self.model_dump(exclude_unset=True)


class NewSession(Body):
    """A session that a program feeds. `system` and `tools` are what it sends with every call."""

    id: SessionId | None = None
    title: Annotated[str, Field(max_length=500)] | None = None
    model: Name | None = None
    system: str | list[Json] | None = None
    tools: list[Json] | None = None
    settings: Json | None = None


class SessionChange(Body):
    """What may be changed of a session; `settings` holds its overrides, null values give a field back."""

    title: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    model: Name | None = None
    automatic: bool | None = None
    settings: Json | None = None


class Append(Body):
    """Messages in any wire format, with the usage the provider reported for the call that made the last one."""

    messages: list[Any]
    usage: Json | None = None
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class PlanWish(Body):
    """What to plan. `spare`, `drop` and `shorten` are message ids: what stays, what goes, and what keeps only the
    beginning, the end and every error line of its output. `settings` are tried without being saved; `compare` counts
    the messages whose fate differs from the saved settings' plan.
    """

    max_tokens: Tokens | None = None
    strategy: Name | None = None
    settings: Json | None = None
    spare: MessageIds | None = None
    drop: MessageIds | None = None
    shorten: MessageIds | None = None
    compare: bool | None = None


class PruneWish(Body):
    """What to apply: the plan that was shown, or a fresh one."""

    plan_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    max_tokens: Tokens | None = None
    strategy: Name | None = None


class Nothing(Body):
    """No fields: what to act on stands in the address."""


class OverflowWish(Body):
    """`reported`: a provider has said that the context is too long, so half of the turns goes in any case; otherwise
    no more than it takes.
    """

    reported: bool = True


class SummaryWish(Body):
    """Whether to wait for the summary; by default only where no model is asked."""

    wait: bool | None = None


class MemoryNew(Body):
    """A text to keep; or a message whose words are kept, and where it was said."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    session_id: Name | None = None
    message_id: Name | None = None


class MemoryChange(Body):
    """The new text."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class AnySettings(RootModel[Json]):
    """Settings, in whole or in part; validated as a whole by the settings service."""

    def given(self) -> Json:
        """What was sent."""
        return self.root


class Suggest(Body):
    """The sessions to learn from; the newest by default."""

    sessions: SessionIds = []


class ModelRow(Body):
    """The limits of one model, in tokens; they override the table's."""

    window: Annotated[int, Field(gt=0, le=MOST)]
    input_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None
    output_limit: Annotated[int, Field(gt=0, le=MOST)] | None = None


class FileSent(Body):
    """A file in a JSON body. `content` is its text, or the list or object that it holds."""

    content: str | list[Any] | Json
    name: Annotated[str, Field(max_length=500)] = "upload.json"
    format: Name = "auto"
    model: Name | None = None


class SocketPlan(PlanWish):
    """`context:plan` from the browser."""

    session_id: Name


class SocketPrune(PruneWish):
    """`context:prune` from the browser."""

    session_id: Name


class SocketUndo(Body):
    """`context:undo` from the browser. `n` is the operation's number; without it the newest, which may be refused."""

    session_id: Name
    n: Annotated[int, Field(ge=0, le=MOST)] | None = None


class Subscribe(Body):
    """`subscribe` from the browser: a room, and the last revision of it that the page has seen."""

    room: Annotated[str, Field(max_length=300)]
    revision: Annotated[int, Field(ge=0, le=MOST)] | None = None


class SessionsQuery(Query):
    """Which sessions, in which order."""

    state: Literal["idle", "active", "warning"] | None = None
    source: Name | None = None
    q: Words | None = None
    sort: Name | None = None


class MessagesQuery(Query):
    """Which messages of a session. `after` is the cursor that the page before gave as `next`; `at_once` does not wait
    for scores and fates.
    """

    after: Annotated[str, Field(max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    role: Literal["system", "user", "assistant", "tool"] | None = None
    fate: Name | None = None
    q: Words | None = None
    sort: Literal["newest", "oldest", "score", "tokens"] | None = None
    plan_id: Annotated[str, Field(max_length=200)] | None = None
    at_once: bool = False


class FormatQuery(Query):
    """A wire format or file format by name."""

    format: Name | None = None


class DeleteQuery(Query):
    """`confirm` repeats the session's id, so that nothing is deleted by a slip."""

    confirm: str | None = None


class TimelineQuery(Query):
    """At most `points` points, evenly taken."""

    points: Annotated[int, Field(ge=2, le=10_000)] = 600


class OperationsQuery(Query):
    """Operations of one kind only."""

    kind: Name | None = None


class SearchQuery(Query):
    """What to look for, and in which session only."""

    q: Words = ""
    session: Name | None = None


class ProposalText(Body):
    """The text of a proposal."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]


class MemoryQuery(Query):
    """Words to look for; any of them will do."""

    q: Words = ""


class ArchiveQuery(Query):
    """What to look for among what is out of the context."""

    q: Words = ""


# What a wrong value should have been, by the library's name for the fault; `{…}` is filled from what it says.
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
    """The one shape of an error, with one detail a wrong field: its dotted path, what was expected, and what came."""
    details = [
        {"field": ".".join(str(step) for step in fault["loc"]) or "body", "message": _words(fault)}
        for fault in error.errors(include_url=False)
    ]
    message = "; ".join(f"{one['field']}: {one['message']}" for one in details[:3])
    return {"error": {"type": "invalid", "message": message, "details": details}}


def _words(fault: Any) -> str:
    """A fault in our words."""
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
    """A value as it came, cut short."""
    if (kind := _KINDS.get(type(value))) is not None:
        return kind
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


_KINDS = {list: "a list", dict: "an object", type(None): "null"}


def lower_first(text: str) -> str:
    """The text with a small first letter, as our messages are written."""
    return text[:1].lower() + text[1:]
