"""Modules joined into one script; tests/browser/test_widget_elsewhere.py runs it in a browser."""

from __future__ import annotations

import pytest

from webapp.errors import Invalid
from webapp.routes.one_file import join


def joined(**modules: str) -> str:
    """Return the script of module `a`."""
    return join("a", modules.__getitem__, lambda _, specifier: specifier.removeprefix("./"))


class TestJoining:
    """Joining: imports become constants, and modules functions that are called once."""

    def test_puts_a_module_once_and_before_its_importers(self) -> None:
        """Two importers share one module."""
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
    def test_refuses_unknown_forms_of_import(self, text: str) -> None:
        """Otherwise the script would fail in the browser."""
        with pytest.raises(Invalid, match="cannot join a"):
            joined(a=text, b="")
