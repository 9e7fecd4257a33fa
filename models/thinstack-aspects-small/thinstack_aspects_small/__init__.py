"""The bundle `aspects-small`, for `thinstack.load("aspects-small")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"aspects-small": Path(__file__).parent / "model"}
