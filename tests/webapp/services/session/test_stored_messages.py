"""Stored features and entries, read in bulk."""

from __future__ import annotations

import orjson

from scoring.history import Features, analyse
from scoring.settings import lexicon_of
from tests.webapp.building import call, followed, result, user
from webapp.app import App
from webapp.services.session.stored_messages import read_features, whole


class TestReadFeatures:
    """Reading stored features."""

    def test_restores_the_features(self) -> None:
        """Features of texts, calls and results are read as they were stored."""
        lexicon = lexicon_of(())
        messages = (user("see a/b.py"), call("c"), result("c", "x = 1\ny = 2"))
        found = [analyse(message, 7, lexicon, content=True) for message in messages]
        texts = [orjson.dumps(one.to_dict()).decode() for one in found]
        assert list(read_features(texts)) == found

    def test_ignores_fields_of_another_version(self) -> None:
        """An unknown field is no error."""
        assert list(read_features(['{"role": "user", "tokens": 3, "mood": "fine"}'])) == [Features("user", 3)]


class TestAWholeMessage:
    """A message assembled from its entries."""

    def test_has_their_parts_in_order(self, app: App) -> None:
        """The parts of several rows form one message."""
        followed(app, user("go"), call("c"), result("c", "done"))
        row = app.store.sessions.get("s")
        entries = app.store.log.rows_of(row.key, [1, 2])
        both = whole("assistant", [*entries[1], *entries[2]])
        assert both.role == "assistant"
        assert both.parts == (*user("go").parts, *call("c").parts)
