"""What makes a feature lives in one folder: nothing outside of it names its modules or classes."""

import re
from pathlib import Path

import pytest

import thinstack

ROOT = Path(thinstack.__file__).parent
SLICES = {
    "embeddings/transformer": "TransformerEmbedding|Transformer|TransformerLayer",
    "encoders/spinn": "StackEncoder|TrackingLSTM",
    "parsers/distances": "Padding",
}


@pytest.mark.parametrize("folder", SLICES)
def test_only_the_folder_of_a_slice_names_what_is_in_it(folder):
    place = ROOT / "plugins" / folder
    module = re.escape(f"plugins.{folder.replace('/', '.')}")
    named = re.compile(rf"{module}\b|\b(class |import )?({SLICES[folder]})\b")
    files = [file for file in ROOT.rglob("*.py") if named.search(file.read_text("utf-8"))]
    assert files
    assert [file for file in files if place not in file.parents] == []


# Beside the registered name, which recipes and bundles hold, the table of configurations knows
# that a tracker is SPINN's.
KNOWN = {"transformer.v1": set(), "spinn.v1": {"core/config/__init__.py"}}


@pytest.mark.parametrize("name", KNOWN)
def test_a_slice_is_reached_by_its_name(name):
    files = [file for file in ROOT.rglob("*.py") if name in file.read_text("utf-8")]
    outside = {file.relative_to(ROOT).as_posix() for file in files}
    assert {file for file in outside if not file.startswith("plugins/")} == KNOWN[name]
