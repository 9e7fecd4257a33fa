"""Word vectors of some texts alone, from a file of vectors of all words, for `data.vectors`.

    python scripts/cut_vectors.py glove.840B.300d.txt \\
        "DATA/vectors/glove.840B.300d.sick+top256.npz" DATA/sick/*/*.toks

A model keeps every word of its vector file: one of two million words makes a model of gigabytes.
The texts may be plain words or trees in brackets, also within JSON lines, as SNLI's. A vector is
kept if its word stands in them, as it is written, in lower case, or without the escapes of
treebanks.
"""

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from thinstack.cli import main
from thinstack.data import ptb
from thinstack.data.files import write_atomically
from thinstack.data.text_files import read_text
from thinstack.errors import ConfigError, DataError

WORD = re.compile(r"[^\s()]+")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def cut(
    vectors: Annotated[Path, typer.Argument(help="Vectors as text, `word v1 v2 ...`, as GloVe's.")],
    out: Annotated[Path, typer.Argument(help="The .npz file to write.")],
    texts: Annotated[list[Path], typer.Argument(help="Files whose words are kept.")],
) -> None:
    """Write the vectors of the words of some texts."""
    if out.suffix != ".npz":
        raise ConfigError(f"{out}: expected a name that ends with .npz")
    words = {found.group() for text in texts for found in WORD.finditer(read_text(text))}
    kept = dict(matching(vectors, spellings(words)))
    if not kept:
        raise DataError(f"{vectors}: expected words of the texts, found none of {len(words):,}")
    file = io.BytesIO()
    np.savez_compressed(file, words=np.array(list(kept)), vectors=np.stack(list(kept.values())))
    write_atomically(out, file.getvalue())
    known = sum(not kept.keys().isdisjoint(spellings([word])) for word in words)
    typer.echo(f"{out}: {len(kept):,} vectors, for {known:,} of {len(words):,} words")


def spellings(words: Iterable[str]) -> set[str]:
    """The words as a model looks them up."""
    plain = {form for word in words for form in (word, ptb.plain(word))}
    return plain | {form.lower() for form in plain}


def matching(file: Path, words: set[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The words of a file of vectors that are among `words`, and their vectors (X,). Raises
    DataError."""
    try:
        with file.open(encoding="utf-8") as lines:
            width = 0
            for number, line in enumerate(lines, 1):
                if number == 1 and len(line.split()) == 2:
                    continue  # word2vec's count of words and columns
                width = width or len(line.split()) - 1
                # Most lines are not split: the word is their beginning, up to its last space.
                if line[: line.find(" ")] not in words:
                    continue
                word, *values = line.rstrip().rsplit(" ", width)
                if word in words:
                    yield word, vector(values, width, f"{file}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as word vectors: {error}") from None


def vector(values: list[str], width: int, place: str) -> NDArray[np.float32]:
    """The numbers of a line. Raises DataError, which names the `place`."""
    try:
        found = np.array(values, np.float32)
    except ValueError:
        found = np.full(0, np.nan, np.float32)
    if len(found) != width or not np.isfinite(found).all():
        raise DataError(f"{place}: expected a word and {width} numbers, as before")
    return found


if __name__ == "__main__":
    main(app)
