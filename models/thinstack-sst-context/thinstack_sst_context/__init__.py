"""The bundle `sst-context`, for `thinstack.load("sst-context")`."""

from pathlib import Path

from thinstack.plugins import hookimpl


@hookimpl
def thinstack_bundles() -> dict[str, Path]:
    """Its folder, by its name."""
    return {"sst-context": Path(__file__).parent / "model"}
