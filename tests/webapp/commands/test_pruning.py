"""`coppice prune`: a list of messages, shortened in the same format."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from scoring.formats import decode
from scoring.models import find_model
from scoring.tokens import estimate_message_tokens
from tests.webapp.commands.running import Run
from webapp.config import Config
from webapp.tokenizers import Tokenizers
from webapp.wiring import build

CHAT = [{"role": "system", "content": "Be brief."}] + [
    {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "word " * 300} for n in range(40)
]
# A picture of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ANTHROPIC_BODY = {
    "model": "claude-test",
    "max_tokens": 100,
    "system": "Be brief.",
    "messages": [
        message
        for n in range(20)
        for message in (
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"n": n}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"line {n}\n" * 300}],
            },
        )
    ],
}
ANTHROPIC_BODY["messages"].insert(0, {"role": "user", "content": "Read everything."})  # type: ignore[attr-defined]


def written(path: Path, value: Any) -> Path:
    """Write a file with a value as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class TestAList:
    """Message lists in any shape."""

    def test_comes_out_shorter_and_otherwise_unchanged(self, run: Run, tmp_path: Path) -> None:
        """The remaining messages are equal and in their order."""
        done = run("prune", written(tmp_path / "chat.json", CHAT), "--max-tokens", 4000)
        kept = json.loads(done.out)
        assert done.code == 0
        assert 0 < len(kept) < len(CHAT)
        assert [message for message in CHAT if message in kept] == kept

    def test_may_have_a_task_type(self, run: Run, tmp_path: Path) -> None:  # B18
        """The keywords of another type keep other messages, and an unknown type is refused."""
        said = ["the refund is confirmed", "a Traceback with errors", "plain words", "more plain words"]
        listed = [
            {"role": "user" if n % 2 == 0 else "assistant", "content": f"{said[n % 4]} {n} " + "word " * 60}
            for n in range(41)
        ]
        file = written(tmp_path / "x.json", listed)
        kept = {}
        for name in ("any", "support"):
            done = run("prune", file, "--max-tokens", 900, "--strategy", "score", "--task-type", name)
            assert done.code == 0
            kept[name] = [message["content"].split()[:2] for message in json.loads(done.out)]
        assert kept["any"].count(["a", "Traceback"]) > kept["support"].count(["a", "Traceback"])
        assert kept["support"].count(["the", "refund"]) > kept["any"].count(["the", "refund"])
        assert run("prune", file, "--task-type", "gardening").code == 2

    def test_may_be_summarised(self, run: Run, tmp_path: Path) -> None:  # S4, C2
        """One message replaces the oldest ones, and the report counts them."""
        done = run(
            "prune", written(tmp_path / "x.json", CHAT), "--max-tokens", 4000, "--strategy", "summarise"
        )
        assert done.code == 0
        assert done.out.count("[Summary: depth 1, ") == 1
        assert "31 dropped: covered by the summary" in done.err
        assert "tokens replaces what is summarised" in done.err

    @pytest.mark.parametrize("lines", [False, True])
    def test_may_have_half_a_surrogate_pair(self, run: Run, tmp_path: Path, lines: bool) -> None:
        """Half a surrogate pair becomes U+FFFD, in a list and in lines."""
        file = tmp_path / "x.json"
        cut = [{"role": "user", "content": "cut \ud83d"}, {"role": "assistant", "content": "yes"}]
        file.write_text("\n".join(map(json.dumps, cut)) if lines else json.dumps(cut))
        done = run("prune", file)
        assert (done.code, done.out.count("cut \ufffd")) == (0, 1)

    def test_that_fits_is_unchanged(self, run: Run, tmp_path: Path) -> None:
        """The report says that it fits."""
        done = run("prune", written(tmp_path / "chat.json", CHAT))
        assert json.loads(done.out) == CHAT
        assert "nothing is dropped" in done.err

    def test_in_a_request_body_keeps_the_body(self, run: Run, tmp_path: Path) -> None:
        """System prompt and other fields are kept, and calls keep their results."""
        done = run("prune", written(tmp_path / "body.json", ANTHROPIC_BODY), "--max-tokens", 3000)
        body = json.loads(done.out)
        assert {key: body[key] for key in ("model", "max_tokens", "system")} == {
            key: ANTHROPIC_BODY[key] for key in ("model", "max_tokens", "system")
        }
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
        assert calls == [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert 0 < len(calls) < 20

    def test_keeps_one_of_equal_outputs(self, run: Run, tmp_path: Path) -> None:  # X7
        """All calls stay, older equal outputs are cleared, and the report gives the reason."""
        text = json.dumps(ANTHROPIC_BODY)
        for n in range(20):
            text = text.replace(f"line {n}\\n", "line\\n")
        done = run("prune", written(tmp_path / "body.json", json.loads(text)), "--max-tokens", 3000)
        assert done.out.count('"tool_use"') == 20
        assert done.out.count("cleared: the same came again later") == 19
        assert "19 shortened: the same output again" in done.err

    def test_of_lines_stays_lines(self, run: Run, tmp_path: Path) -> None:
        """Each line is one message."""
        file = tmp_path / "chat.jsonl"
        file.write_text("".join(json.dumps(message) + "\n" for message in CHAT))
        lines = run("prune", file, "--max-tokens", 4000).out.splitlines()
        assert [json.loads(line) in CHAT for line in lines] == [True] * len(lines)

    def test_may_come_from_stdin_and_go_to_a_file(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The command works in a pipe, with a file as output."""
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(CHAT).encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        done = run("prune", "-", "--max-tokens", 4000, "-o", tmp_path / "out.json")
        assert done.out == ""
        assert len(json.loads((tmp_path / "out.json").read_text())) < len(CHAT)

    def test_goes_to_stdout_under_the_name_of_a_dash(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No file of this name appears: `-` is stdout as it is stdin."""
        monkeypatch.chdir(tmp_path)
        file = written(tmp_path / "chat.json", CHAT)
        assert json.loads(run("prune", file, "-o", "-").out)
        assert not Path("-").exists()

    def test_is_only_reported_in_a_dry_run(self, run: Run, tmp_path: Path) -> None:
        """The report has the tokens before and after, and the reasons."""
        done = run("prune", written(tmp_path / "chat.json", CHAT), "--max-tokens", 4000, "--dry-run")
        assert done.out == ""
        assert "openai: 41 messages" in done.err
        assert " dropped: " in done.err

    @pytest.mark.parametrize("model", ["gpt-5", "claude-opus-4-5", "claude-opus-5", "gemini-2.5-flash"])
    def test_has_the_tokens_of_a_session_of_the_model(
        self, run: Run, tmp_path: Path, db: Path, model: str
    ) -> None:  # S11, B13
        """A limit in tokens of the model would otherwise be exceeded by the half where it counts more of them."""
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        chat = [*CHAT, {"role": "user", "content": [{"type": "text", "text": "see"}, image]}]
        app = build(Config(db=db, follow=False, env={}))
        app.new_sessions.create(id="s", model=model)
        app.ingest.append_messages("s", chat)
        tokens = app.sessions.get("s").pruned.tokens
        app.close()
        limits = ("--max-tokens", 10**9, "--dry-run", "--model", model)
        assert f" {tokens:,} tokens -> " in run("prune", written(tmp_path / "chat.json", chat), *limits).err

    def test_that_cannot_fit_is_reported(self, run: Run, tmp_path: Path) -> None:  # B7
        """Protected messages stay, and the report has the numbers."""
        done = run("prune", written(tmp_path / "chat.json", CHAT), "--max-tokens", 1, "--dry-run")
        assert "over budget" in done.err


class TestTheReport:
    """The report on stderr."""

    def test_has_the_tokens_of_the_written_list(self, run: Run, tmp_path: Path) -> None:  # B7, X7
        """The written list has exactly the reported tokens, even with shortened outputs."""
        file, out = tmp_path / "body.json", tmp_path / "out.json"
        rows = "\n".join(f"row {n} of {'数据库 ' * (n % 9)} in file_{n}.py" for n in range(300))
        body = json.loads(json.dumps(ANTHROPIC_BODY).replace("line 7\\n" * 300, json.dumps(rows)[1:-1]))
        done_so_far = {"role": "assistant", "content": "All is read."}
        body["messages"] += [done_so_far, {"role": "user", "content": "What is in file_7.py?"}]
        written(file, body)
        counter = Tokenizers().counter(find_model("default").encoding)
        cut = 0
        for budget in range(1_000, 6_000, 500):
            done = run("prune", file, "--max-tokens", budget, "-o", out)
            said = re.search(r"-> .* messages, ([\d,]+) tokens \(at most", done.err)
            messages = decode(json.loads(out.read_text())).messages
            assert said is not None
            final = int(said[1].replace(",", ""))
            assert final == sum(estimate_message_tokens(m, counter) for m in messages) <= budget
            cut += "shortened" in done.err
        assert cut


class TestBadInput:
    """Invalid input: one line with the place, and the code 2."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "list.json is empty; expected a list of messages"),
            (b"{", "line 1"),
            (b'[{"role": "user", "content": "x"},\n oops]', "line 2"),
            (b'{"role": "user", "content": "a"}\n{"role": oops}\n', "line 2"),
            (b"\xff\xfe\x00\x01", "line 1"),
            (b"[" * 100_000, "line 1"),
            (b"[]", "no"),
            (b'"text"', "unknown message format"),
            (b'[{"role": "wizard", "content": "x"}]', "unknown message format"),
        ],
        ids=lambda value: repr(value[:12]),
    )
    def test_is_refused_with_its_place(self, run: Run, tmp_path: Path, content: bytes, words: str) -> None:
        """There is no traceback, and nothing on stdout."""
        file = tmp_path / "list.json"
        file.write_bytes(content)
        done = run("prune", file)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert done.err.count("\n") == 1

    def test_in_the_name_of_a_model_is_noted(self, run: Run, tmp_path: Path) -> None:
        """The window is then an assumption; with `--max-tokens` it does not count."""
        note = "model gtp-5.1 is not in the table: a window of 100,000 tokens is assumed"
        file = written(tmp_path / "chat.json", CHAT)
        assert note in run("prune", file, "--model", "gtp-5.1").err
        for options in (("--model", "gtp-5.1", "--max-tokens", "900"), ("--model", "gpt-5.1"), ()):
            assert "assumed" not in run("prune", file, *options).err

    @pytest.mark.parametrize(
        "option",
        [("--strategy", "luck"), ("--format", "morse"), ("--max-tokens", "-1"), ("--max-tokens", "x")],
    )
    def test_in_an_option_is_refused(self, run: Run, tmp_path: Path, option: tuple[str, str]) -> None:
        """The error lists the allowed values."""
        done = run("prune", written(tmp_path / "chat.json", CHAT), *option)
        assert (done.code, done.err.count("\n")) == (2, 1)
