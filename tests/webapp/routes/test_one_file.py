"""Modules joined into one script: what the browser runs is in tests/browser/test_widget_elsewhere.py."""

from __future__ import annotations

import pytest

from webapp.errors import Invalid
from webapp.routes.one_file import join


def joined(**modules: str) -> str:
    """Return the script of module `a`."""
    return join("a", modules.__getitem__, lambda _, specifier: specifier.removeprefix("./"))


class TestJoining:
    """Imports become constants, modules functions that are called once."""

    def test_places_a_module_once_and_before_those_that_import_it(self) -> None:
        """Two importers share it."""
        script = joined(
            a='import { b } from "./b";\nimport { c as d } from "./c";\n',
            b='import { c } from "./c";\nexport const b = c;\n',
            c="export const c = 1;\n",
        )
        assert script.count("const c = 1") == 1
        assert script.index("const c = 1") < script.index("const b = c")
        assert "{c: d} = m0" in script.replace(" }", "}").replace("{ ", "{")

    @pytest.mark.parametrize(
        "text", ['import all from "./b";', "export default 1;", 'import * as b from "./b";']
    )
    def test_stops_at_a_form_that_it_does_not_join(self, text: str) -> None:
        """Rather than serve a script that fails in the browser."""
        with pytest.raises(Invalid, match="cannot join a"):
            joined(a=text, b="")
