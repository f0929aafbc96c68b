"""Exact values, verbatim."""

from __future__ import annotations

from time import process_time

import pytest

from scoring.messages import ToolResult, message
from scoring.summary.exact_values import _PATTERNS, _SPOKEN_PATTERNS, error_lines, values
from tests.scoring.builders import model, user


class TestValues:
    """Values that are quoted exactly."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("see https://example.org/a?b=1#c.", "https://example.org/a?b=1#c"),
            ("id 3f2b8a10-0c1d-4e5f-8a9b-001122334455 it is", "3f2b8a10-0c1d-4e5f-8a9b-001122334455"),
            ("set DATABASE_URL=sqlite:///app.db and run", "DATABASE_URL=sqlite:///app.db"),
            ("ticket PROJ-1234 says", "PROJ-1234"),
            ("commit 9fceb02d0ae is bad", "9fceb02d0ae"),
            ('{"reservation_id": "HATHAT"}', '"reservation_id": "HATHAT"'),
            ("it has max_timeout: 30s now", "max_timeout: 30s"),
            ("listen on port 8080 please", "port 8080"),
            ("it costs $1,250.00 in all", "$1,250.00"),
            ("we need version 1.2.3-rc.1 of it", "version 1.2.3"),
            ("look at src/login.py first", "src/login.py"),
            ("it is in /etc/nginx/nginx.conf.", "/etc/nginx/nginx.conf"),
            ("my order is #W2378156, please", "#W2378156"),
            ("user mei_kovacs_8020 wrote", "mei_kovacs_8020"),
            ("parcel 123456789012 is lost", "123456789012"),
            ("write to ada@example.org.", "ada@example.org"),
            ("set MAX_RETRIES=5 and run", "MAX_RETRIES=5"),
            ("open https://example.org/docs?page=1 first", "https://example.org/docs?page=1"),
            ("no answer from 10.0.0.5:6379.", "10.0.0.5:6379"),
            ("OSError: [Errno 98] Address already in use", "OSError: [Errno 98] Address already in use"),
            ("copy it to s3://backups/www at 3", "s3://backups/www"),
            ("db: postgres://10.1.1.5/app", "postgres://10.1.1.5/app"),
            ("pod api-7d9f8c6b5-x2k9p crashed", "api-7d9f8c6b5-x2k9p"),
            ("at most 140€/night", "140€"),
            ("call +91 98765 43210 today", "+91 98765 43210"),
            ("检查 https://app.example.cn/health。", "https://app.example.cn/health"),
            ("次にtests/login.test.tsを書きます。", "tests/login.test.ts"),
            ("请看文档/报告.md", "请看文档/报告.md"),
            ("we leave at 2031-07-03T16:31 from pier B", "2031-07-03T16:31"),
            ("it ended on 2031-07-03 16:31:09.250 UTC.", "2031-07-03 16:31:09.250 UTC"),
            ("since 2031-07-03T16:31:09+02:00, it says", "2031-07-03T16:31:09+02:00"),
            ("due on 2031-07-03.", "2031-07-03"),
            ("invoice INV-2031/0044-B, please", "INV-2031/0044-B"),
            ("the valve is at 10.4.0.17:502/unit7.", "10.4.0.17:502/unit7"),
            ("image sha256:9fceb02d0ae5 is old", "sha256:9fceb02d0ae5"),
            ("the code ÄPFEL-77Ü saves money", "ÄPFEL-77Ü"),
            ("дело АБ-7712 закрыто", "АБ-7712"),
        ],
    )
    def test_are_found(self, text: str, value: str) -> None:  # S4
        """URLs, ids, settings, figures."""
        assert value in {found for _, found in values([model(text)])}

    @pytest.mark.parametrize(
        "text",
        ["entry_path: str)", "tar_path = temp_dir", "info.size = len(data)", "self.path = path", "dir_path: Path",
         "entry_path = entry_path.rstrip(", "FAILURES ====", "base_path: str", "on and/or off", "e.g. 10/20"],
    )  # fmt: skip
    def test_are_not_source_code(self, text: str) -> None:  # S4
        """One name that is given to another says nothing later."""
        assert list(values([model(text)])) == []

    def test_are_no_parts_of_an_address(self) -> None:  # S4
        """The beginning of an IP address is no version."""
        assert "10.0.0" not in {found for _, found in values([model("no answer from 10.0.0.5")])}

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("pod api-7d9f8c6b5-x2k9p crashed", "7d9f8c6b5"),
            ("at most 140€/night, near here", "/night"),
            ("TIMEOUTを60に変更することにしました。", "TIMEOUTを60に変更することにしました"),
            (
                "branch fix-77-better-state-of-a-very-long-name-88 it is",
                "fix-77-better-state-of-a-very-long-name-",
            ),
            ("at 2031-07-03T16:31, then", "2031-07-03T16"),
            ("at 2031-07-03T16:31, then", "2031-07-03"),
            ("ÄPFEL-77Ü", "PFEL-77"),
        ],
    )
    def test_are_no_parts_of_words(self, text: str, part: str) -> None:  # S4
        """A part of a name, a unit and a sentence are none."""
        assert part not in [value for _, value in values([user(text)])]

    def test_are_not_tags(self) -> None:  # S4
        """A closing tag looks like a path from the root."""
        text = "<summary>ready, see /var/log/app.log</summary><task-id>x</task-id></div>"
        assert [value for _, value in values([user(text)])] == ["/var/log/app.log"]

    def test_of_the_user_are_worth_more(self) -> None:
        """A value typed by the user is intended."""
        assert max(values([user("port 8080")])) > max(values([model("port 8080")]))

    @pytest.mark.parametrize("part", ["y", "1", "a-", "A_", "1."])
    def test_of_texts_without_blanks_take_no_time(self, part: str) -> None:
        """Encoded data has few boundaries of words, or one at every character."""
        found = [value for _, value in values([user(f"{part * 10_000} a@example.org")] * 4)]
        assert found.count("a@example.org") == 4

    @pytest.mark.parametrize(
        "part", ["a1/", "a1:", "1-", "Ä7-", "2031-07-03T16:31:", "Z-1", "A-1/", "._1", "я", "7é"]
    )
    def test_of_runs_without_blanks_take_no_time(self, part: str) -> None:
        """A code, a date or joined parts can begin at each character of such a run."""
        run = (part * 20_000)[:20_000]
        patterns = [pattern for _, pattern in _PATTERNS + _SPOKEN_PATTERNS]
        began = process_time()
        for pattern in patterns:
            list(pattern.finditer(run))
        assert process_time() - began < 0.1 * len(patterns)

    def test_of_confirmations_are_none(self) -> None:  # S4
        """There are none in them."""
        assert not list(values([message("tool", "", ToolResult("1", "File v1.2.3 written successfully"))]))


class TestErrors:
    """Lines that report an error."""

    def test_are_taken_verbatim_and_once(self) -> None:  # S4
        """They are found even in the middle of a long output."""
        text = "fine\nKeyError: 'user_id'\nfine\nKeyError: 'user_id'\nConnection refused: error 111"
        assert error_lines(text) == ["KeyError: 'user_id'", "Connection refused: error 111"]

    @pytest.mark.parametrize(
        "line",
        [
            '257→		return fmt.Errorf("failed: %w", err)',
            "raise ValueError(text)",
            "0 errors, 12 passed",
            "except KeyError as error:",
        ],
    )
    def test_are_not_source_code(self, line: str) -> None:
        """That speaks of errors without reporting one."""
        assert error_lines(line) == []

    def test_of_a_huge_line_take_no_time(self) -> None:
        """A megabyte without a break is passed over."""
        assert error_lines("a" * 1_000_000 + " error") == []
