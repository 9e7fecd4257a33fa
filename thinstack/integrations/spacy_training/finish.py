"""Runs `thinstack finish`: replaces the weights of a trained spaCy pipeline by bundles."""

import shutil
from pathlib import Path

from rich.console import Console
from spacy.util import load_config

from thinstack.bundle import Bundle, open_bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.bundle.weights import load_model
from thinstack.bundle.writing import replacing_folder
from thinstack.data.files.outputs import check_apart
from thinstack.data.files.paths import check_new_folder
from thinstack.errors import InputError
from thinstack.export.quantize import Quantize
from thinstack.integrations.show.marks import as_text
from thinstack.integrations.spacy_training.text_learner import RESUME_FILES
from thinstack.training.publish.assembly import bundle_files

FACTORY = "tree_classifier"
_PIPELINE_FILES = ("config.cfg", "meta.json")


def finish_pipeline(pipeline: Path, out: Path, *, quantize: Quantize, console: Console) -> None:
    """Copy a saved pipeline to `out`, with each `tree_classifier` exported and verified. Only these
    components are loaded. Raises InputError if `pipeline` is not a pipeline with one, or if `out`
    contains anything but a pipeline; ExportError if an ONNX file does not match its model."""
    if missing := [name for name in _PIPELINE_FILES if not (pipeline / name).is_file()]:
        raise InputError(
            f"{pipeline}: expected a saved spaCy pipeline, found no {missing[0]}; pass the folder "
            "that `spacy train` wrote, such as training/model-best"
        )
    check_apart(out, "OUT", [pipeline])
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: expected a folder for the pipeline, found a file")
    is_pipeline = all((out / name).is_file() for name in _PIPELINE_FILES)
    if out.exists() and any(out.iterdir()) and not is_pipeline:
        raise InputError(
            f"{out}: expected an empty folder or a pipeline to replace; choose another"
        )
    check_new_folder(out, "the second argument", "the finished pipeline")
    components = load_config(pipeline / "config.cfg").get("components", {})
    names = [name for name, part in components.items() if part.get("factory") == FACTORY]
    if not names:
        there = ", ".join(components) or "none"
        raise InputError(
            f"{pipeline}: expected a component {FACTORY}, found {there}; train a pipeline with one"
        )
    with replacing_folder(out) as new:
        shutil.copytree(pipeline, new, dirs_exist_ok=True)
        for name in names:
            _finish(name, open_bundle(new / name), quantize, console)
    console.print(f"wrote {as_text(out)}, which runs without torch", soft_wrap=True)


def _finish(name: str, bundle: Bundle, quantize: Quantize, console: Console) -> None:
    if ONNX_FILE in bundle.manifest.files:
        console.print(f"{as_text(name)}: already finished", soft_wrap=True)
        return
    files, report, _ = bundle_files(
        load_model(bundle), bundle.config, bundle.vocabulary(), quantize=quantize
    )
    files |= {name: bundle.read(name) for name in RESUME_FILES}
    write_bundle(bundle.path, files, config=bundle.config)
    worst = max(run.max_error for run in report.runtimes)
    size = len(files[ONNX_FILE]) / 1e6
    console.print(
        f"{as_text(name)}: exported and verified, {size:.1f} MB; its scores differ from "
        f"the model's by {worst:.0e} at most",
        soft_wrap=True,
    )
