"""Leaf vectors of word pieces from the input table of a BERT, for `data.vectors` of a recipe.

    python lab/scripts/make_wordpiece_vectors.py MODEL DATA/sst/train.txt \\
        DATA/vectors/wordpiece.minilm-l6.pca200.npz

MODEL is a folder of an uncased BERT as Hugging Face has it, with `vocab.txt` and one file of
weights, `*.safetensors`; here that of sentence-transformers/all-MiniLM-L6-v2.

The table is centred and projected on its principal axes, each piece weighted by how often it stands
in the texts: the first columns then tell the words of these texts apart best. One factor for all
gives the first 100 columns, over the pieces that occur, the root mean square 1. The sign of an axis
means nothing; here the greatest entry of an axis is positive.
"""

import io
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from thinstack.cli import main
from thinstack.data.files.writing import write_atomically
from thinstack.data.trees.conllu import read_conllu
from thinstack.data.trees.treebank import read_trees
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError

TABLE = "word_embeddings.weight"
"""How the name of the input table ends."""

QUOTES = ("``", "''")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def make(
    model: Annotated[Path, typer.Argument(help="Folder of the model.")],
    texts: Annotated[
        Path,
        typer.Argument(help="Trees in brackets, or a .conllu file, whose words weight the pieces."),
    ],
    out: Annotated[Path, typer.Argument(help="The .npz file to write.")],
    columns: Annotated[int, typer.Option(min=1, help="Columns to write.")] = 200,
    scaled: Annotated[int, typer.Option(min=1, help="Columns whose root mean square is 1.")] = 100,
) -> None:
    """Write leaf vectors of word pieces."""
    if out.suffix != ".npz":
        raise ConfigError(f"{out}: expected a name that ends with .npz")
    vocabulary = WordpieceVocabulary.load(model / "vocab.txt")
    table = input_table(model)
    if len(table) != len(vocabulary):
        found = f"{len(table):,} rows for {len(vocabulary):,} pieces"
        raise DataError(
            f"{model}: expected a row of the table for each line of vocab.txt, found {found}"
        )
    if not scaled <= columns <= table.shape[1]:
        found = f"--scaled {scaled}, --columns {columns}, {table.shape[1]} in the table"
        raise ConfigError(
            f"expected at most as many columns scaled as written as there are: {found}"
        )
    trees = read_conllu(texts) if texts.suffix == ".conllu" else read_trees(texts)
    counts = piece_counts(vocabulary, chain.from_iterable(tree.words for tree in trees))
    vectors = projected(table, counts)[:, :columns]
    vectors /= np.sqrt(np.square(vectors[counts > 0, :scaled]).mean())
    file = io.BytesIO()
    pieces = np.array(vocabulary.entries)
    np.savez_compressed(file, pieces=pieces, vectors=vectors.astype(np.float16))
    write_atomically(out, file.getvalue())
    typer.echo(f"{out}: {len(pieces):,} pieces, {columns} columns")


def input_table(folder: Path) -> NDArray[np.float64]:
    """The table (P, W) of a model. Raises DataError where there is none."""
    files = sorted(folder.glob("*.safetensors"))
    if len(files) != 1:
        found = ", ".join(file.name for file in files) or "none"
        raise DataError(f"{folder}: expected one file *.safetensors, found {found}")
    try:
        with safe_open(files[0], framework="numpy") as weights:
            names = [name for name in weights.keys() if name.endswith(TABLE)]  # noqa: SIM118
            if len(names) != 1:
                raise DataError(f"{files[0]}: expected one tensor *{TABLE}, found {len(names)}")
            return weights.get_tensor(names[0]).astype(np.float64)
    except (SafetensorError, TypeError) as error:  # TypeError: a type that numpy does not have
        raise DataError(f"{files[0]}: cannot be read: {error}") from None


def piece_counts(vocabulary: WordpieceVocabulary, words: Iterable[str]) -> NDArray[np.int64]:
    """How often each piece stands in the words (P,).

    A treebank's quotation mark counts as it is written, two pieces, though models read it as one:
    so it was for the vectors that the bundled model started from.
    """
    marks = (word if word in QUOTES else (word,) for word in words)
    ids, _ = vocabulary.ids(list(chain.from_iterable(marks)))
    return np.bincount(ids, minlength=len(vocabulary))


def projected(table: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The table (P, W), centred, on its principal axes in falling order, with weights `counts`."""
    shares = counts / counts.sum()
    centred = table - shares @ table
    _, axes = np.linalg.eigh((centred * shares[:, None]).T @ centred)
    greatest = axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])]
    return centred @ (axes * np.sign(greatest))[:, ::-1]


if __name__ == "__main__":
    main(app)
