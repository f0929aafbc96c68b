"""Places of calls, and the moves of shells."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.history.cues.places import OTHER_SHELL, UNKNOWN, adds_to_file, moves_of, place_of
from scoring.summary import COMMAND_KEYS


class TestPlaces:
    """The code for where a call acts."""

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("Read", {"file_path": "/repo/a.py", "offset": 3, "limit": 9}),
            ("Write", {"file_path": "/repo/a.py", "content": "x" * 9_000}),
            ("read_file", {"path": "a.py", "ref": None, "host": "", "staged": False}),
            ("read_file", {"path": "a.py", "cwd": "/repo"}),
            ("read_file", {"path": "a.py", "start_line_one_indexed": 4, "shouldReadEntireFile": True}),
        ],
    )
    def test_is_empty_on_the_agents_own_machine(self, name: str, arguments: dict[str, Any]) -> None:  # X7
        """Ranges, contents, defaults, and the folder that a path is joined to are no part of it."""
        assert place_of(name, arguments) == ""

    def test_has_no_command(self) -> None:  # X7
        """Every argument that can hold a command is known to be one."""
        assert {place_of("Bash", {key: "cat a.py"}, is_shell=True) for key in COMMAND_KEYS} == {""}

    def test_has_every_other_argument(self) -> None:  # X7
        """Their order makes no difference; a second path and an id are part of it, too."""
        here = place_of("read", {"path": "a", "host": "web1", "port": 22})
        assert here == place_of("read", {"port": 22, "host": "web1", "path": "b"})
        others: list[dict[str, Any]] = [
            {"host": "web2", "port": 22},
            {"host": "web1"},
            {"shell_id": "2"},
            {"file": "b.zip"},
            {"at": [1]},
        ]
        places = {place_of("read", {"path": "a", **other}) for other in others}
        assert len(places | {here, ""}) == len(others) + 2

    def test_has_the_server_of_a_tool(self) -> None:  # X7
        """Two tools of one server act in one place."""
        assert place_of("mcp__prod__read", {"path": "a"}) == place_of("mcp__prod__write", {"path": "a"}) != ""
        assert place_of("mcp__prod__read", {}) != place_of("mcp__staging__read", {})

    def test_has_the_name_of_a_shell_that_is_not_known(self) -> None:  # X7
        """It may run on another machine."""
        own = (
            "Bash",
            "exec_command",
            "local_shell",
            "run_in_terminal",
            "functions.exec_command",
            "runShellCommand",
        )
        assert {place_of(name, {"command": "ls"}, is_shell=True) for name in own} == {""}
        assert place_of("prod_shell", {}, is_shell=True) != place_of("lab_shell", {}, is_shell=True)


class TestWrites:
    """Calls that write a file."""

    @pytest.mark.parametrize("arguments", [{"append": True}, {"mode": "append"}, {"mode": "a+"}])
    def test_may_add_to_it(self, arguments: dict[str, Any]) -> None:  # X7
        """The file keeps the content that was read before."""
        assert adds_to_file(arguments)
        assert not adds_to_file({"append": False, "mode": "w"})


class TestMoves:
    """Commands after which a shell may be somewhere else."""

    @pytest.mark.parametrize(
        ("command", "moves"),
        [
            ("cd /srv", ["/srv"]),
            ("cd 'my docs' && make; cd ..", ["my docs", ".."]),
            ("make\ncd build", ["build"]),
            ("if true; then cd a; fi", ["a"]),
            ("pushd docs && ls && popd", ["docs", UNKNOWN]),
            ("cd", [UNKNOWN]),
            ("cd -", [UNKNOWN]),
            ('cd "$HERE"', [UNKNOWN]),
            ("cd $(git rev-parse --show-toplevel)", [UNKNOWN]),
            ("cat > run.sh <<'E'\ncd /srv\nE\ncd /tmp", ["/tmp"]),
            ("ssh -p 22 ana@web1", [OTHER_SHELL]),
            ("cd /srv && docker exec -it web /bin/bash", ["/srv", OTHER_SHELL]),
            ("sudo -i", [OTHER_SHELL]),
            ("exit", [OTHER_SHELL]),
        ],
    )
    def test_name_the_folder_if_they_say_it(self, command: str, moves: list[str]) -> None:  # X7
        """Without a name the folder is unknown; a shell in the shell has its own."""
        assert list(moves_of(command)) == moves

    @pytest.mark.parametrize(
        "command",
        ["(cd /tmp && make)", "git commit -m 'cd there'", "cdk deploy", "ssh web1 uptime", "sh run.sh",
         "make || exit 1", "docker exec web ls", "sudo make install", "cat <<'E'\ncd /srv\nE"],
    )  # fmt: skip
    def test_are_not_seen_in_other_commands(self, command: str) -> None:  # X7
        """A folder in parentheses or in a document, and a command for another machine, leave the shell as it is."""
        assert list(moves_of(command)) == []
