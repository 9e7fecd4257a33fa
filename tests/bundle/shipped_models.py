"""Where the shipped models lie."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def model_of(name):
    """The name or the folder of a shipped model."""
    folder = ROOT / "models" / f"thinstack-{name}" / f"thinstack_{name.replace('-', '_')}" / "model"
    return name if name == "sentiment" else folder
