"""The bundle `aspects`, for `thinstack.load("aspects")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"aspects": Path(__file__).parent / "model"}
