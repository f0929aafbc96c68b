"""Taking units by their rate."""

from __future__ import annotations

from scoring.planning.strategies.foresight.greedy import GreedyChoice, take_best
from tests.scoring.builders import calls, model, results, user
from tests.scoring.planning.strategies.foresight.histories import OUTPUT, SAID, offers_of


class TestTaking:
    """The best units are taken first, as long as there is room."""

    def test_takes_the_best_first_and_passes_over_what_does_not_fit(self) -> None:
        """Both are recorded for the reasons."""
        said = [
            user("go"),
            model("main.py"),
            model("utils_b.py " + "word " * 500),
            model("utils_b.py"),
            user("on"),
        ]
        offers, _, history = offers_of(said)
        taken = GreedyChoice(30)
        take_best(taken, offers, [0, 1, 2, 3])
        assert taken.order[:2] == [3, 1]
        assert taken.passed_over == {2}
        assert taken.left == 30 - sum(history.tokens[i] for i in taken.order)

    def test_cuts_an_output_further_if_others_left_too_little_room(self) -> None:
        """An output that was to be cut is kept with fewer rows, rather than dropped with all of them."""
        lines = [f"chatter, number {n}, of the build" for n in range(60)]
        rooms = "parser lexer cache router ledger scheduler importer renderer mailer indexer".split()  # noqa: SIM905
        lines[20:30] = [f"{room}_core.py {room}_api.py {room}_util.py" for room in rooms]
        output = results("1", text="\n".join(lines))
        said = [user("go"), calls("1"), output, model("see main.py and utils_b.py"), user("on")]
        offers, _, history = offers_of(said)
        cut = offers.best(1, sum(history.tokens))
        assert cut.rows is not None
        room = cut.cost + history.tokens[3] // 2
        taken = GreedyChoice(room)
        take_best(taken, offers, [1, 3])
        assert taken.order == [3, 1]
        assert 0 < len(taken.shortened[2][1]) < len(cut.rows)

    def test_takes_all_whole_once_all_fits(self) -> None:
        """Nothing is shortened without need."""
        offers, _, history = offers_of(SAID)
        taken = GreedyChoice(sum(history.tokens))
        take_best(taken, offers, [0, 1, 3])
        assert (sorted(taken.order), taken.shortened) == ([0, 1, 3], {})

    def test_restores_rows_if_room_is_left(self) -> None:
        """Room that is left restores rows of shortened outputs."""
        said = [user("go"), calls("1"), results("1", text=OUTPUT), user("on")]
        small, large = GreedyChoice(80), GreedyChoice(300)
        for taken in (small, large):
            offers, _, _ = offers_of(said)
            take_best(taken, offers, [1])
        assert 0 < len(small.shortened[2][1]) < len(large.shortened[2][1])
        assert large.left < 20
