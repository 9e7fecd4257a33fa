"""The bundles that ship with thinstack, registered like those of any distribution."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Return their folders, by name."""
    return {"sentiment": Path(__file__).parent / "sentiment"}
