"""Fake distributions: real .dist-info folders on sys.path, with modules of their own."""

import importlib
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from thinstack.plugins.manager import PluginManager, manager


class Site:
    """A folder of fake distributions."""

    def __init__(self, path: Path):
        self.path = path

    def write(self, module: str, source: str) -> None:
        """Write a module of no distribution."""
        (self.path / f"{module}.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()

    def install(
        self,
        distribution: str,
        module: str,
        source: str,
        *,
        entry: str | None = None,
        names: str = "",
        version: str = "1.2",
        licence: str = "",
    ) -> None:
        """Write a distribution with an entry point `module`, or the class that it `names` in it,
        called `entry`, or as the module; one more, if it is there."""
        self.write(module, source)
        info = self.path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n"
            + (f"License-Expression: {licence}\n" if licence else ""),
            encoding="utf-8",
        )
        points = info / "entry_points.txt"
        known = points.read_text(encoding="utf-8") if points.exists() else "[thinstack]\n"
        target = f"{module}:{names}" if names else module
        points.write_text(f"{known}{entry or module} = {target}\n", encoding="utf-8")

    def entry_points(self) -> list[metadata.EntryPoint]:
        """Entry points of these distributions alone, so that a plugin installed for real changes no
        test."""
        found = metadata.distributions(path=[str(self.path)])
        return [point for distribution in found for point in distribution.entry_points]

    def manager(self, **changes: Any) -> PluginManager:
        """The plugin manager of these distributions, without built-ins; all of them are loaded."""
        asked = {"builtins": (), "entry_points": self.entry_points(), "blocked": ()}
        plugins = PluginManager(**asked | changes)
        plugins.records()
        return plugins


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Where distributions are installed, which the manager of all tests forgets afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    manager.cache_clear()
    yield Site(tmp_path)
    manager.cache_clear()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
