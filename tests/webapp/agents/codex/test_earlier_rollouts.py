"""Sessions of Codex that go on in a new file after a revert, in the form that version 0.171.0 writes."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath

import pytest

from tests.webapp.agents.codex.rollouts import FORK, OWN, SECOND, THIRD, Rollouts, turn, up_to
from tests.webapp.agents.samples import decoded, facts, of, said
from webapp.agents.codex import files
from webapp.agents.codex.decoder import Decoder
from webapp.agents.codex.earlier_rollouts import ids_in, replaced
from webapp.agents.records import Entry, Meta, Problem, Rewind, UsageReport

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def rollouts(tmp_path: Path) -> Rollouts:
    """Return an empty sessions folder."""
    return Rollouts(tmp_path)


class TestNames:
    """The names of rollouts."""

    def test_name_the_session_and_after_a_revert_the_rollout(self) -> None:
        """Two ids are only joined by an underscore after a revert."""
        assert ids_in(f"rollout-2026-01-02T11-00-00-{OWN}.jsonl") == (OWN, OWN)
        assert ids_in(f"rollout-2026-01-02T11-00-00-{OWN}_{SECOND}.jsonl") == (OWN, SECOND)
        assert ids_in("rollout-x.jsonl") is None

    def test_tell_which_rollout_is_the_newest(self) -> None:
        """Only the other rollouts of a reverted session are replaced."""
        names = [f"{OWN}.jsonl", f"{OWN}_{SECOND}.jsonl", f"{OWN}_{THIRD}.jsonl", f"{FORK}.jsonl"]
        paths = [PurePath(f"rollout-2026-01-02T11-00-00-{name}") for name in names]
        assert replaced(paths) == set(paths[:2])


class TestRevertedSessions:
    """A session whose turns were taken back."""

    def test_have_one_transcript(self, rollouts: Rollouts) -> None:  # X12
        """The newest rollout is that of the session, under the session's own id."""
        first = rollouts.write(OWN, turn("One.", 1))
        newer = rollouts.write(f"{OWN}_{SECOND}", [], history_base=up_to(first, 4))
        assert (rollouts.file().session_id, rollouts.file().path) == (OWN, newer)

    def test_begin_with_the_rows_before_the_revert(self, rollouts: Rollouts) -> None:  # X12
        """They have the ids of the first reading, so that they add nothing, and what was taken back leaves."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        before = of(Entry, decoded(first, Decoder()))
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        texts = ["One.", "One. Done.", "Two.", "Two. Done.", "Other.", "Other. Done."]
        assert [text for _, text in said(records)] == texts
        (rewind,) = of(Rewind, records)
        after = records[records.index(rewind) :]
        assert [text for _, text in said(after)] == ["Other.", "Other. Done."]
        assert rewind.live == tuple(e.source_id for e in before[:2])
        assert before == of(Entry, records)[:4]
        assert of(Entry, after)[0].parent == before[1].source_id
        assert facts(records, Meta, "inherits") == [False] * len(of(Meta, records))

    def test_have_paid_for_what_was_reverted(self, rollouts: Rollouts) -> None:  # X12
        """A call after the revert is another one than the reverted call, though the running totals are the same."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        before = [r.call_key for r in of(UsageReport, decoded(first, Decoder()))]
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        reports = of(UsageReport, decoded(rollouts.file().path, Decoder(rollouts.file())))
        assert [r.call_key for r in reports[:2]] == before
        assert len({r.call_key for r in reports}) == len(reports) == 3
        assert len({r.input_end for r in reports}) == 3

    def test_go_on_with_the_model_of_before(self, rollouts: Rollouts) -> None:
        """A change of the model can have been reverted, too."""
        models = [[("turn_context", {"model": name})] for name in ("gpt-5", "gpt-5-mini")]
        first = rollouts.write(OWN, [*models[0], *turn("One.", 1), *models[1], *turn("Two.", 2)])
        rollouts.write(f"{OWN}_{SECOND}", [*models[0], *turn("Other.", 2)], history_base=up_to(first, 5))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        assert facts(records, Meta, "model") == ["gpt-5", "gpt-5-mini", "gpt-5"]

    def test_can_be_reverted_again(self, rollouts: Rollouts) -> None:
        """A rollout can continue one that continues another."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        second = rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        rollouts.write(f"{OWN}_{THIRD}", turn("Last.", 3), history_base=up_to(second, 4))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        asked = [text for who, text in said(records) if who == "user"]
        assert asked == ["One.", "Two.", "Other.", "Last."]
        by_id = {e.source_id: e.message.text for e in of(Entry, records)}
        lives = [[by_id[name] for name in rewind.live] for rewind in of(Rewind, records)]
        assert lives == [["One.", "One. Done."], ["One.", "One. Done.", "Other.", "Other. Done."]]

    def test_have_paid_for_rollouts_that_no_other_one_continues(self, rollouts: Rollouts) -> None:
        """A second revert can go back to before the first one."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        rollouts.write(f"{OWN}_{SECOND}", turn("Other.", 2), history_base=up_to(first, 4))
        rollouts.write(f"{OWN}_{THIRD}", turn("Last.", 1), history_base=up_to(first, 1))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        asked = [text for who, text in said(records) if who == "user"]
        assert asked == ["One.", "Two.", "Other.", "Last."]
        assert len({r.call_key for r in of(UsageReport, records)}) == 4
        assert of(Rewind, records)[-1].live == ()

    def test_can_begin_anew(self, rollouts: Rollouts) -> None:
        """Before the first turn nothing stays."""
        first = rollouts.write(OWN, turn("One.", 1))
        rollouts.write(f"{OWN}_{SECOND}", turn("New.", 1), history_base=up_to(first, 1))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        assert [text for _, text in said(records)] == ["One.", "One. Done.", "New.", "New. Done."]
        assert of(Rewind, records)[0].live == ()

    def test_say_if_their_beginning_is_missing(self, rollouts: Rollouts) -> None:
        """Then nothing is learned from them either."""
        first = rollouts.write(OWN, turn("One.", 1))
        rollouts.write(f"{OWN}_{SECOND}", turn("New.", 2), history_base=up_to(first, 4))
        first.unlink()
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        assert [text for _, text in said(records)] == ["New.", "New. Done."]
        (problem,) = of(Problem, records)
        assert SECOND not in problem.reason
        assert OWN in problem.reason
        assert problem.used
        assert True in facts(records, Meta, "inherits")

    def test_name_the_place_of_a_broken_row(self, rollouts: Rollouts) -> None:
        """The line of a problem is one of the earlier file."""
        first = rollouts.write(OWN, turn("One.", 1))
        lines = first.read_bytes().splitlines(keepends=True)
        first.write_bytes(b"".join([lines[0], b"{broken\n", *lines[1:]]))
        rollouts.write(f"{OWN}_{SECOND}", [], history_base=up_to(first, 5))
        (problem,) = of(Problem, decoded(rollouts.file().path, Decoder(rollouts.file())))
        assert problem.line is None
        assert problem.reason.startswith(f"{first.name}, line 2: ")

    def test_begin_as_they_do_if_another_one_cannot_be_read(self, rollouts: Rollouts) -> None:
        """Codex packs and moves old ones at any time, and one that was reverted may be damaged."""
        first = rollouts.write(OWN, turn("One.", 1))
        second = rollouts.write(f"{OWN}_{SECOND}", turn("Side.", 2), history_base=up_to(first, 4))
        second.rename(second.with_name(f"{second.name}.zst"))
        rollouts.write(f"{OWN}_{THIRD}", turn("New.", 2), history_base=up_to(first, 4))
        records = decoded(rollouts.file().path, Decoder(rollouts.file()))
        assert [text for _, text in said(records)] == ["One.", "One. Done.", "New.", "New. Done."]
        assert "/a" in facts(records, Meta, "cwd")
        (problem,) = of(Problem, records)
        assert problem.reason.startswith(f"{second.name}.zst cannot be read: ")
        assert problem.used


class TestForks:
    """A fork whose parent's rows are in the parent's file."""

    def test_begin_with_their_messages(self, rollouts: Rollouts) -> None:  # X12
        """These are sent, too. Their usage is the parent's, and so are later rows of the parent and its title."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("Two.", 2)])
        fork = rollouts.write(FORK, turn("Mine.", 2), forked_from_id=OWN, history_base=up_to(first, 4))
        file = next(f for f in files.discover(rollouts.root) if f.path == fork)
        records = decoded(fork, Decoder(file))
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("One.", True), ("One. Done.", True), ("Mine.", False), ("Mine. Done.", False),
        ]  # fmt: skip
        assert (file.session_id, file.parent_id) == (FORK, OWN)
        assert len(of(UsageReport, records)) == 1
        assert facts(records, Meta, "title") == ["Mine."]
        assert facts(records, Meta, "inherits") == [False] * len(of(Meta, records))
        assert of(Rewind, records) + of(Problem, records) == []

    def test_say_if_the_parent_is_missing(self, rollouts: Rollouts) -> None:
        """They are shown without its messages, and nothing is learned from them."""
        first = rollouts.write(OWN, turn("One.", 1))
        fork = rollouts.write(FORK, turn("Mine.", 2), forked_from_id=OWN, history_base=up_to(first, 4))
        first.unlink()
        (file,) = files.discover(rollouts.root)
        records = decoded(fork, Decoder(file))
        assert [text for _, text in said(records)] == ["Mine.", "Mine. Done."]
        assert True in facts(records, Meta, "inherits")
        assert len(of(Problem, records)) == 1

    def test_are_shown_without_what_cannot_be_read(self, rollouts: Rollouts) -> None:
        """A packed rollout of the parent can be cut off."""
        first = rollouts.write(OWN, [*turn("One.", 1), *turn("x" * 400_000, 2)])
        base = up_to(first, 7)
        packed = zstd.compress(first.read_bytes(), level=-50)
        first.unlink()
        first.with_name(f"{first.name}.zst").write_bytes(packed[:-40])
        fork = rollouts.write(FORK, turn("Mine.", 2), forked_from_id=OWN, history_base=base)
        file = next(f for f in files.discover(rollouts.root) if f.path == fork)
        records = decoded(fork, Decoder(file))
        assert [text for _, text in said(records)][-2:] == ["Mine.", "Mine. Done."]
        assert "/a" in facts(records, Meta, "cwd")
        assert len(of(Problem, records)) == 1

    def test_can_be_reverted(self, rollouts: Rollouts) -> None:
        """Their first messages stay in the context."""
        first = rollouts.write(OWN, turn("One.", 1))
        fork = rollouts.write(
            FORK, [*turn("Mine.", 2), *turn("Two.", 3)], forked_from_id=OWN, history_base=up_to(first, 4)
        )
        rollouts.write(f"{FORK}_{SECOND}", turn("Last.", 3), forked_from_id=OWN, history_base=up_to(fork, 4))
        file = next(f for f in files.discover(rollouts.root) if f.session_id == FORK)
        records = decoded(file.path, Decoder(file))
        entries = [e for e in of(Entry, records) if e.message.role == "user"]
        assert [(e.message.text, e.inherited) for e in entries] == [
            ("One.", True), ("Mine.", False), ("Two.", False), ("Last.", False),
        ]  # fmt: skip
        by_id = {e.source_id: e.message.text for e in of(Entry, records)}
        (rewind,) = of(Rewind, records)
        assert [by_id[name] for name in rewind.live] == ["One.", "One. Done.", "Mine.", "Mine. Done."]
        assert len(of(UsageReport, records)) == 3
