"""One playwright for all tests of a process: it cannot be started twice."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def playwright() -> Iterator[object]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as found:
        yield found
