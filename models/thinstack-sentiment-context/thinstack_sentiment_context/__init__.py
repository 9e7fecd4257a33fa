"""The bundle `sentiment-context`, for `thinstack.load("sentiment-context")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"sentiment-context": Path(__file__).parent / "model"}
