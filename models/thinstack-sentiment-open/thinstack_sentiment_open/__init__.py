"""The bundle `sentiment-open`, for `thinstack.load("sentiment-open")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"sentiment-open": Path(__file__).parent / "model"}
