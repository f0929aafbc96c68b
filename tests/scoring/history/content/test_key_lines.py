"""Lines that stay however an output is shortened."""

from __future__ import annotations

import pytest

from scoring.history.content.key_lines import is_failure, key_lines
from tests.scoring.history.content.labelled_outputs import (
    FAILURES,
    FAILURES_WRITTEN_LATER,
    SUCCESSES,
    SUCCESSES_WRITTEN_LATER,
)

FILLER = [f"    collecting part {n} of the build" for n in range(40)]


def found_in(*lines: str) -> list[str]:
    """Return the key lines of an output that has these lines in the middle of others."""
    text = "\n".join([*FILLER, *lines])
    return [text.split("\n")[number] for number in key_lines(text)]


class TestErrors:
    """Reports of errors, by any program."""

    @pytest.mark.parametrize(
        "line",
        [
            "AssertionError: 3 != 4",
            "E   ValueError: no such column",
            "src/main.c:14:5: error: expected ';' before '}' token",
            "error[E0308]: mismatched types",
            "main.ts(3,4): error TS2345: wrong argument",
            "fatal: not a git repository",
            "npm ERR! missing script: build",
            "bash: foo: command not found",
            "cat: notes.txt: No such file or directory",
            "make: *** [all] Error 2",
            "collect2: error: ld returned 1 exit status",
            "--- FAIL: TestParser (0.01s)",
            "thread 'main' panicked at src/main.rs:2:5",
            "2026-01-02T03:04:05Z ERROR api order 17 failed",
            "not ok 3 - reads the file",
            "✗ keeps the order",
            "Fehler: Die Datei ist gesperrt",
        ],
    )
    def test_stay(self, line: str) -> None:  # X7, X23
        """The line is kept, and the output counts as failed."""
        assert line in found_in(line, *FILLER)
        assert is_failure("\n".join([*FILLER, line]))

    @pytest.mark.parametrize(
        "line",
        [
            '  14→    raise ValueError("no such column")',
            "parser.py:14:    except KeyError:",
            "if err != nil {",
            "0 errors, 0 warnings",
            "the error handling is described below",
            "Search returned 12 matches",
            "The query returned 25 rows.",
            "status: 3 files changed",
            '{"status": 200, "ok": true}',
        ],
    )
    def test_are_not_text_about_errors(self, line: str) -> None:
        """Source code, search results, counts and statuses of success report no failure."""
        assert not is_failure("\n".join([*FILLER, line, "and so on"]))
        assert not is_failure(line)

    def test_are_the_first_and_the_last_of_many(self) -> None:
        """Of a long list of errors the first and the last are kept."""
        lines = found_in(*(f"src/part{n}.c:{n}:1: error: unknown type" for n in range(1, 60)))
        assert [line.split(":")[1] for line in lines] == ["1", "2", "59"]


class TestVerdicts:
    """Lines that report the outcome of a run."""

    @pytest.mark.parametrize(
        "line",
        [
            "========= 2 failed, 185 passed in 3.21s =========",
            "Tests:       1 failed, 12 passed, 13 total",
            "ok  \tgithub.com/a/b\t0.017s",
            "test result: ok. 12 passed; 0 failed",
            "Ran 69 tests in 0.237s",
            "BUILD SUCCESSFUL in 4s",
            "12 examples, 0 failures",
            "webpack compiled successfully",
        ],
    )
    def test_stay(self, line: str) -> None:  # X7, X23
        """The line is kept, whatever program was run."""
        assert line in found_in(line)

    def test_follow_the_exit_status(self) -> None:
        """An exit status decides whether a run failed, rather than the words."""
        assert is_failure("<returncode>1</returncode>\n<output>\n</output>")
        assert is_failure("a\nb\nProcess exited with code 2")
        assert is_failure('{"status": 404, "message": "unknown order"}')
        assert is_failure("the job returned 1")
        assert not is_failure("<returncode>0</returncode>\n<output>\nerror: ignored\n</output>")
        assert is_failure("a\n3 failed, 2 passed")

    @pytest.mark.parametrize(
        "line",
        [
            "Traceback (most recent call last):",
            'django.db.utils.OperationalError: near "order": syntax error',
            "Exception: not yet",
            "FAIL: an address was accepted",
            "not ok 3 - parses",
            "2 failed, 185 passed in 3.1s",
        ],
    )
    def test_see_a_failure_whose_status_was_lost(self, line: str) -> None:  # X23
        """The status of a pipeline is that of its last command, as of `tail` in `pytest | tail`."""
        assert is_failure("\n".join(["<returncode>0</returncode>", *FILLER, line]))

    def test_see_what_a_tool_marks_as_an_error(self) -> None:  # X23
        """A tool's error tag marks a failure."""
        assert is_failure("<tool_use_error>String to replace not found in file.</tool_use_error>")


class TestWordsThatAreLookedForFirst:
    """The quick search for single words finds every line that the expressions find."""

    @pytest.mark.parametrize(
        "line",
        """3 specs|4 EXAMPLES|2 scenarios|1 suite|8 assertions|5 checks|12 passing|1 skipped|2 pending|3 ok|9 problems
        4 issues|6 successes|OK|Passed|Success|successful|Ran 12|BUILD SUCCESS|build fail|Result: ok|summary: 3
        succeeded|all files formatted|no issues|no warnings|finished in|Completed with|compiled in|built in|done in
        bestanden""".replace("\n", "|").split("|"),
    )  # fmt: skip
    def test_find_how_a_run_ended(self, line: str) -> None:  # X7
        """Every kind of outcome is found."""
        assert line.strip() in [one.strip() for one in found_in(line)]


class TestCounts:
    """The counts of passed and failed tests."""

    def test_stay_though_a_build_tool_says_more_after_them(self) -> None:  # X7, X23
        """They stay although later lines report the failure of the build."""
        ending = ["> Task :test FAILED", "FAILURE: Build failed with an exception.", "BUILD FAILED in 31s"]
        assert "88 tests completed, 3 failed" in found_in("88 tests completed, 3 failed", "", *ending)


class TestLabelledOutputs:
    """Outputs of many tools, in twelve languages."""

    @pytest.mark.parametrize("output", FAILURES[::2])
    def test_that_report_a_failure_are_failures(self, output: str) -> None:  # X23
        """They report it by a field, by a status, or in words."""
        assert is_failure(output)

    @pytest.mark.parametrize("output", SUCCESSES[::2])
    def test_that_only_mention_errors_are_none(self, output: str) -> None:  # X23
        """Data, source code, documents, logs, and counts of what was fixed."""
        assert not is_failure(output)

    def test_that_were_held_out_are_recognised_as_often(self) -> None:  # X23
        """All but one of 57 failures, and all of 54 others."""
        assert sum(map(is_failure, FAILURES[1::2])) >= 56
        assert sum(map(is_failure, SUCCESSES[1::2])) == 0

    def test_that_were_written_later_are_recognised_as_often(self) -> None:  # X23
        """Three of the 96 others are taken for failures: access denied, connection refused, failed jobs."""
        assert sum(map(is_failure, FAILURES_WRITTEN_LATER)) == 90
        assert sum(map(is_failure, SUCCESSES_WRITTEN_LATER)) <= 3


class TestJson:
    """Outcomes that an output states in JSON."""

    def test_are_read_by_type(self) -> None:  # X23
        """A field that holds no error is none, and so is a measurement."""
        assert is_failure('{"error": "disk full"}')
        for value in ("null", '""', "[]", "{}", "false", "0", "0.02", '"none"'):
            assert not is_failure(f'{{"error": {value}}}')

    def test_are_read_of_the_object_that_wraps_the_answer(self) -> None:  # X23
        """Deeper objects and lists are records, which can be about failures."""
        assert is_failure('{"id": 3, "result": {"ok": false}}')
        assert is_failure('{"createOrder": {"errors": ["the address is missing"]}}')
        assert not is_failure('{"id": 3, "order": {"status": "failed"}}')
        assert not is_failure('[{"ok": false}]')
        assert not is_failure('{"ok": true, "data": {"status": "failed"}}')

    def test_are_read_of_an_object_that_ends_an_output(self) -> None:  # X23
        """A tool prints its answer below its log; the last of many records is data."""
        assert is_failure('connecting\nsending 3 rows\n{"ok": false, "reason": "no route"}')
        assert is_failure(f'connecting\n{{"ok": false, "sent": {list(range(400))}}}')
        assert not is_failure('{"ok": true}\n{"ok": false}')

    def test_stay_with_their_reason(self) -> None:  # X7, X23
        """The fields of a long answer that say that it failed and why are key lines."""
        rows = [f'    "row {n}",' for n in range(60)]
        text = "\n".join(
            ["{", '  "rows": [', *rows, '    "end"', "  ],", '  "ok": false,', '  "reason": "no route"', "}"]
        )
        kept = [text.split("\n")[number].strip() for number in key_lines(text)]
        assert kept == ['"ok": false,', '"reason": "no route"']

    def test_of_nested_brackets_are_passed_over(self) -> None:
        """Brackets deeper than the parser reads are not JSON."""
        assert not is_failure('{"error":' + "[" * 100_000)


class TestStatuses:
    """Numbers that are a status."""

    @pytest.mark.parametrize(
        "text", ["rows returned: 42", "status: 3", "status: 304", '"status": 1', "query returned 7"]
    )
    def test_need_a_program_that_ended_or_http(self, text: str) -> None:  # X23
        """A count and a state of a device are data."""
        assert not is_failure(f"12 rows\n{text}")

    def test_of_http_open_an_output_or_are_marked_as_received(self) -> None:  # X23
        """Of redirected requests the last one counts; an example within a document is none."""
        assert is_failure("HTTP/1.1 503 Service Unavailable\nretry-after: 9\n")
        assert is_failure("\n".join([*FILLER, "< HTTP/2 404"]))
        assert not is_failure("HTTP/1.1 404 Not Found\n\nHTTP/1.1 200 OK")
        assert not is_failure("\n".join([*FILLER, "HTTP/1.1 404 Not Found", *FILLER]))


class TestCountsOfWhatWasMended:
    """Counts of errors that are none any more."""

    def test_are_no_failures_unless_some_remain(self) -> None:  # X23
        """A tool that repairs what it finds names both counts."""
        assert not is_failure("Found 3 errors (3 fixed, 0 remaining).")
        assert not is_failure("fixed 7 errors in 3 files")
        assert is_failure("Found 3 errors (1 fixed, 2 remaining).")
        assert is_failure("fixed 7 errors, 2 errors left")


class TestSentences:
    """Failures that are told in a sentence."""

    def test_stand_near_the_ends_of_an_output(self) -> None:  # X23
        """Such a sentence in the middle of a document is part of its text."""
        said = "Deployment refused by the cluster."
        assert is_failure("\n".join([*FILLER, said]))
        assert not is_failure("\n".join([*FILLER, said, *FILLER]))

    @pytest.mark.parametrize(
        "said",
        ["A token without a scope is rejected, as are others.", "Nothing was refused.", "The order may be declined.",
         "Если запрос отклонён, повторите.", "Wenn der Antrag abgelehnt wurde, siehe Seite 4."],
    )  # fmt: skip
    def test_in_general_are_no_failures(self, said: str) -> None:  # X23
        """They say what happens, or what did not."""
        assert not is_failure(said)
