"""Copying the browser libraries and their licences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import vendor

LIBRARY = vendor.Library("chart", ("dist/chart.js",), ("axis",))


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A node_modules with `chart`, which bundles `axis`."""
    for name in ("chart", "axis"):
        folder = tmp_path / "node_modules" / name
        (folder / "dist").mkdir(parents=True)
        (folder / "dist" / f"{name}.js").write_text(f"export const name = '{name}';\n")
        (folder / "package.json").write_text(json.dumps({"version": "1.2.3"}))
        (folder / "LICENSE").write_text(f"licence of {name}\n")
    return tmp_path / "node_modules"


class TestCopyAll:
    """The folder that pages load from."""

    def test_holds_the_files_the_version_and_the_licences(
        self, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The licence of what is bundled comes along with the library's own."""
        monkeypatch.setattr(vendor, "LIBRARIES", (LIBRARY,))
        target = tmp_path / "vendor"
        assert vendor.copy_all(modules, target) == {"chart": "1.2.3"}
        assert (target / "chart" / "chart.js").read_text() == "export const name = 'chart';\n"
        assert "licence of axis" in (target / "chart" / "LICENSE").read_text()
        assert json.loads((target / "versions.json").read_text()) == {"chart": "1.2.3"}

    def test_makes_a_module_of_a_script(
        self, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its global becomes the default export."""
        monkeypatch.setattr(
            vendor, "LIBRARIES", (vendor.Library("axis", (), script=("dist/axis.js", "axis.esm.js", "axis")),)
        )
        (modules / "axis" / "dist" / "axis.js").write_text("var axis = 1;")
        vendor.copy_all(modules, tmp_path / "vendor")
        made = (tmp_path / "vendor" / "axis" / "axis.esm.js").read_text()
        assert made == "var axis = 1;\nexport default axis;\n"

    def test_forgets_what_was_there(
        self, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A library that is no longer listed is no longer shipped."""
        monkeypatch.setattr(vendor, "LIBRARIES", (LIBRARY,))
        (tmp_path / "vendor" / "old").mkdir(parents=True)
        vendor.copy_all(modules, tmp_path / "vendor")
        assert not (tmp_path / "vendor" / "old").exists()

    def test_refuses_a_library_without_a_licence(
        self, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only licensed code is shipped."""
        monkeypatch.setattr(vendor, "LIBRARIES", (LIBRARY,))
        (modules / "axis" / "LICENSE").unlink()
        with pytest.raises(FileNotFoundError, match="no licence file in .*axis"):
            vendor.copy_all(modules, tmp_path / "vendor")
