"""The page that lists the tests of each requirement, and the reader that collects them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import conformance
from tests.shared import ROOT

REQUIREMENTS = '[B]\ntitle = "Pruning"\nB1 = "four signals"\nB2 = "recency"\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with two requirements and no tests."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.toml").write_text(REQUIREMENTS)
    (tmp_path / "tests" / "js").mkdir(parents=True)
    return tmp_path


class TestThePage:
    """docs/conformance.md."""

    def test_is_what_the_tests_say(self) -> None:
        """The page is not stale; `make docs` rewrites it."""
        committed = (ROOT / conformance.PAGE).read_text(encoding="utf-8")
        assert committed == conformance.page(ROOT), "docs/conformance.md is stale; run `make docs`"

    def test_names_each_test_under_what_it_proves(self, tree: Path) -> None:
        """A requirement lists its tests, those of a file in one line, and says when it has none."""
        (tree / "tests" / "test_a.py").write_text(
            "class TestA:\n    def test_it_works(self):  # B1\n        pass\n\ndef test_is_fast():  # B1\n    pass\n"
        )
        text = conformance.page(tree)
        line = "- [tests/test_a.py](../tests/test_a.py): test is fast; TestA.test it works"
        assert f"### B1: four signals\n\n{line}\n" in text
        assert "### B2: recency\n\nNo test yet.\n" in text
        assert conformance.missing(tree) == ["B2"]

    def test_is_refused_for_an_id_that_is_no_requirement(self, tree: Path) -> None:
        """A mistyped id is reported with the test that names it."""
        (tree / "tests" / "test_a.py").write_text("def test_it():  # B12\n    pass\n")
        with pytest.raises(conformance.UnknownRequirementError, match=r"B12 is not in .*test_a\.py"):
            conformance.page(tree)


class TestTheReader:
    """The ids that a test's comment names."""

    @pytest.mark.parametrize(
        ("comment", "ids"),
        [
            ("# B3", ["B3"]),
            ("# B1-B3, X2", ["B1", "B2", "B3", "X2"]),
            ("# B9-11", ["B9", "B10", "B11"]),
            ("// S7: the line of tokens", ["S7"]),
            ("# noqa: B904", []),
            ("# B3lieve", []),
            ("# see B3", []),
        ],
    )
    def test_a_comment_begins_with_its_ids(self, comment: str, ids: list[str]) -> None:
        """Ids come first, one, several or a range; other comments name none."""
        assert conformance.ids_in(comment) == ids

    def test_a_long_signature_may_end_with_the_ids(self) -> None:
        """The comment may stand on any line before the body."""
        text = "def test_long(\n    a,\n    b,\n) -> None:  # B2\n    pass\n"
        assert list(conformance.python_tests(text)) == [("test_long", ["B2"])]

    def test_only_tests_prove_anything(self) -> None:
        """A comment in a body, or on a function that is no test, names nothing."""
        text = "def build():  # B1\n    pass\n\ndef test_it():\n    pass  # B2\n"
        assert list(conformance.python_tests(text)) == []

    def test_javascript_tests_count_too(self) -> None:
        """A test in JavaScript is known by its sentence."""
        text = 'test("a bar is full at its limit", () => { // X10\n});\ntest("other", () => {});\n'
        assert list(conformance.js_tests(text)) == [("a bar is full at its limit", ["X10"])]
