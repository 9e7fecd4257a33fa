"""The wordpiece vectors that thinstack brings along, rounded from a greater table of them.

    python scripts/make_bundled_vectors.py DATA/vectors/wordpiece.minilm-l6.pca200.npz \\
        thinstack/bundled/wordpieces.npz

Every value becomes a whole number of steps, one step for all. The levels lie in the file column by
column, which deflate packs better. The pieces are left out: they must be those of the bundled
model, from whose vocabulary they are read.
"""

import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from thinstack.cli import main
from thinstack.data.files import write_atomically
from thinstack.data.vectors import bundled_pieces, read_vectors
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
    file = io.BytesIO()
    stored = np.asfortranarray(levels.astype(np.int8))
    np.savez_compressed(file, vectors=stored, scale=scale.reshape(1, 1))
    write_atomically(out, file.getvalue())
    error = np.linalg.norm(levels * scale - kept) / np.linalg.norm(kept)
    typer.echo(f"{out}: {len(file.getvalue()):,} bytes, relative error {error:.1%}")


if __name__ == "__main__":
    main(app)
