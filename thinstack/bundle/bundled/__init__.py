"""The bundles that thinstack brings along, named as any distribution names its own."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Their folders, by name."""
    return {"sentiment": Path(__file__).parent / "sentiment"}
