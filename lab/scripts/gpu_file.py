"""Adds the file for GPUs to bundles that have none, or makes it again:

python lab/scripts/gpu_file.py thinstack/bundle/bundled/sentiment ...
"""

from pathlib import Path

import typer
from written_bundle import files_of, write_again

from thinstack.bundle import open_bundle
from thinstack.bundle.gpu_file import metadata
from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE
from thinstack.bundle.weights import load_model
from thinstack.training.publish.assembly import gpu_file


def main(folders: list[Path]) -> None:
    """Write each bundle again, with the file."""
    for folder in folders:
        given = open_bundle(folder)
        content = given.read(ONNX_FILE)
        quantize = metadata(content)["quantization"]
        parts = load_model(given), given.config, given.vocabulary()
        files = files_of(given)
        files[GPU_FILE] = gpu_file(*parts, quantize, beside=content)
        write_again(given, folder, files)
        typer.echo(f"{folder}: {len(files[GPU_FILE]):,} bytes")


if __name__ == "__main__":
    typer.run(main)
