"""Lines that stay however an output is shortened."""

from __future__ import annotations

import pytest

from scoring.history.content.key_lines import is_failure, key_lines

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
