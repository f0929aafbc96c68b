"""Import, export, search and demo, over HTTP."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.building import managed, wire
from tests.webapp.promises import Client
from webapp.app import App
from webapp.bus import Bus
from webapp.errors import DamagedStore
from webapp.events import ImportProgressed
from webapp.routes.api.transfer import Progress, disposition

CHAT = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


def upload(client: Client, *files: tuple[str, bytes], **fields: str) -> Any:
    """Send files as a form."""
    data = {**fields, "file": [(io.BytesIO(content), name) for name, content in files]}
    return client.post("/api/import", data=data, content_type="multipart/form-data")


class TestImporting:
    """POST /api/import."""

    def test_accepts_a_file_of_a_form(self, client: Client) -> None:
        """A second import adds nothing."""
        first = upload(client, ("chat.json", json.dumps(CHAT).encode())).json["imported"][0]
        again = upload(client, ("chat.json", json.dumps(CHAT).encode())).json["imported"][0]
        assert (first["added"], again["added"], again["known"]) == (2, 0, 2)
        assert first["session_id"] == again["session_id"]

    @pytest.mark.parametrize("content", [CHAT, json.dumps(CHAT), {"model": "gpt-5", "messages": CHAT}])
    def test_accepts_a_file_in_json(self, client: Client, content: Any) -> None:
        """The file is given as text or as its value."""
        answer = client.post("/api/import", json={"name": "chat.json", "content": content})
        assert answer.json["imported"][0]["added"] == 2

    def test_imports_the_readable_ones_of_several_files(self, client: Client) -> None:
        """The answer lists the unreadable files with the reasons."""
        answer = upload(client, ("a.bin", b"\x00\x01"), ("chat.json", json.dumps(CHAT).encode())).json
        imported = {one["title"]: one for one in answer["imported"]}
        assert imported["a.bin"]["problems"]
        assert sum(one["added"] for one in answer["imported"]) == 2

    def test_accepts_a_list_in_json_with_half_a_character(self, client: Client) -> None:
        """The result is the same as for a file."""
        data = b'{"content": [{"role": "user", "content": "cut \\ud83d"}]}'
        answer = client.post("/api/import", data=data, content_type="application/json")
        assert answer.json["imported"][0]["added"] == 1

    @pytest.mark.parametrize(
        ("content", "status"),
        [
            (b"", 400),
            (b"\x00\x01\x02" * 50, 400),
            (b"[" * 100_000, 400),
            ('[{"role":"ü"}]'.encode("latin-1"), 400),
        ],
        ids=["empty", "binary", "deep", "latin-1"],
    )
    def test_refuses_an_unreadable_file(self, client: Client, content: bytes, status: int) -> None:
        """The error names the file, and nothing is stored."""
        answer = upload(client, ("x.json", content))
        assert answer.status_code in (status, 422)
        assert "x.json" in answer.json["error"]["message"]
        assert client.get("/api/sessions").json["sessions"] == []

    @pytest.mark.parametrize(
        ("kwargs", "status"),
        [
            ({"data": b"x", "content_type": "text/plain"}, 415),
            ({"data": b"x"}, 415),
            ({"data": {"format": "auto"}, "content_type": "multipart/form-data"}, 400),
            ({"json": {"name": "x"}}, 422),
            ({"json": {"content": 5}}, 422),
            ({"data": b"--", "content_type": "multipart/form-data"}, 400),
        ],
    )
    def test_refuses_a_request_without_a_file(
        self, client: Client, kwargs: dict[str, Any], status: int
    ) -> None:
        """The type may be wrong, or the file missing."""
        assert client.post("/api/import", **kwargs).status_code == status

    def test_accepts_real_transcripts(self, client: Client, transcripts: Path) -> None:
        """A rollout of Codex is imported."""
        file = next((transcripts / "codex").rglob("*.jsonl"))
        [imported] = upload(client, (file.name, file.read_bytes())).json["imported"]
        assert imported["source"] == "codex"
        assert imported["added"] > 0


@pytest.mark.usefixtures("ids")
class TestExporting:
    """GET …/export."""

    def test_gives_a_file_that_can_be_imported(self, client: Client) -> None:  # S1
        """An import after deleting restores all messages, even pruned ones."""
        client.post("/api/sessions/a/prune", json={"max_tokens": 8000})
        before = client.get("/api/sessions/a/context").json["messages"]
        file = client.get("/api/sessions/a/export")
        content = file.data  # read the streamed answer before the session is deleted
        assert "attachment" in file.headers["Content-Disposition"]
        client.delete("/api/sessions/a?confirm=a")
        upload(client, ("a.jsonl", content))
        assert client.get("/api/sessions/a").json["messages"] == 40
        assert client.get("/api/sessions/a/context").json["messages"] == before

    @pytest.mark.parametrize(
        ("name", "status"), [("openai", 200), ("gemini", 200), ("morse", 422), ("codex", 422)]
    )
    def test_refuses_unsuitable_formats(self, client: Client, name: str, status: int) -> None:
        """Formats that do not fit the session are refused."""
        assert client.get(f"/api/sessions/a/export?format={name}").status_code in (status, 409)

    def test_fails_before_the_answer_begins(
        self, client: Client, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # S1
        """Damage in the middle of a session gives an error, not a truncated file."""

        def torn(_: Any) -> Iterator[dict[str, Any]]:
            yield {"type": "session"}
            raise DamagedStore("pages are gone")

        managed(app, wire("user", "one"), id="s")
        monkeypatch.setattr(app.store.dump, "records", torn)
        answer = client.get("/api/sessions/s/export")
        assert (answer.status_code, answer.json["error"]["type"]) == (503, "store_damaged")

    def test_can_name_a_file_in_any_script(self) -> None:
        """The name is encoded, with an ASCII form, and cannot break the header."""
        header = disposition('naïve "name"\r\nX: 1.json')
        assert "\r" not in header
        assert "filename*=UTF-8''na%C3%AFve" in header


@pytest.mark.usefixtures("ids")
class TestSearching:
    """GET /api/search."""

    def test_finds_messages_and_pruned_ones(self, client: Client) -> None:  # X14
        """Each result has a snippet."""
        client.post("/api/sessions/a/prune", json={"max_tokens": 8000})
        found = client.get("/api/search?q=word&session=a").json["results"]
        assert found

    @pytest.mark.parametrize(
        ("until", "status"),
        [
            ("2100-01-01", 200),
            ("2100-01-01T00:00:00.000Z", 200),
            ("2100-01-01T10:00", 422),
            ("2100-01-01T00:00:00", 422),
            ("4102444800", 422),
            ("2026", 422),
            ("soon", 422),
        ],
    )
    def test_takes_days_and_moments(self, client: Client, until: str, status: int) -> None:  # X14
        """A moment needs its time zone."""
        answer = client.get(f"/api/search?q=word&until={until}")
        assert answer.status_code == status

    @pytest.mark.parametrize("q", ['"', "AND OR NOT", "a*b(", "%00", "NEAR(", "x" * 500])
    def test_accepts_any_words(self, client: Client, q: str) -> None:
        """Operators of the search language are treated as words."""
        assert client.get(f"/api/search?q={q}").status_code == 200


class TestTheDemo:
    """POST /api/demo."""

    def test_starts_one_session(self, client: Client) -> None:
        """Further requests start no other session."""
        first, second = (client.post("/api/demo") for _ in range(2))
        assert first.status_code == 201
        assert first.json["id"] == second.json["id"]


class TestProgress:
    """The progress of an import, sent to pages."""

    def test_is_sent_a_few_times_a_second(self) -> None:
        """The rate does not depend on the number of blocks, and a short import sends none."""
        events: list[Any] = []
        now = [0.0]
        bus = Bus()
        bus.subscribe(events.append)
        progress = Progress(bus, "a.jsonl", lambda: now[0])
        for n in range(100):
            now[0] = n * 0.01
            progress(n, 100)
        assert events == [ImportProgressed("a.jsonl", n, 100) for n in (25, 50, 75)]
