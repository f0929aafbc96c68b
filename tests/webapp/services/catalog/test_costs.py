"""The cost of a session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import REMINDER, Message, Text
from tests.webapp.building import conversation, entry, followed, managed, said, user, wire
from webapp.agents.records import Compaction, Entry, Inference, Meta, Usage, UsageReport
from webapp.app import App
from webapp.bodies import PlanBody
from webapp.services.session.times import to_ms
from webapp.store.copies import CopyRow

ONE = Usage(100_000, 10)


class TestTheCost:
    """The cost in the statistics of a session."""

    def test_covers_the_next_call_and_all_earlier_ones(self, app: App) -> None:  # X9
        """The next call is priced with and without the cache, at the model's list prices."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records(
            "s", [entry(9, said("hello"), usage=Usage(100_000, 1_000, 80_000, 20_000), call_key="k")]
        )
        cost = app.sessions.stats("s").cost
        assert cost.per_call == pytest.approx(101_000 * 5 / 1e6)
        assert cost.per_call_cached == pytest.approx(101_000 * 0.5 / 1e6)
        assert (cost.calls, cost.currency, cost.at_least) == (1, "USD", False)
        assert cost.spent == pytest.approx((80_000 * 0.5 + 20_000 * 6.25 + 1_000 * 25) / 1e6)

    def test_is_unknown_without_prices(self, app: App) -> None:  # X9
        """A model without prices has no cost."""
        followed(app, user("hi"), model="nobody-knows-1")
        assert app.sessions.stats("s").cost is None

    @pytest.mark.parametrize(
        ("model", "per_call"), [("nobody-knows-1", None), ("ollama/qwen3:8b", 0.0), ("claude-haiku-4-5", 0.1)]
    )
    def test_stays_known_after_a_change_of_models(
        self, app: App, model: str, per_call: float | None
    ) -> None:  # X9
        """The calls of another model were paid, whatever the next one costs."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records(
            "s", [entry(9, said("x"), usage=ONE, call_key="k", model="claude-opus-4-5")]
        )
        app.ingest.append_records("s", [Meta(model=model)])
        cost = app.sessions.stats("s").cost
        assert cost is not None
        assert cost.spent == pytest.approx((100_000 * 5 + 10 * 25) / 1e6)
        assert cost.per_call == (per_call and pytest.approx(per_call, rel=0.01))

    def test_prices_each_call_by_its_own_model(self, app: App) -> None:  # X9
        """The last model does not matter, and sub-agents are counted apart."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.ensure("s.agent-1", "claude-code", parent_id="s")
        models = ("claude-opus-4-5", "claude-haiku-4-5")
        calls = [
            entry(n, said("x"), usage=Usage(100_000, 0), call_key=f"k{n}", model=model)
            for n, model in enumerate(models)
        ]
        app.ingest.append_records("s", [Meta(model=models[0]), calls[0], Meta(model=models[1]), calls[1]])
        app.ingest.append_records("s.agent-1", [Meta(model=models[1]), replace(calls[1], source_id="a")])
        cost = app.sessions.stats("s").cost
        assert cost.spent == pytest.approx(0.6)
        assert cost.sub_agents is not None
        assert (cost.sub_agents.sessions, cost.sub_agents.calls) == (1, 1)
        assert cost.sub_agents.spent == pytest.approx(0.1)

    def test_of_sub_agents_excludes_a_fork(self, app: App) -> None:  # X9
        """A fork repeats calls of its parent, which are paid once."""
        app.ingest.ensure("s", "pi", model="claude-opus-4-5")
        app.ingest.ensure("f", "pi", parent_id="s", agent_type="fork", model="claude-opus-4-5")
        call = entry(0, said("x"), usage=ONE, call_key="k", model="claude-opus-4-5")
        for name in ("s", "f"):
            app.ingest.append_records(name, [call])
        assert app.sessions.stats("s").cost.sub_agents is None

    @pytest.mark.parametrize(
        ("tier", "dollars", "at_least"),
        [
            ("standard", 0.5, False),
            ("batch", 0.25, False),
            ("flex", 0.25, False),
            ("priority", 0.5, True),
            ("us", 0.55, False),
            ("batch us", 0.275, False),
            ("fast us", 0.55, True),
        ],
    )
    def test_follows_the_service_tier(
        self, app: App, tier: str, dollars: float, at_least: bool
    ) -> None:  # X9
        """A batch costs half and the region US a tenth more, a batch there both; faster tiers are a lower bound."""
        session_id = managed(app, wire("user", "value " * 99_990), model="claude-opus-4-5")
        report = {"input_tokens": 100_000, "cache_read_input_tokens": 0, "service_tier": tier}
        app.ingest.append_messages(session_id, [wire("assistant", "ok")], usage=report)
        cost = app.sessions.stats(session_id).cost
        assert (cost.spent, cost.spent_at_least) == (pytest.approx(dollars), at_least)

    def test_counts_the_text_of_a_partly_reported_answer(self, app: App) -> None:  # X9
        """Rows of one call repeat its first, partial usage, so the text gives a lower bound."""
        followed(app, user("hi"), model="claude-opus-4-5")
        for n in range(3):
            row = entry(9 + n, said("value " * 4_000), usage=Usage(100_000, 5), call_key="k", group="k")
            app.ingest.append_records("s", [row])
        cost = app.sessions.stats("s").cost
        assert cost.spent_at_least
        assert cost.spent > (100_000 * 5 + 12_000 * 25) / 1e6

    def test_names_the_calls_without_usage(self, app: App) -> None:  # X9
        """They are in neither number nor sum, so that the sum is a lower bound; a lone answer's parts are one call."""
        reported = [Usage(100_000, 0), None, None, Usage(100_000, 0)]
        for name, start in (("s", 10), ("below", 20)):
            app.ingest.ensure(
                name, "claude-code", model="claude-opus-4-5", parent_id="s" if name == "below" else None
            )
            rows = []
            for n, one in enumerate(reported):
                key = f"k{n}" if one else None
                rows += [
                    entry(start * 10 + 3 * n, user("go on")),
                    entry(start * 10 + 3 * n + 1, said("it is"), usage=one, call_key=key, group=key),
                    entry(start * 10 + 3 * n + 2, said("done"), usage=one, call_key=key, group=key),
                ]
            app.ingest.append_records(name, rows)
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (2, 2, True)
        below = cost.sub_agents
        assert (below.calls, below.unreported, below.spent_at_least) == (2, 2, True)

    def test_names_the_calls_of_sub_agents_that_reported_nothing(self, app: App) -> None:  # X9
        """Without any report there is no price, but the calls were made."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records("s", [entry(9, said("hello"), usage=ONE, call_key="k")])
        for name in ("below", "idle"):
            app.ingest.ensure(name, "claude-code", model="claude-opus-4-5", parent_id="s")
        turns = [entry(20 + n, said("done") if n % 2 else user("go")) for n in range(4)]
        app.ingest.append_records("below", turns)  # the last answer can still be reported
        below = app.sessions.stats("s").cost.sub_agents
        assert (below.sessions, below.calls, below.unreported) == (1, 0, 1)
        assert (below.spent, below.spent_at_least) == (None, True)

    def test_is_a_lower_bound_with_sub_agents_if_no_price_is_known(self, app: App) -> None:  # X9
        """The sum of both has only the price of the sub-agents."""
        followed(app, user("hi"), model="nobody-knows-1")
        app.ingest.append_records("s", [entry(9, said("hello"), usage=ONE, call_key="k")])
        app.ingest.ensure("below", "claude-code", model="claude-opus-4-5", parent_id="s")
        app.ingest.append_records("below", [entry(21, said("done"), usage=ONE, call_key="l")])
        cost = app.sessions.stats("s").cost
        assert (cost.spent, cost.spent_at_least, cost.sub_agents.spent_at_least) == (None, True, False)

    def test_names_no_call_for_an_answer_that_no_model_gave(self, app: App) -> None:  # X9
        """An agent writes some words in the model's role itself."""
        followed(app, user("hi"), model="claude-opus-4-5")
        own = Message("assistant", (Text("No response requested."),), REMINDER)
        answer = entry(11, said("hello"), usage=ONE, call_key="k")
        app.ingest.append_records("s", [entry(9, own), entry(10, user("go on")), answer])
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (1, 0, False)

    def test_names_no_call_of_the_session_that_a_copy_was_made_of(self, app: App) -> None:  # X9
        """The answers that a pruned copy begins with are there without usage; they were paid by its origin."""
        followed(app, user("hi"), model="claude-opus-4-5")
        begun = [entry(9, said("hello")), entry(10, user("again")), entry(11, said("hello again"))]
        copied_at = (to_ms(begun[-1].at) or 0) + 1
        app.store.copies.put(CopyRow("s", "origin", "Copy", copied_at, 200, 100))
        app.ingest.append_records("s", [*begun, entry(12, user("go on"))])
        app.ingest.append_records("s", [entry(13, said("done"), usage=ONE, call_key="k")])
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (1, 0, False)

    def test_names_no_call_of_a_parent(self, app: App) -> None:  # X9
        """The answers that a fork begins with are there without usage; they were paid in its parent."""
        followed(app, user("hi"), model="claude-opus-4-5")
        parts = [replace(entry(n, said("hello")), inherited=True, group="call") for n in (9, 10)]
        answer = entry(12, said("done"), usage=ONE, call_key="k")
        app.ingest.append_records("s", [*parts, entry(11, user("go on")), answer])
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (1, 0, False)

    @pytest.mark.parametrize("size", [1, 9])
    def test_leaves_the_calls_that_a_fork_repeats_to_its_parent(self, app: App, size: int) -> None:  # X9
        """Their usage says how large the context is; a compaction among them was paid there, too."""
        advised = replace(ONE, extra_inferences=(Inference("claude-opus-4-5", 500, 5),))
        copied: list[Entry | Compaction] = [
            entry(1, user("hi")),
            *(entry(n, said("hello"), usage=advised, call_key="k", group="k") for n in (2, 3)),
            Compaction(None, "auto", None, "c"),
            entry(4, user("a summary"), kind="compaction_summary"),
            entry(5, said("done"), usage=Usage(20_000, 10), call_key="l"),
        ]
        inherited: list[Entry | Compaction] = [
            replace(one, inherited=True) if isinstance(one, Entry) else one for one in copied
        ]
        app.ingest.ensure("s", "claude-code", model="claude-opus-4-5")
        for start in range(0, len(inherited), size):
            app.ingest.append_records("s", inherited[start : start + size])
        cost, agent = app.sessions.stats("s").cost, app.sessions.get("s").agent
        assert (cost.calls, cost.unreported, cost.spent, cost.spent_at_least) == (0, 0, 0, False)
        assert agent is not None
        assert (agent.tokens, agent.certainty) == (20_010, "exact")
        own = [entry(6, user("go on")), entry(7, said("all"), usage=ONE, call_key="m")]
        app.ingest.append_records("s", own)
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (1, 0, False)
        assert cost.spent == pytest.approx((100_000 * 5 + 10 * 25) / 1e6)
        app.ingest.append_records("s", [Compaction(None, "auto", None, "d")])
        assert app.sessions.stats("s").cost.spent_at_least

    def test_names_no_call_of_a_replaced_context(self, app: App) -> None:  # X9
        """Answers that a compaction writes again are not made again."""
        followed(app, user("hi"), model="claude-opus-4-5")
        answer = entry(9, said("hello"), usage=Usage(100_000, 10), call_key="k")
        copies = (entry(11, user("hi again")), entry(12, said("hello again")))
        app.ingest.append_records("s", [answer, Compaction(None, "auto", None, "c", copies)])
        cost = app.sessions.stats("s").cost
        assert (cost.calls, cost.unreported) == (1, 0)

    @pytest.mark.parametrize(
        ("summary", "at_least"),
        [
            (entry(11, user("a summary"), kind="compaction_summary"), True),
            (entry(11, said("a summary"), kind="compaction_summary", usage=ONE, call_key="own"), False),
            (UsageReport(ONE, None, "own"), False),
        ],
        ids=["unreported", "reported with its answer", "reported apart"],
    )
    def test_is_a_lower_bound_without_the_call_of_a_compaction(
        self, app: App, summary: Entry | UsageReport, at_least: bool
    ) -> None:  # X9
        """Most agents do not write down the call in which their model wrote the summary."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records("s", [entry(9, said("hello"), usage=ONE, call_key="k")])
        assert not app.sessions.stats("s").cost.spent_at_least
        after = [entry(12, user("go on")), entry(13, said("done"), usage=ONE, call_key="l")]
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c"), summary, *after])
        cost = app.sessions.stats("s").cost
        assert (cost.unreported, cost.spent_at_least) == (0, at_least)

    def test_includes_calls_apart_from_the_conversation(self, app: App) -> None:  # X9
        """They change no size, and a compaction whose call is reported apart leaves nothing unknown."""
        followed(app, user("hi"), model="claude-opus-4-5")
        app.ingest.append_records("s", [entry(9, said("hello"), usage=ONE, call_key="k")])
        before, once = app.sessions.get("s").agent, app.sessions.stats("s").cost
        warm = UsageReport(Usage(100_000, 0, 100_000), None, "warm", "claude-opus-4-5", apart=True)
        app.ingest.append_records("s", [warm, warm])
        assert app.sessions.get("s").agent == before
        cost = app.sessions.stats("s").cost
        assert cost.spent == pytest.approx(once.spent + 100_000 * 0.5 / 1e6)
        assert (cost.calls, cost.unreported, cost.spent_at_least) == (2, 0, False)
        brief = UsageReport(ONE, None, "compaction c", apart=True)
        app.ingest.append_records("s", [brief, Compaction(None, "auto", None, "c")])
        assert app.sessions.stats("s").cost.spent_at_least is False
        app.ingest.append_records("s", [Compaction(None, "auto", None, "d")])
        assert app.sessions.stats("s").cost.spent_at_least is True

    @pytest.mark.parametrize(("minutes", "cold"), [(4, False), (6, True)])
    @pytest.mark.parametrize("hour", [0, 20_000])
    def test_of_a_prune_is_zero_after_the_cache_expires(
        self, app: App, minutes: int, cold: bool, hour: int
    ) -> None:  # X9
        """The cache expires after five minutes, or after an hour if the calls ask for that."""
        followed(app, *conversation(8), model="claude-opus-4-5")
        usage = Usage(20_000, 10, cache_write_tokens=20_000, cache_write_hour_tokens=hour)
        last = entry(99, said("done"), usage=usage, call_key="k")
        app.ingest.append_records("s", [last])
        later = minutes * (12 if hour else 1) * 60_000
        app.environment.clock = lambda: to_ms(last.at) + later
        cache = app.prunes.plan("s", PlanBody(max_tokens=19_500)).cache
        assert cache.cold is cold
        assert (cache.rewrite_cost == 0) is cold


@pytest.mark.parametrize(
    "model", ["llama3.1:8b", "ollama/qwen3:32b", "z-ai/glm-4.5-air:free", "local/anything"]
)
def test_a_model_without_a_price_costs_nothing(app: App, model: str) -> None:  # X9
    """Local models and free models of a gateway have the cost 0."""
    followed(app, user("hi"), model=model)
    app.ingest.append_records("s", [entry(9, said("x"), usage=Usage(10_000, 10), call_key="k")])
    cost = app.sessions.stats("s").cost
    assert (cost.per_call, cost.spent, cost.spent_at_least) == (0, 0, False)
    app.ingest.append_records("s", [entry(n, said("y") if n % 2 else user("more")) for n in range(10, 16)])
    cost = app.sessions.stats("s").cost
    assert (cost.unreported > 0, cost.spent_at_least) == (True, False), "however many calls were not reported"
