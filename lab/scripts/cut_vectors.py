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
from typing import Annotated

import numpy as np
import typer

from thinstack.cli import main
from thinstack.data.files.writing import write_atomically
from thinstack.data.trees.text_files import read_text
from thinstack.data.words import ptb
from thinstack.data.words.vectors import read_vectors
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
    kept = read_vectors(vectors, only=spellings(words))
    file = io.BytesIO()
    np.savez_compressed(file, words=np.array(kept.words), vectors=kept.vectors)
    write_atomically(out, file.getvalue())
    forms = set(kept.words)
    known = sum(not forms.isdisjoint(spellings([word])) for word in words)
    typer.echo(f"{out}: {len(forms):,} vectors, for {known:,} of {len(words):,} words")


def spellings(words: Iterable[str]) -> set[str]:
    """The words as a model looks them up."""
    plain = {form for word in words for form in (word, ptb.plain(word))}
    return plain | {form.lower() for form in plain}


if __name__ == "__main__":
    main(app)
