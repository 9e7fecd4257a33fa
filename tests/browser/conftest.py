"""One playwright for all tests of a process: it cannot be started twice."""

import pytest


@pytest.fixture(scope="session")
def playwright():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as found:
        yield found
