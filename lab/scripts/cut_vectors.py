"""Word vectors of some texts alone, from a file of vectors of all words, for `data.vectors`.

    python lab/scripts/cut_vectors.py glove.840B.300d.txt \\
        "DATA/vectors/glove.840B.300d.sick+top256.npz" DATA/sick/*/*.toks

A model keeps every word of its vector file: one of two million words makes a model of gigabytes.
The texts may be plain words or trees in brackets, also within JSON lines, as SNLI's. A vector is
kept if its word stands in them, as it is written, in lower case, or without the escapes of
treebanks.
"""

import io
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer

from thinstack.cli import main
from thinstack.data.files.reading import opened_bytes
from thinstack.data.files.writing import write_atomically
from thinstack.data.trees.text_files import read_text
from thinstack.data.words import ptb
from thinstack.data.words.vectors import WordVectors, read_vectors
from thinstack.errors import ConfigError

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
    kept = vectors_of(spellings(words), vectors)
    file = io.BytesIO()
    np.savez_compressed(file, words=np.array(kept.words), vectors=kept.vectors)
    write_atomically(out, file.getvalue())
    forms = set(kept.words)
    known = sum(not forms.isdisjoint(spellings([word])) for word in words)
    typer.echo(f"{out}: {len(forms):,} vectors, for {known:,} of {len(words):,} words")


def vectors_of(words: set[str], path: Path) -> WordVectors:
    """The vectors of these words in a file. Lines that begin with other words are left out first,
    because all vectors may be more than memory holds."""
    beginnings = {word.partition(" ")[0].encode() for word in words}
    with TemporaryDirectory() as folder, opened_bytes(path) as lines:
        part = Path(folder) / path.name
        with part.open("wb") as file:
            file.writelines(line for line in lines if set(line.split()[:1]) & beginnings)
        table = read_vectors(part)
    places = [place for place, word in enumerate(table.words) if word in words]
    return WordVectors(tuple(table.words[place] for place in places), table.vectors[places])


def spellings(words: Iterable[str]) -> set[str]:
    """The words as a model looks them up."""
    plain = {form for word in words for form in (word, ptb.plain(word))}
    return plain | {form.lower() for form in plain}


if __name__ == "__main__":
    main(app)
