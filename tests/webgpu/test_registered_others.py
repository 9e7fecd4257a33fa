"""The other half of the registered parts; `test_registered.py` has the first."""

from test_registered import check


def test_the_other_registered_parts(on_webgpu, monkeypatch):
    check(1, on_webgpu, monkeypatch)
