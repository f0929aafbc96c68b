"""The features of one message: computed once, when it arrives, and stored with it.

They depend on no other message and on no clock, so they change only with the lexicon or the tokenizer. `lexicon` is the
digest of the lexicon used for the keyword rating; if it differs from the one in the settings, the caller rates the
message again (`rated`).

The analysed text consists of text parts, tool results and the values of arguments. The keys of a wire format and of
JSON arguments never count as words, and reasoning counts neither as words nor as length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scoring.history import tool_traces as tracing
from scoring.history.content import Content, content_of
from scoring.history.cues import COMPACTION, NO_CUES, Cues, cues_of, cues_of_text, cues_without_content
from scoring.history.tool_traces import Traces
from scoring.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, parsed_json, ties_of
from scoring.settings import Lexicon


class Features(NamedTuple):
    """Static facts of one message; a tuple, because that is created in a third of the time of a frozen dataclass."""

    role: str
    tokens: int
    """Its cost in the context."""
    chars: int = 0
    """The length of its text in characters."""
    keywords: float = 0.0
    """Its rating, 0...1, by the lexicon with the digest `lexicon`."""
    lexicon: str = ""
    calls: tuple[str, ...] = ()
    """The ids of its calls."""
    results: tuple[str, ...] = ()
    """The ids of the calls that its results answer."""
    own_words: bool = False
    """A user wrote something; False for tool results that are only handed back."""
    reasoning_only: bool = False
    """It is an item with nothing but reasoning."""
    content: Content | None = None
    """The content that *Foresight* reads; None if it was not analysed, or by an earlier version."""
    tool: str = ""
    """The tools of its calls and results, one per line in that order, "" if none is known; `names` parses it."""
    traces: str | None = None
    """The data that the stages before dropping read, stored the same way; None if it was not analysed."""
    cues: Cues = NO_CUES
    """Its cues, computed together with the content, except that a program wrote it or that it holds a compaction."""
    names_file: bool = False
    """It has no tools, names a file, and its content was not analysed yet."""
    ties: tuple[str, ...] = ()
    """Other names that tie it to its unit (`scoring.messages.units.ties_in`)."""

    @property
    def traced(self) -> Traces:
        """Return the files that each call reads or writes, and the digest of each output; empty if not analysed."""
        return tracing.read(self.traces or "", len(self.calls), len(self.results))

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Return the tool of each call, and of each result if the result names it; "" if unknown."""
        listed = self.tool.split("\n") if self.tool else []
        count = len(self.calls)
        if len(listed) != count + len(self.results):
            return [""] * count, [""] * len(self.results)
        return listed[:count], listed[count:]

    def to_dict(self) -> dict[str, Any]:
        """Return the features as JSON-ready data, without those that have their default value."""
        out: dict[str, Any] = {"role": self.role, "tokens": self.tokens}
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            if name == "content":
                if value is not None:
                    out[name] = value.to_dict()
            elif value != default:
                if name == "cues":
                    out[name] = value.to_list()
                else:
                    out[name] = list(value) if isinstance(value, tuple) else value
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Features:
        """Return the features that `to_dict` wrote; unknown fields are ignored. The dictionary is used up."""
        if not data.keys() <= _FIELDS:
            data = {k: v for k, v in data.items() if k in _FIELDS}
        for name in ("calls", "results", "ties"):
            if name in data:
                data[name] = tuple(data[name])
        if "content" in data:
            data["content"] = Content.from_dict(data["content"])
        if "cues" in data:
            data["cues"] = Cues.from_list(data["cues"])
        return cls(**data)


_FIELDS = frozenset(Features._fields)


def analyse(
    message: Message,
    tokens: int,
    lexicon: Lexicon,
    *,
    content: bool = False,
    traces: bool | None = None,
    words: bool = True,
) -> Features:
    """Return the features of a message that costs `tokens`.

    The content is analysed only with `content`, its words only with `words`, and the traces with `traces`, which is by
    default the value of `content`.
    """
    wanted = content if traces is None else traces  # a message without tools has none
    pieces: list[str] = []
    calls: list[str] = []
    results: list[str] = []
    names: list[str] = []
    answered: list[str] = []
    given: list[Any] = []
    said = thought = False
    for part in message.parts:  # one pass, by exact type: this runs for every message that arrives
        kind = type(part)
        if kind is Text:
            pieces.append(part.text)  # type: ignore[union-attr]
            said = True
        elif kind is ToolResult:
            pieces.append(part.text)  # type: ignore[union-attr]
            results.append(part.call_id)  # type: ignore[union-attr]
            answered.append(part.name)  # type: ignore[union-attr]
        elif kind is ToolCall:
            given.append(parsed := parsed_json(part.arguments))  # type: ignore[union-attr]
            pieces += [part.arguments] if parsed is None else _leaves(parsed)  # type: ignore[union-attr]
            calls.append(part.id)  # type: ignore[union-attr]
            names.append(part.name)  # type: ignore[union-attr]
        elif kind is Reasoning:
            thought = True
        elif kind is Media:
            said = True
    text = _joined(pieces)
    role, outputs = message.role, outputs_of(message) if results and (content or wanted) else []
    traced: str | None = ""
    if calls or results:
        traced = _traces(message, given, bool(outputs)) if wanted else None
    return Features(
        role,
        tokens,
        len(text),
        lexicon.rate(text),
        lexicon.digest,
        tuple(calls),
        tuple(results),
        role == "user" and (said or not results),
        thought and role == "assistant" and not said and not calls,
        content_of(text, outputs, words=words) if content else None,
        _named(names + answered) if calls or results else "",
        traced,
        cues_of(message, given) if content else cues_without_content(message, text),
        ties=ties_of(message),
    )  # mostly positional: keyword arguments would make this call half as slow again


def analyse_text(role: str, text: str, tokens: int, lexicon: Lexicon) -> Features:
    """Return what `analyse` returns, without content, for a message that is a single text."""
    rating = lexicon.rate(text)
    said, cues = role == "user", cues_of_text(role, text)
    return Features(role, tokens, len(text), rating, lexicon.digest, own_words=said, traces="", cues=cues)


def _named(names: list[str]) -> str:
    """Return the names of tools as they are stored: one per line, "" if none is known."""
    return "\n".join([name.replace("\n", " ") for name in names]) if any(names) else ""


def outputs_of(message: Message) -> list[str]:
    """Return the tool outputs of a message that can be shortened: those of a message with no other content."""
    if message.role != "tool":
        return []
    outputs: dict[str, str] = {}
    for part in message.parts:
        if not isinstance(part, ToolResult) or part.media:
            return []
        outputs[part.call_id] = part.text
    return list(outputs.values()) if len(outputs) == len(message.parts) else []


def with_content(features: Features, message: Message) -> Features:
    """Return the same features with the content of the message, its traces and its cues."""
    given, outputs = [parsed_json(call.arguments) for call in message.calls], outputs_of(message)
    content = content_of(text_of(message), outputs).packed()
    traces = _traces(message, given, bool(outputs))
    cues = cues_of(message, given)
    # A stored message has no wire object, which alone shows a compaction.
    if COMPACTION in features.cues.speech and COMPACTION not in cues.speech:
        cues = cues._replace(speech=cues.speech + COMPACTION)
    return features._replace(content=content, traces=traces, cues=cues, names_file=False)


def with_words(features: Features, message: Message) -> Features:
    """Return the same features with the words of the message, which were not analysed before."""
    if features.content is None:
        return features
    return features._replace(content=features.content.with_words(text_of(message)))


def _traces(message: Message, given: Sequence[Any], alone: bool) -> str:
    """Return the traces as stored; `given` are the arguments of the calls; `alone`: it has only outputs."""
    calls = [tracing.of_call(c.name, c.arguments, one) for c, one in zip(message.calls, given, strict=True)]
    return tracing.written(calls + [tracing.of_result(r, alone) for r in message.results])


def rated(features: Features, message: Message, lexicon: Lexicon) -> Features:
    """Return the features with the keyword rating of this lexicon; the same object if they have it already."""
    if features.lexicon == lexicon.digest:
        return features
    return features._replace(keywords=lexicon.rate(text_of(message)), lexicon=lexicon.digest)


def text_of(message: Message) -> str:
    """Return the text of a message that signals read, without the keys of its format."""
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, Text | ToolResult):
            pieces.append(part.text)
        elif isinstance(part, ToolCall):
            pieces.extend(argument_values(part.arguments))
    return _joined(pieces)


def _joined(pieces: list[str]) -> str:
    return pieces[0] if len(pieces) == 1 else "\n".join(pieces)


def argument_values(arguments: str) -> list[str]:
    """Return the values in a call's arguments, in order; the text itself if it is not a JSON object or list."""
    parsed = parsed_json(arguments)
    return [arguments] if parsed is None else _leaves(parsed)


def _leaves(value: Any) -> list[str]:
    """Return the strings and numbers of parsed JSON, in order, without recursion."""
    out: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)  # parsed JSON has no subclasses
        if kind is str:
            out.append(one)
        elif kind is dict:
            waiting.extend(reversed(one.values()))
        elif kind is list:
            waiting.extend(reversed(one))
        elif one is not None:
            out.append(str(one))
    return out
