"""Copies a bundle of wordpieces into the repository, without `tokenizer.json`, a tenth of its size:

    python scripts/shipped_model.py runs/sentiment/model-best thinstack/bundle/bundled/sentiment

`thinstack push` makes that file again from the vocabulary.
"""

from pathlib import Path

import typer

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import CONFIG_FILE, TOKENIZER_FILE
from thinstack.bundle.writing import write_bundle


def main(bundle: Path, folder: Path) -> None:
    """Write the bundle to the folder, in place of the one there."""
    given = open_bundle(bundle)
    names = given.manifest.files.keys() - {CONFIG_FILE, TOKENIZER_FILE}
    write_bundle(
        folder,
        {name: given.read(name) for name in sorted(names)},
        config=given.config,
        metrics=given.manifest.metrics,
        data=given.manifest.data,
        created=given.manifest.created,
    )


if __name__ == "__main__":
    typer.run(main)
