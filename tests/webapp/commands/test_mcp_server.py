"""The MCP server, used by the official client over stdin and stdout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from scoring.errors import shown
from tests.browser.writing import ClaudeFolder, words
from webapp.app import App
from webapp.bodies import SessionChange
from webapp.commands.mcp_server import ToolAnswers, number_in, with_whole_characters
from webapp.config import Config
from webapp.errors import Invalid, NotFound
from webapp.wiring import build

# The numbers of an output and of a call that the session no longer has in its context.
DROPPED, DROPPED_CALL = 3, 12


def stored(folder: Path) -> str:
    """Create a store without a server; return the id of its session, which has dropped messages."""
    app: App = build(Config(db=folder / "c.db", tokenizer=False, follow=False, env={"HOME": str(folder)}))
    transcript = ClaudeFolder(folder / "claude").transcript(cwd=str(folder))
    transcript.user("Which port is it?")
    transcript.call("Bash", {"command": "grep port"}, "the port is 8443, says the quokka", tokens=20_000)
    for step in range(20):
        transcript.call("Bash", {"command": f"step {step}"}, words(1_000), tokens=21_000 + 1_000 * step)
    transcript.assistant("Done.", tokens=42_000)
    app.importing.import_file(transcript.path.name, transcript.path.read_bytes())
    for message in app.messages.by_number(transcript.session, [DROPPED, DROPPED_CALL]):
        app.by_hand.drop(transcript.session, message.id)
    app.close()
    return transcript.session


class Client:
    """The official client of a server."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal, self._session = portal, session
        made = portal.call(session.initialize)
        self.capabilities, self.version = made.capabilities, made.server_info.version

    def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [tool.name for tool in self._portal.call(self._session.list_tools).tools]

    def ask(self, *calls: tuple[str, dict[str, Any]]) -> list[tuple[str, bool]]:
        """Return (text, failed) of each call of a tool."""
        answers = [self._portal.call(self._session.call_tool, *call) for call in calls]
        return [("".join(getattr(c, "text", "") for c in one.content), bool(one.is_error)) for one in answers]


@contextmanager
def running(**variables: str) -> Iterator[Client]:
    """Run a server in a process of its own until the block ends."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "webapp.entry", "mcp"],
        env={**os.environ, **variables},
        cwd=Path.cwd(),
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(stdio_client(server)) as (reading, writing),
        portal.wrap_async_context_manager(ClientSession(reading, writing)) as session,
    ):
        yield Client(portal, session)


@pytest.fixture(scope="class")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of one server for all tests of a class; each of them asks about other messages."""
    folder = tmp_path_factory.mktemp("mcp")
    with running(COPPICE_DB=str(folder / "c.db"), CLAUDE_CODE_SESSION_ID=stored(folder)) as client:
        yield client


def number_of(found: str) -> int:
    """Return the number of the first message that a search found."""
    return int(found.split(maxsplit=1)[0])


class TestTools:
    """The tools for the session that the server runs in."""

    def test_are_four_without_resources_or_prompts(self, tmp_path: Path) -> None:  # X21
        """Resources and prompts would add tools to the agent; listing needs no store."""
        with running(COPPICE_DB=str(tmp_path / "none" / "x.db")) as client:
            assert client.tools() == ["context_stats", "context_search", "context_restore", "context_pin"]
            assert (client.capabilities.resources, client.capabilities.prompts) == (None, None)

    def test_come_with_the_version_of_the_program(self, client: Client) -> None:  # X21
        """Agents list it beside the server's name."""
        assert client.version == version("coppice")

    def test_find_and_restore_a_pruned_message(self, client: Client) -> None:  # X21
        """Search and restore work without a server, and the message returns to the pruned view."""
        search = ("context_search", {"query": "quokka"})
        [(found, failed), (text, _), (again, _)] = client.ask(
            search, ("context_restore", {"number": DROPPED}), search
        )
        assert not failed
        assert "not in context" in found
        assert number_of(found) == DROPPED
        assert "the port is 8443, says the quokka" in text
        assert "not in context" not in again

    def test_restore_a_call_with_its_arguments(self, client: Client) -> None:  # X21
        """A message that only calls a tool has no text of its own."""
        [(found, _), (text, failed)] = client.ask(
            ("context_search", {"query": "step 4"}), ("context_restore", {"number": DROPPED_CALL})
        )
        assert number_of(found) == DROPPED_CALL
        assert not failed
        assert text.endswith('Bash {"command":"step 4"}')

    def test_show_the_status_and_pin(self, client: Client) -> None:  # X21
        """A pinned message stays after a prune."""
        [(stats, _), (pinned, _), (twice, _)] = client.ask(
            ("context_stats", {}), ("context_pin", {"number": 1}), ("context_pin", {"number": 1})
        )
        assert stats.startswith("42,020 of 200,000 tokens (21.0 %)")
        assert ", tool results " in stats
        assert "pinned" in pinned
        assert "pinned already" in twice

    def test_give_the_size_of_the_pruned_view(self, tmp_path: Path) -> None:  # X21
        """The agent's context stays as it was; a copy of the pruned view is smaller by what was dropped."""
        session = stored(tmp_path)
        with closing(ToolAnswers({})) as answers, pytest.MonkeyPatch.context() as patch:
            patch.setenv("COPPICE_DB", str(tmp_path / "c.db"))
            stats = answers.answer("context_stats", {"session": session})
        assert stats.startswith("42,020 of ")
        [pruned] = re.findall(r"Its pruned view takes ([\d,]+) tokens\.", stats)
        assert int(pruned.replace(",", "")) < 42_020

    def test_give_the_percent_of_the_page(self, tmp_path: Path) -> None:  # X21, B11
        """Only a full context is 100 % full; one without messages has no regions."""
        db = tmp_path / "full.db"
        app = build(Config(db=db, tokenizer=False, follow=False, env={}))
        app.new_sessions.create(id="full", model="gpt-5")
        app.ingest.append_messages("full", [{"role": "user", "content": "word " * 20_000}])
        app.sessions.patch("full", SessionChange(window=app.sessions.get("full").main.tokens + 1))
        app.new_sessions.create(id="none", model="gpt-5")
        app.close()
        with closing(ToolAnswers({})) as answers, pytest.MonkeyPatch.context() as patch:
            patch.setenv("COPPICE_DB", str(db))
            full, none = (answers.answer("context_stats", {"session": name}) for name in ("full", "none"))
        assert "tokens (99.9 %)" in full
        assert "Regions" not in none

    def test_answer_errors(self, client: Client) -> None:
        """An unknown message, session or tool gives an error answer, and the server continues."""
        [*answers, (_, failed)] = client.ask(
            ("context_pin", {"number": 9_999}), ("context_stats", {"session": "nobody"}), ("context_pin", {}),
            ("context_search", {}), ("context_grow", {}), ("context_stats", {}),
        )  # fmt: skip
        assert answers == [
            ("no such message: 9999", True),
            ("no such session: nobody", True),
            ("bad value for number; expected a whole number from 1, got nothing", True),
            ("bad value for query; expected a text, got nothing", True),
            ("no such tool: context_grow", True),
        ]
        assert not failed

    @pytest.mark.parametrize("value", ["abc", 0, 2**33 + 1, 2**70, 1.5, None, [], "9" * 5_000])
    def test_refuse_a_number_that_is_none(self, value: Any) -> None:
        """The answer names what is expected. Beyond 2**32 a number would be a message of another session."""
        with pytest.raises(Invalid, match="bad value for number; expected a whole number from 1") as refused:
            number_in({"number": value})
        assert str(refused.value).endswith(f"got {shown(value)}")

    def test_refuse_words_that_are_none(self, client: Client) -> None:
        """A query and a session are texts."""
        answers = client.ask(("context_search", {"query": 5}), ("context_stats", {"session": []}))
        assert [failed for _, failed in answers] == [True, True]
        assert all("expected a text" in text for text, _ in answers)

    @pytest.mark.parametrize("escape", [r"\ud83d", r"\uDE00", r"\ud83d\ud83d", r"\ud83d\ude00", r"\\ud83d"])
    def test_take_half_a_character(self, escape: str) -> None:
        """An agent in JavaScript sends half of a surrogate pair as an escape; the library drops such a line."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"query": "find HERE"}}
        line = json.dumps(call).replace("HERE", escape)
        message = types.jsonrpc_message_adapter.validate_json(with_whole_characters(line))
        assert isinstance(message, types.JSONRPCRequest)
        expected = (
            json.loads(f'"find {escape}"').encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
        assert (message.params or {})["query"] == expected

    @pytest.mark.parametrize("line", ["\\ud83d", "[" * 100_000 + r"\ud83d", r'{"a": "\ud83"}'])
    def test_leave_a_line_that_is_no_json(self, line: str) -> None:
        """The library drops it."""
        assert with_whole_characters(line) == line

    def test_find_the_session_by_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X21
        """If the agent names no session, it is the newest of the working directory."""
        stored(tmp_path)
        monkeypatch.setenv("COPPICE_DB", str(tmp_path / "c.db"))
        monkeypatch.chdir(tmp_path)
        with closing(ToolAnswers({})) as answers:
            stats = answers.answer("context_stats", {})
        assert "42,020" in stats

    def test_say_what_to_do_in_a_folder_without_sessions(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The agent can name a session of another folder."""
        stored(tmp_path)
        (tmp_path / "other").mkdir()
        monkeypatch.setenv("COPPICE_DB", str(tmp_path / "c.db"))
        monkeypatch.chdir(tmp_path / "other")
        with closing(ToolAnswers({})) as answers, pytest.raises(NotFound, match="name another in `session`"):
            answers.answer("context_stats", {})


class TestAFullDisk:
    """Output that cannot be written."""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
    def test_is_named_in_one_line(self) -> None:
        """The agent's log gets the reason, not a traceback."""
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "webapp.entry", "mcp"],
                input=json.dumps(request) + "\n",
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stderr) == (
            1,
            "coppice: could not answer the agent: No space left on device\n",
        )
