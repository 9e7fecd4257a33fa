"""Exports the ONNX files of bundles again from the weights that they hold, after a change of the
export:

    python lab/scripts/onnx_file.py DATA/sst/dev.txt thinstack/bundle/bundled/sentiment ...

The new files are compared with the model on the trees of that file, and on trees that the model
makes of its sentences. What rounding cost is told as before, for only rounded weights are left.
"""

import dataclasses
import json
from pathlib import Path

import typer
from written_bundle import files_of, write_again

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.gpu_file import metadata
from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE, REPORT_FILE, WEIGHTS_FILE, json_file
from thinstack.bundle.weights import load_model, weights_of
from thinstack.core.forest import Forest, without_trees
from thinstack.core.tree import Tree
from thinstack.data.trees.treebank import read_trees
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import verify_onnx, with_report
from thinstack.export.quantize import dequantised
from thinstack.training.publish.assembly import VERIFICATION_BATCH, gpu_file


def main(development: Path, folders: list[Path]) -> None:
    """Write each bundle again, with new files."""
    trees = read_trees(development)
    for folder in folders:
        given = open_bundle(folder)
        files = _files(given, trees)
        write_again(given, folder, files)
        typer.echo(f"{folder}: {len(files[ONNX_FILE]):,} bytes")


def _files(given: Bundle, trees: list[Tree]) -> dict[str, bytes]:
    """The files of a bundle but its configuration, with those that come from the export made
    again."""
    model, vocabulary = load_model(given), given.vocabulary()
    files = files_of(given)
    quantize = metadata(files[ONNX_FILE])["quantization"]
    forests = [
        Forest.of_binary(batch)._replace(**vocabulary.fields([w for t in batch for w in t.words]))
        for start in range(0, len(trees), VERIFICATION_BATCH)
        for batch in [trees[start : start + VERIFICATION_BATCH]]
    ]
    before = json.loads(files[REPORT_FILE])["onnx"]
    cost = {name: before[name] for name in ("max_deviation", "mean_deviation")}
    exported = export_onnx(
        model, given.config, quantize=quantize, vocabulary_digest=vocabulary.digest()
    )
    batches = [each for forest in forests for each in (forest, without_trees(forest))]
    report = verify_onnx(exported, model, development=batches)
    report = dataclasses.replace(report, **cost)
    files[ONNX_FILE] = with_report(exported, report)
    files[REPORT_FILE] = json_file({"onnx": dataclasses.asdict(report)})
    files[WEIGHTS_FILE] = weights_of(dequantised(model, quantize), beside=files[ONNX_FILE])
    if GPU_FILE in files:
        parts = model, given.config, vocabulary
        files[GPU_FILE] = gpu_file(*parts, quantize, beside=files[ONNX_FILE])
    return files


if __name__ == "__main__":
    typer.run(main)
