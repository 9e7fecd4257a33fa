"""lab/data.md and lab/data.sha256: the files that recipes name."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIGESTS = [line.split("  ") for line in (ROOT / "lab" / "data.sha256").read_text().splitlines()]


NOT_OURS = ("snli/snli_1.0_train.jsonl", "snli/snli_1.0_dev.jsonl")  # users have them, we do not
DRAWN = (
    "vectors-start.jsonl",
    "vectors-second.jsonl",
    "vectors-train.jsonl",
    "vectors-dev.jsonl",
    "open-trees.txt",
    "vectors/wordpiece.minilm-l6.ud.npz",
)  # by a script
CUT_FROM_THEM = "vectors/glove.840B.300d.snli.npz"


def test_every_file_of_a_recipe_has_a_digest_and_a_row():
    page = (ROOT / "lab" / "data.md").read_text(encoding="utf-8")
    files = {
        file
        for recipe in (ROOT / "lab" / "recipes").rglob("*.toml")
        for file in re.findall(r'\b(?:train|dev|vectors) = "([^"]+)"', recipe.read_text("utf-8"))
    }
    assert {"sst/train.txt", "sick/dev", "ud_ewt/en_ewt-ud-dev.conllu"} < files
    for file in files:
        folder, _, name = file.rpartition("/")
        assert f"`{folder}/" in page or not folder
        assert name in page
        assert file in (*NOT_OURS, *DRAWN, CUT_FROM_THEM) or any(
            path == file or path.startswith(f"{file}/") for _, path in DIGESTS
        ), file


def test_digests_are_those_of_the_files_that_are_not_converted(data_dir):
    as_published = ("sst/", "ud_ewt/", "sick/SICK_")  # others may have made theirs themselves
    found = [
        (digest, data_dir / name)
        for digest, name in DIGESTS
        if name.startswith(as_published) and (data_dir / name).is_file()
    ]
    assert len(found) > 1
    for digest, file in found:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest, file
