"""CallReports: the real usage of a batch's calls, and what it says about the session.

A report corrects the calibration of our estimates, shows that the agent cleared outputs, or cannot be true and is set
aside. A further report of the same call counts instead of the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from scoring.messages import Media, Message, Reasoning
from scoring.models import largest_call
from scoring.tokens import LOST_FALL, STEADY_SHARE, InputReport, calibration, judge_report, part_tokens
from webapp.agents import AGENTS
from webapp.agents.records import Usage, UsageReport
from webapp.services.session.prompt_cache import prompt_cache
from webapp.services.session.proxy_state import sends_older_edits
from webapp.services.session.session import Session
from webapp.services.session.times import latest, to_ms
from webapp.store.usage import INFERENCE, CallRow


class LostInput(NamedTuple):
    """Real input that left the agent's context before a call, as its usage shows.

    `no` is the message of its answer. `tokens` left, `real` stayed. `fell`: less was sent than
    with the previous call; otherwise less than expected. `factor` is the session's factor then.
    """

    no: int
    tokens: int
    real: int
    fell: bool
    at: int | None
    factor: float


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """A call with its usage: its context was `before` estimated tokens, its answer `own`, in message `no`.

    An `inherited` call was made, and paid, by the parent session.
    """

    key: str
    usage: Usage
    at: int | None
    model: str | None
    before: int
    own: int
    no: int
    inherited: bool = False


class CallReports:
    """The reported calls of one batch, whose session is changed in memory as they are added."""

    def __init__(self, session: Session) -> None:
        self._session, self._row, self._state = session, session.row, session.state
        # A clock that is ahead must not make the cache of a session warm for years.
        self._now = session.environment.clock()
        self.calls: dict[str, CallRow] = {}
        self._inherited = set[str]()
        # Call -> the input that its last report shows as lost; None takes back what an earlier report showed.
        self.lost: dict[str, LostInput | None] = {}

    def add(self, call: ReportedCall) -> None:
        """Add the real usage of a call."""
        usage, state = call.usage, self._state
        if (most := max(usage.input_tokens, usage.output_tokens)) > largest_call(self._session.model_row):
            state.set_report_aside(call.key, most)
            return
        state.expect(state.unwritten.asked)
        estimated, _ = calibration.total(self._session.calibration_with_others, call.before)
        row = self._call_row(call.key, call.at, call.model, usage, estimated)
        self.calls[call.key] = self.calls.get(call.key, row).merged(row)
        state.awaiting = False
        has_new_beginning = self._has_new_beginning(call)
        self._bill(call)
        self._row.window = usage.window or self._row.window
        sent = usage.sent_tokens
        if sent > 0 and not self._row.followed and state.detect_sum(sent, self._row.next_sample):
            state.set_report_aside(call.key, sent)
            return
        if self._sends_older_edits:
            return  # the usage of a context that is neither the agent's nor the pruned view
        before_call, real = calibration.before_call(state.calibration, call.key, sent)
        if before_call is None:
            self._observe(call)
            return
        if real <= 0:
            return
        report = InputReport(
            real,
            call.before,
            self._surely_sent(call.before),
            steady=not self._row.followed,
            whole=usage.whole,
            model=call.model or self._row.model or "",
            least_share=self._session.least_share if state.answered <= call.own else STEADY_SHARE,
        )
        judgement, behind = judge_report(before_call, report)
        if judgement == "foreign":
            state.set_report_aside(call.key, sent)
            return
        state.accept_report(call.key)
        if sent > state.largest:
            state.largest, state.largest_at = sent, call.at or self._now
        self._observe(call, learns=judgement == "fits")
        if judgement != "fits" and has_new_beginning:
            state.calibration = calibration.after_less_unseen(state.calibration, behind)
            judgement = "fits"
        if self._row.source in AGENTS:
            lost = LostInput(call.no, behind, real, judgement == "fell", call.at, before_call.factor)
            self._note_lost(call.key, lost if judgement != "fits" else None)

    def own_calls(self) -> list[CallRow]:
        """Return the calls that the session made itself; of the others only the context counts."""
        return [row for key, row in self.calls.items() if key not in self._inherited]

    @cached_property
    def _sends_older_edits(self) -> bool:
        sends_edited = self._session.agent is None
        return sends_edited and sends_older_edits(self._row.source, self._row.id, self._state.proxy)

    def _has_new_beginning(self, call: ReportedCall) -> bool:
        """Return whether a call wrote the system prompt and the tools to the cache again, although it was warm.

        They have changed, as where an agent goes on with other tools; nothing need have left the conversation.
        """
        state, usage = self._state, call.usage
        if not usage.cache_write_tokens or usage.cached_tokens >= state.calibration.unseen - LOST_FALL:
            return False
        if call.key == state.calibration.call:  # as its first report was judged
            return call.key != state.cleared_call and self.lost.get(call.key) is None
        cache = prompt_cache(state, self._session.model_row, call.at or self._now)
        return cache is not None and not cache.cold

    def add_apart(self, report: UsageReport) -> None:
        """Add the price of a call that is no part of the conversation; a repeated report changes nothing."""
        name = f"{INFERENCE} of {report.call_key}"
        self.calls[name] = self._call_row(name, to_ms(report.at), report.model, report.usage)

    def add_output(self, call_key: str | None, usage: Usage) -> None:
        """Take a larger output of a call of the batch from a later row of it."""
        call = self.calls.get(call_key or "")
        if call is not None and usage.output_tokens > call.output_tokens:
            self.calls[call.call_key] = call._replace(output_tokens=usage.output_tokens)

    def _call_row(
        self, key: str, at: int | None, model: str | None, usage: Usage, estimated: int | None = None
    ) -> CallRow:
        return CallRow(
            call_key=key, seq=self._row.next_seq, at=at, model=model, input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens, cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens, reasoning_tokens=usage.reasoning_tokens,
            estimated=estimated, cache_write_hour_tokens=usage.cache_write_hour_tokens,
            service_tier=usage.tier,
        )  # fmt: skip

    def _note_lost(self, call_key: str, lost: LostInput | None) -> None:
        """Note what a call's report shows as lost, which counts instead of what an earlier report of it showed."""
        if lost is not None or call_key in self.lost or call_key == self._state.cleared_call:
            self.lost[call_key] = lost

    def _bill(self, call: ReportedCall) -> None:
        """Note what the cost depends on: the size of a partly reported answer, and what the cache holds how long."""
        usage, state = call.usage, self._state
        before, _ = calibration.before_call(state.calibration, call.key, usage.sent_tokens)
        known, output = before or state.calibration, usage.answer_tokens
        output = calibration.largest_output(state.calibration, call.key, output)
        unreported = 0 if calibration.is_believed(known, output, call.own) else known.factor * call.own
        self.calls[call.key] = self.calls[call.key]._replace(answer_tokens=round(unreported))
        if call.inherited:
            self._inherited.add(call.key)
        for number, one in enumerate(() if call.inherited else usage.extra_inferences, 1):
            name = f"{INFERENCE} {number} of {call.key}"
            self.calls[name] = CallRow(
                call_key=name, seq=self._row.next_seq, at=call.at, model=one.model or None,
                input_tokens=one.input_tokens, output_tokens=one.output_tokens,
                cached_tokens=one.cached_tokens, cache_write_tokens=one.cache_write_tokens,
                reasoning_tokens=0, estimated=None, cache_write_hour_tokens=one.cache_write_hour_tokens,
                service_tier=usage.tier,
            )  # fmt: skip
        state.called_at = latest(state.called_at, call.at or 0, self._now)
        if self._session.sends_pruned_view:
            state.changes = {}
        if usage.cache_write_tokens:
            state.cached_for_hour = usage.cache_write_hour_tokens > 0

    def _observe(self, call: ReportedCall, *, learns: bool = True) -> None:
        state, known, usage = self._state, self._state.calibration, call.usage
        state.calibration = now = calibration.observe(
            known, usage.sent_tokens, usage.answer_tokens, call.before, call.own, call=call.key,
            model=call.model or self._row.model or "", learns=learns,
        )  # fmt: skip
        if now.calls == 1 and (not known.known or now.unseen != known.unseen):
            state.add_unseen(now.unseen - known.unseen, self._row.next_sample)

    def _surely_sent(self, before: int) -> int:
        """Return the part of an estimated context that is sent for certain.

        Agents take tool outputs out by themselves, providers the thoughts of earlier turns; an image may take less than
        its estimate.
        """
        unsure = self._session.main.region("tool") if self._row.followed else self._state.unsure
        return max(0, before - unsure)


def unsure_tokens(session: Session, message: Message) -> int:
    """Return the estimated tokens of reasoning and media in a message, which may not be sent."""
    unsure = [
        *(part for part in message.parts if isinstance(part, Reasoning | Media)),
        *(medium for result in message.results for medium in result.media),
    ]
    return sum(part_tokens(part, session.counter) for part in unsure)
