"""Overheads learned from other sessions."""

from __future__ import annotations

from dataclasses import replace

from scoring.tokens.overheads import SESSIONS, Overheads, Traits, expected

MAIN = Traits("claude-code", False, None, "/src/app", "claude-opus-4-5", 1.15)


def taught(*unseen: int, like: Traits = MAIN, calls: int = 10) -> list[tuple[Traits, Overheads]]:
    """Sessions with these overheads, newest first."""
    return [(like, Overheads(tokens, calls=calls)) for tokens in unseen]


class TestExpected:
    """The expected unseen tokens of a session."""

    def test_is_what_the_newest_sessions_alike_had(self) -> None:  # X11
        """The median of the newest few."""
        assert expected(MAIN, taught(20_000, 20_100, 26_000)).unseen == 20_100
        assert expected(MAIN, taught(*[30_000] * SESSIONS, *[10_000] * 20)).unseen == 30_000
        assert expected(MAIN, taught(20_000, 20_100)).calls == 2

    def test_is_nothing_for_programs_that_send_all_they_have(self) -> None:
        """A session of the API or an import carries what it shows."""
        assert expected(Traits("api"), []) == Overheads(0, 0, 0)

    def test_is_nothing_where_there_was_no_session(self) -> None:  # X11
        """Without an earlier session no overhead is assumed."""
        assert expected(MAIN, []).unseen == 0
        assert expected(MAIN, []).calls == 0

    def test_never_mixes_agents_nor_sessions_with_sub_agents(self) -> None:
        """Each learns from its own kind."""
        others = taught(90_000, like=Traits("codex")) + taught(4_000, like=replace(MAIN, child=True))
        assert expected(MAIN, others) == expected(MAIN, [])

    def test_prefers_the_same_type_then_the_same_folder_then_the_same_model(self) -> None:
        """One session that is like this one outweighs several that are less so."""
        explorer = replace(MAIN, child=True, agent_type="Explore")
        far = taught(8_000, 8_000, like=replace(explorer, agent_type="Plan"))
        assert expected(explorer, far + taught(12_000, like=replace(explorer, cwd="/other"))).unseen == 12_000
        elsewhere = taught(30_000, 30_000, like=replace(MAIN, cwd="/other"))
        assert expected(MAIN, elsewhere + taught(20_000)).unseen == 20_000

    def test_prefers_the_same_version_to_the_same_model(self) -> None:  # X11
        """An agent's prompt changes with its versions more than with the model."""
        now = replace(MAIN, version="2.0.44")
        same = taught(21_000, like=replace(now, model="other"))
        assert (
            expected(now, taught(16_000, 16_000, like=replace(MAIN, version="2.0.42")) + same).unseen
            == 21_000
        )

    def test_prefers_the_same_folder_to_the_same_version(self) -> None:
        """Its rules and servers make more of the prompt than a version changes."""
        now = replace(MAIN, version="2.0.44")
        elsewhere = taught(40_000, 40_000, like=replace(now, cwd="/other"))
        assert (
            expected(now, elsewhere + taught(16_000, like=replace(MAIN, version="2.0.42"))).unseen == 16_000
        )

    def test_is_carried_over_to_another_model_by_the_factors(self) -> None:  # X11
        """The same prompt takes more tokens of a model that makes more of it."""
        newer = replace(MAIN, model="claude-opus-4-7", factor=1.5)
        assert expected(newer, taught(23_000)).unseen == 30_000

    def test_learns_from_checks_of_one_call_only_where_there_is_nothing_else(self) -> None:
        """They often run without tools."""
        checks = taught(1_100, 1_100, 1_100, calls=1)
        assert expected(MAIN, checks).unseen == 1_100
        assert expected(MAIN, checks + taught(20_000)).unseen == 20_000

    def test_expects_at_the_second_call_what_two_sessions_had_there(self) -> None:
        """One alone may have been chance."""
        with_lists = [(MAIN, Overheads(20_000, second=2_500, calls=9))]
        assert expected(MAIN, with_lists).second == 0
        assert expected(MAIN, with_lists * 2).second == 2_500

    def test_expects_it_of_the_agent_where_too_few_sessions_are_alike(self) -> None:
        """Lists come with the agent, whatever the folder; two that are alike outweigh the others."""
        elsewhere = [(replace(MAIN, cwd="/other"), Overheads(20_000, second=2_400, calls=9))]
        here = [(MAIN, Overheads(20_000, second=2_600, calls=9))]
        assert expected(MAIN, here + elsewhere).second == 2_500
        assert expected(MAIN, here * 2 + elsewhere * 5).second == 2_600

    def test_expects_after_a_compaction_what_others_had_there(self) -> None:
        """Whichever folder they were in; without one nothing but what the agent's own rules say."""
        before = [(replace(MAIN, cwd="/other"), Overheads(20_000, restored=4_000, calls=90))]
        assert expected(MAIN, taught(20_000) + before).restored == 4_000
        assert expected(MAIN, taught(20_000)).restored == 0
        assert expected(Traits("codex"), []).restored == 0


class TestASubAgent:
    """Sub-agents are of many kinds, and their first words tell which."""

    WARMUP = Traits("claude-code", child=True, opening="Warmup")

    def test_learns_from_those_begun_with_the_same_words(self) -> None:  # X11
        """Sessions of a single call count, too."""
        checks, explorers = taught(1_100, like=self.WARMUP, calls=1), replace(self.WARMUP, opening="Explore")
        known = checks + taught(9_000, like=explorers)
        assert expected(self.WARMUP, known).unseen == 1_100
        assert expected(explorers, known).unseen == 9_000
        assert expected(replace(self.WARMUP, opening="Plan"), known).unseen == 9_000

    def test_learns_from_its_type_single_calls_included(self) -> None:  # X11
        """It does not matter what they were asked, nor that others made more calls."""
        explorer = Traits("claude-code", child=True, agent_type="Explore", opening="Find the tests")
        others = replace(explorer, agent_type="general-purpose", opening="Do it")
        once = taught(3_900, like=replace(explorer, opening="Look around"), calls=1)
        assert expected(explorer, taught(14_000, 14_000, like=others) + once).unseen == 3_900

    def test_learns_from_more_calls_where_neither_words_nor_type_tell(self) -> None:
        """A warm-up says nothing about an agent that works."""
        worker = replace(self.WARMUP, opening="Give me an overview")
        before = taught(14_000, like=replace(worker, opening="Do it"))
        assert expected(worker, taught(1_100, 1_100, like=self.WARMUP, calls=1) + before).unseen == 14_000

    def test_teaches_no_main_session(self) -> None:  # X11
        """That holds whatever it began with."""
        assert expected(replace(self.WARMUP, child=False), taught(1_100, like=self.WARMUP)).unseen == 0
