"""The bundle `vectors`, for `thinstack.load("vectors")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"vectors": Path(__file__).parent / "model"}
