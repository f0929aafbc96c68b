"""The generated pages say what the code says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from scoring.formats import FORMATS
from scripts.document_edges import EXAMPLES, PAGES, api_page, cli_page, events_page
from tests.shared import ROOT
from webapp.commands.cli import COMMANDS
from webapp.commands.hooking import hooks
from webapp.commands.retention import retention
from webapp.commands.tokens import token
from webapp.live.notices import NOTICES
from webapp.routes.api import routes
from webapp.routes.api.context import get_context
from webapp.routes.api.transfer import export_session


class TestThePages:
    """docs/api.md, docs/events.md and docs/cli.md."""

    @pytest.mark.parametrize("name", PAGES)
    def test_are_not_stale(self, name: str) -> None:
        """`make docs` rewrites them."""
        assert (ROOT / name).read_text("utf-8") == PAGES[name](), f"{name} is stale; run `make docs`"

    def test_name_every_route(self) -> None:
        """The route table is the document."""
        page = api_page()
        assert all(f"`{route.method} /api" in page and route.summary in page for route in routes())

    def test_show_an_example_of_every_answer(self) -> None:
        """Only answers to agents, to the proxy and to programs that push sessions have none."""
        _, _, answers = api_page().partition("## Answers")
        sections = {text.partition("\n")[0]: text for text in answers.split("\n### ")}
        named = {route.answers.__name__ for route in routes() if route.answers is not None}
        without = {name for name in named if "```js" not in sections[name]}
        hint = "add a request to SENT of scripts/api_examples.py"
        assert without == {"Pushed", "Resumed", "StoredPositions", "TakenCall"}, hint

    def test_name_types_in_plain_words(self) -> None:
        """Whole, whatever bounds they have and whether they may be left out."""
        page = api_page()
        assert "| `idempotency_key` | string or null, optional |" in page
        assert "| `drop` | array of string or null, optional |" in page
        assert "| `window` | integer |" in page
        assert "| `settings` | [Settings](#settings-1) |" in page

    def test_link_to_the_section_that_they_name(self) -> None:
        """GitHub numbers repeated headings: a part of the API and an answer can have one name."""
        page, seen = api_page(), Counter[str]()
        anchors: dict[str, str] = {}
        for heading in re.findall(r"^#+ (\w+)$", page, re.MULTILINE):
            anchor = heading.lower()
            anchors[f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor] = heading
            seen[anchor] += 1
        before_answers = page.index("## Bodies")
        sections = set(re.findall(r"^## (\w+)$", page[:before_answers], re.MULTILINE))
        assert sections <= set(anchors.values())
        for name, anchor in re.findall(r"\[(\w+)\]\(#([\w-]+)\)", page):
            assert anchors[anchor] == name
            assert name not in sections or anchor.endswith("-1")

    @pytest.mark.parametrize("name", FORMATS)
    def test_name_every_wire_format(self, name: str) -> None:
        """They are written by hand, in the words of the two routes and in the page of the formats."""
        assert f"| `{name}` |" in (ROOT / "docs" / "formats.md").read_text("utf-8")
        assert all(re.search(rf"\b{name}\b", str(route.__doc__)) for route in (get_context, export_session))

    def test_name_every_event(self) -> None:
        """Each event has its example, too."""
        assert {type(one) for one in EXAMPLES} == set(NOTICES)
        assert all(f"### {event.__name__}" in events_page() for event in NOTICES)

    def test_name_every_command(self) -> None:
        """With its help, and those of a group below it."""
        page = cli_page()
        assert all(f"\n## coppice {name}\n" in page for name in COMMANDS)
        for group in (hooks, retention, token):
            assert all(f"\n### coppice {group.name} {name}\n" in page for name in group.commands)
