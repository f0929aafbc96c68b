"""The client for agents, against a real server; and that it needs nothing of the server's."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers import Server, running_server
from tests.shared import ROOT
from tests.webapp import promises
from webapp.client import WRITING_SECONDS, ApiError, Coppice, as_json

TALK = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " * 300} for n in range(60)]


@pytest.fixture
def coppice(live_server: Server) -> Iterator[Coppice]:
    """A client of a session that does not exist yet."""
    with Coppice(live_server.url, session="my agent/1", model="gpt-5") as made:
        yield made


class TestAnAgent:
    """An agent's calls in one turn."""

    def test_makes_its_session_by_appending(self, live_server: Server) -> None:
        """The session has the model that the agent named."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            answer = coppice.append(TALK[:2])
        assert answer["added"] == 2
        assert live_server.app.sessions.get("new").model == "gpt-5"

    def test_gets_its_context_back(self, live_server: Server) -> None:  # X13
        """The messages are the same, in their own format."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK[:3])
            assert coppice.context() == TALK[:3]

    def test_prunes_what_it_was_shown_and_takes_it_back(self, live_server: Server) -> None:  # X1, X2, X13
        """Plan, prune, undo: the context shrinks and is whole again."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK)
            plan = coppice.plan(max_tokens=15_000)
            applied = coppice.prune(plan["plan_id"])
            shorter = coppice.context()
            undone = coppice.undo()
            assert applied["operation"]["messages"] == plan["removed_count"]
            assert len(shorter) == len(TALK) - plan["removed_count"]
            assert undone["undone"] == [applied["operation"]["n"]]
            assert coppice.context() == TALK

    def test_pins_a_message(self, live_server: Server) -> None:  # X5
        """The pin can be removed."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            [first, *_] = coppice.append(TALK)["ids"]
            coppice.pin(first)
            assert TALK[0] in coppice.context()
            pinned = live_server.app.messages.one("new", first).pinned
            coppice.unpin(first)
            assert (pinned, live_server.app.messages.one("new", first).pinned) == (True, False)

    def test_asks_how_full_it_is(self, live_server: Server) -> None:  # X16
        """The answer has the time of the request."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK)
            stats = coppice.stats()
        assert stats["items"] == len(TALK)
        assert stats["as_of"].endswith("Z")

    def test_says_what_is_cut_in_half(self, live_server: Server) -> None:
        """Half a character reaches the server and becomes U+FFFD there."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append([{"role": "user", "content": "cut \ud83d"}])
            assert coppice.context()[0]["content"] == "cut \ufffd"

    def test_may_send_the_same_twice(self, live_server: Server) -> None:
        """A key makes the second sending the first one's answer."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.create()
            first = coppice.append(TALK[:2], idempotency_key="turn 1")
            assert coppice.append(TALK[:2], idempotency_key="turn 1") == first
            assert coppice.stats()["items"] == 2

    def test_makes_its_session_once(self, live_server: Server) -> None:
        """A second making gives the one there is."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            assert coppice.create()["id"] == coppice.create()["id"] == "new"


class TestTheReadme:
    """The README's example works."""

    def test_shows_an_agent_s_turn(self, live_server: Server) -> None:  # X13
        """The address is that of this test's server."""
        blocks = (ROOT / "README.md").read_text("utf-8").split("```python\n")[1:]
        [code] = [block.partition("```")[0] for block in blocks if "webapp.client" in block]
        found: dict[str, Any] = {}
        exec(code.replace("http://127.0.0.1:5000", live_server.url), found)  # our own words
        assert found["messages"][0]["role"] == "user"


class TestFailures:
    """Errors repeat the server's message."""

    def test_carry_status_type_and_details(self, live_server: Server) -> None:
        """The fields of the answer are attributes of the error."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.create()
            with pytest.raises(ApiError) as caught:
                coppice.plan(max_tokens=-1)
        assert (caught.value.status, caught.value.type) == (422, "invalid")
        assert caught.value.details[0]["field"] == "max_tokens"

    def test_of_a_stale_plan_are_conflicts(self, live_server: Server) -> None:  # X1
        """A plan made for an older state is refused, not guessed at."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK)
            plan = coppice.plan(max_tokens=15_000)
            coppice.append(TALK[:1])
            with pytest.raises(ApiError) as caught:
                coppice.prune(plan["plan_id"])
        assert (caught.value.status, caught.value.type) == (409, "stale_plan")

    def test_of_a_name_that_is_no_id_are_told(self, coppice: Coppice) -> None:
        """A session's id has no blanks and no slashes."""
        with pytest.raises(ApiError):
            coppice.append(TALK[:1])

    def test_without_a_server_say_so(self) -> None:
        """The error names the command that starts it."""
        with Coppice("http://127.0.0.1:9", session="x") as coppice, pytest.raises(ApiError) as caught:
            coppice.stats()
        assert caught.value.status == 0
        assert "coppice serve" in str(caught.value)

    def test_of_something_else_at_that_address_are_no_riddle(self) -> None:
        """Any other program that answers there is reported clearly."""
        http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(502, text="<html>")))
        with Coppice(session="x", http=http) as coppice, pytest.raises(ApiError) as caught:
            coppice.stats()
        assert (caught.value.status, caught.value.type) == (502, "unexpected")

    def test_of_an_answer_that_is_none_of_ours_are_no_riddle(self) -> None:
        """A page, where the server should be."""
        http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, text="<html>")))
        with Coppice(session="x", http=http) as coppice, pytest.raises(ApiError) as caught:
            coppice.stats()
        assert (caught.value.status, caught.value.type) == (200, "unexpected")

    def test_of_nothing_to_undo_are_conflicts(self, live_server: Server) -> None:
        """The error is the one that the server would return."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.create()
            with pytest.raises(ApiError) as caught:
                coppice.undo()
        assert caught.value.status == 409


class TestTheModule:
    """Light enough for any agent."""

    def test_needs_nothing_of_the_server(self) -> None:
        """Importing it loads neither Flask nor the store nor the scoring."""
        heavy = ("flask", "socketio", "sqlite_utils", "tiktoken", "pydantic", "scoring")
        code = f"import sys; import webapp.client; print([name for name in {heavy} if name in sys.modules])"
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert found.stdout.strip() == "[]"

    def test_sends_a_token_where_one_is_set(self) -> None:
        """The token is sent as a bearer token."""
        seen: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request.headers["Authorization"])
            return httpx.Response(200, json={})

        with Coppice(
            session="x", token="secret", http=httpx.Client(transport=httpx.MockTransport(answer))
        ) as coppice:
            coppice.stats()
        assert seen == ["Bearer secret"]

    def test_sends_a_token_with_any_letters(self, tmp_path: Path) -> None:
        """The server knows it again."""
        with (
            running_server(tmp_path, tokenizer=False, token="schlüssel ✓") as server,
            Coppice(server.url, session="x", token="schlüssel ✓") as coppice,
        ):
            assert coppice.create()["id"] == "x"

    def test_leaves_plain_data_alone(self) -> None:
        """Lists and dicts all the way down."""
        value = {"role": "user", "content": [{"type": "text", "text": "x", "n": None}]}
        assert as_json(value) == value

    def test_waits_longer_for_a_prune_that_a_model_may_write(self) -> None:
        """Other requests use the timeout of the given HTTP client."""
        waited: list[float] = []

        def answer(request: httpx.Request) -> httpx.Response:
            waited.append(request.extensions["timeout"]["read"])
            return httpx.Response(200, json={})

        http = httpx.Client(transport=httpx.MockTransport(answer), timeout=7)
        with Coppice(session="x", http=http) as coppice:
            coppice.prune(strategy="summarise")
            coppice.plan()
        assert waited == [WRITING_SECONDS, 7]


class TestWholeLists:
    """`sync`: a program that keeps its list itself."""

    def test_add_only_what_is_new(self, live_server: Server) -> None:
        """The whole list can be sent any number of times, by any client."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            assert coppice.sync(TALK[:4])["added"] == 4
            assert coppice.sync(TALK[:4])["added"] == 0
            assert coppice.sync(TALK[:6])["added"] == 2
        with Coppice(live_server.url, session="new", model="gpt-5") as another:
            assert another.sync(TALK[:8])["added"] == 2
            assert another.context() == TALK[:8]

    def test_that_were_edited_go_on_from_what_they_share(self, live_server: Server) -> None:
        """The edit makes a branch; the log keeps the other end."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.create(system="Be brief.")
            coppice.sync(TALK[:4])
            edited = [*TALK[:2], {"role": "user", "content": "something else"}]
            prompt = {"role": "system", "content": "Be brief."}
            assert coppice.sync(edited)["added"] == 1
            assert coppice.context() == [prompt, *edited]
            assert coppice.sync(TALK[:4])["added"] == 0
            assert coppice.context() == [prompt, *TALK[:4]]
            assert coppice.messages(limit=1)["total"] == 6

    def test_agree_with_what_was_appended(self, live_server: Server) -> None:
        """One client may do both."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK[:3])
            assert coppice.sync(TALK[:5])["added"] == 2
            assert coppice.context() == TALK[:5]


class Answers:
    """A server that gives these answers in turn, and counts the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.left, self.asked = list(answers), list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Return the next answer, or raise it."""
        self.asked.append(request)
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


BUSY = httpx.Response(503, headers={"Retry-After": "0"})


def client_of(answers: Answers) -> Coppice:
    """Return a client of such a server."""
    return Coppice(session="x", http=httpx.Client(transport=httpx.MockTransport(answers)))


class TestTries:
    """Requests that are sent again."""

    def test_follow_what_the_server_did_not_take(self) -> None:
        """The server says how long to wait."""
        answers = Answers(BUSY, BUSY, httpx.Response(200, json={"undone": [1]}))
        with client_of(answers) as coppice:
            assert coppice.undo(1) == {"undone": [1]}
        assert len(answers.asked) == 3

    def test_wait_as_long_as_the_server_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its seconds count, up to ten; without them the pauses grow."""
        pauses: list[float] = []
        monkeypatch.setattr("webapp.client.time.sleep", pauses.append)
        busy = [
            httpx.Response(429, headers={"Retry-After": after} if after else {}) for after in ("2", "99", "")
        ]
        with client_of(Answers(*busy, httpx.Response(200, json={"undone": [1]}))) as coppice:
            coppice.undo(1)
        assert pauses == [2, 10, 1.8]

    def test_end_with_the_server_s_word(self) -> None:
        """There are at most four tries."""
        answers = Answers(BUSY, BUSY, BUSY, BUSY)
        with client_of(answers) as coppice, pytest.raises(ApiError) as caught:
            coppice.stats()
        assert caught.value.status == 503

    def test_of_an_append_carry_one_key(self) -> None:
        """The append is stored once, however often it was sent."""
        answers = Answers(httpx.ReadError("cut"), httpx.Response(200, json={"added": 1}))
        with client_of(answers) as coppice:
            coppice.append(TALK[:1])
        assert len(answers.asked) == 2
        assert answers.asked[0].content == answers.asked[1].content

    def test_are_not_made_of_what_would_be_done_twice(self) -> None:
        """A prune that the connection broke under may have happened."""
        answers = Answers(httpx.ReadError("cut"))
        with client_of(answers) as coppice, pytest.raises(ApiError):
            coppice.prune()
        assert len(answers.asked) == 1


class TestEverything:
    """The other API calls of a session."""

    def test_drops_restores_and_looks(self, live_server: Server) -> None:
        """Messages are named by id."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            first, *_ = coppice.append(TALK[:6])["ids"]
            coppice.drop(first)
            assert TALK[0] not in coppice.context()
            coppice.restore(first)
            assert coppice.context() == TALK[:6]
            assert coppice.message(first)["id"] == first
            assert len(coppice.messages(limit=2)["messages"]) == 2
            assert {one["kind"] for one in coppice.operations()} == {"drop", "restore"}

    def test_summarises_and_takes_it_apart(self, live_server: Server) -> None:
        """The built-in summary, where no model is configured."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append(TALK)
            coppice.summarize()
            [summary] = coppice.summaries()
            coppice.expand(summary["id"])
            assert coppice.context() == TALK
            coppice.overflow()

    def test_waits_for_a_summary_that_a_model_writes(self) -> None:
        """Without a word about it the server answers before such a summary is written."""
        answers = Answers(httpx.Response(200, json={}))
        with client_of(answers) as coppice:
            coppice.summarize()
        assert json.loads(answers.asked[0].content) == {"wait": True}

    def test_remembers_and_finds(self, live_server: Server) -> None:
        """Memories are found across sessions."""
        with Coppice(live_server.url, session="new", model="gpt-5") as coppice:
            coppice.append([{"role": "user", "content": "the parcel is orange"}])
            kept = coppice.remember("parcels are orange")
            assert [one["text"] for one in coppice.memories("parcels")] == ["parcels are orange"]
            assert "parcel" in str(coppice.search("orange"))
            coppice.forget(kept["id"])
            assert coppice.memories() == []


# Type of a method's parameter -> a value for it.
VALUES: dict[str, Any] = {"str": "words", "int": 1, "int | None": 1, "Sequence[Any]": []}


class TestReach:
    """The client against the document of the API."""

    def test_has_a_method_for_every_route_of_a_session_and_call_for_the_rest(self) -> None:  # X13
        """Each request that a method makes is one of the document's."""
        document = promises.document()
        asked: set[tuple[str, str]] = set()

        def answer(request: httpx.Request) -> httpx.Response:
            asked.add((request.method, template(document, request.method, request.url.path)))
            return httpx.Response(200, json={**lists_of(document), "envelope": {}, "key": "messages"})

        with Coppice(
            "http://server", session="s", http=httpx.Client(transport=httpx.MockTransport(answer))
        ) as coppice:
            for name, method in inspect.getmembers(coppice, inspect.ismethod):
                if name.startswith("_") or name in ("call", "close"):
                    continue
                method(**{one.name: VALUES[one.annotation] for one in needed_by(method)})
            every = {(verb.upper(), path) for path, verbs in document["paths"].items() for verb in verbs}
            of_sessions = {one for one in every if one[1].startswith("/api/sessions")}
            assert not of_sessions - asked, "no method of webapp/client.py asks for these"
            for verb, path in every - asked:
                coppice.call(verb, re.sub(r"{\w+}", "1", path.removeprefix("/api")))
        assert asked == every


def needed_by(method: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters without a default, and the number of an operation."""
    parameters = inspect.signature(method).parameters.values()
    named = [one for one in parameters if one.kind is not one.VAR_KEYWORD]
    return [one for one in named if one.default is one.empty or one.name == "n"]


def lists_of(document: dict[str, Any]) -> dict[str, list[Any]]:
    """Return an empty list for every field of an answer that is a list."""
    fields = (
        one for s in document["components"]["schemas"].values() for one in s.get("properties", {}).items()
    )
    return {name: [] for name, schema in fields if schema.get("type") == "array"}


def template(document: dict[str, Any], method: str, path: str) -> str:
    """Return the path of the document that a request is for."""
    for known, verbs in sorted(document["paths"].items(), key=lambda item: item[0].count("{")):
        pattern = re.sub(r"{\w+}", "[^/]+", known)
        if re.fullmatch(pattern, path) and method.lower() in verbs:
            return str(known)
    raise AssertionError(f"no such route: {method} {path}")
