"""The wordpiece vectors that thinstack brings along, rounded from a greater table of them.

    python lab/scripts/make_bundled_vectors.py DATA/vectors/wordpiece.minilm-l6.pca200.npz \\
        thinstack/bundle/bundled/wordpieces.npz

Every value becomes a whole number of steps, one step for all. The levels lie in the file column by
column, in Huffman's codes: hardly anything is repeated, so deflate does better without looking for
it. `numpy.load` reads the file as any other. The pieces are left out: they must be those of the
bundled model, from whose vocabulary they are read.
"""

import io
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import typer
from numpy.typing import NDArray

from thinstack.cli import main
from thinstack.data.files.writing import write_atomically
from thinstack.data.words.vectors import bundled_pieces, read_vectors
from thinstack.errors import ConfigError, DataError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def make(
    table: Annotated[Path, typer.Argument(help="Pieces and their vectors, as a recipe's.")],
    out: Annotated[Path, typer.Argument(help="The .npz file to write.")],
    columns: Annotated[int, typer.Option(min=1, help="Columns to write, the first.")] = 100,
    step: Annotated[
        float,
        typer.Option(min=0.001, help="In standard deviations of all values that are written."),
    ] = 0.5,
) -> None:
    """Write vectors of the bundled model's pieces in 8 bits."""
    if out.suffix != ".npz":
        raise ConfigError(f"{out}: expected a name that ends with .npz")
    pieces, vectors = read_vectors(table)
    if pieces != bundled_pieces():
        raise DataError(f"{table}: expected the pieces of the bundled model, in its order")
    if vectors.shape[1] < columns:
        raise ConfigError(f"{table}: expected {columns} columns or more, found {vectors.shape[1]}")
    kept = vectors[:, :columns]
    scale = np.float32(step * kept.std(dtype=np.float64))
    levels = np.rint(kept / scale)
    if np.abs(levels).max() > 127:
        found = f"{np.abs(levels).max():.0f} at --step {step}"
        raise ConfigError(f"expected levels of at most 127, found {found}; give a greater step")
    stored = np.asfortranarray(levels.astype(np.int8))
    file = packed(vectors=stored, scale=scale.reshape(1, 1))
    write_atomically(out, file)
    error = np.linalg.norm(levels * scale - kept) / np.linalg.norm(kept)
    typer.echo(f"{out}: {len(file):,} bytes, relative error {error:.1%}")


def packed(**arrays: NDArray[Any]) -> bytes:
    """An .npz file of arrays in Huffman's codes."""
    file = io.BytesIO()

    def compressor(*_: Any) -> Any:
        return zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)

    with (
        # zipfile knows levels of deflate but not its strategies.
        mock.patch.object(zipfile, "_get_compressor", compressor),
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as part:
                np.lib.format.write_array(part, array)
    return file.getvalue()


if __name__ == "__main__":
    main(app)
