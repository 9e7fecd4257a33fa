"""Copies a bundle of wordpieces into the repository, without `tokenizer.json`, a tenth of its size:

    python lab/scripts/shipped_model.py runs/sentiment/model-best thinstack/bundle/bundled/sentiment

`thinstack push` makes that file again from the vocabulary.
"""

from pathlib import Path

import typer
from written_bundle import files_of, write_again

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import TOKENIZER_FILE


def main(bundle: Path, folder: Path) -> None:
    """Write the bundle to the folder, in place of the one there."""
    given = open_bundle(bundle)
    files = files_of(given)
    files.pop(TOKENIZER_FILE, None)
    write_again(given, folder, files)


if __name__ == "__main__":
    typer.run(main)
