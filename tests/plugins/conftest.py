"""Fake distributions: real .dist-info folders on sys.path, with modules of their own."""

import importlib
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from distributions import install

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
        self, distribution: str, module: str, source: str, *, entry: str = "", **about: str
    ) -> None:
        """Write a distribution of version 1.2, unless `about` says another, with an entry point
        that is called `entry`, or as the module."""
        about = {"distribution": distribution, "version": "1.2", **about}
        install(self.path, entry or module, module, source, **about)
        importlib.invalidate_caches()

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
