"""What `killed_runs` kills: commands over tiny data, and what there is to compare of the folders
that they leave."""

import hashlib
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

import thinstack.cli
from thinstack.bundle import open_bundle
from thinstack.data.files.writing import LOCK

TIMES = {"seconds", "created", "versions", "sha256"}
"""What differs from run to run, in any JSON; `sha256` is that of a checkpoint, over its seconds."""


class Work:
    """A command with a folder of its own.

    `begin` makes the folder `out` as the command first finds it; `half_done` says what is wrong
    with one that was killed, if anything is.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True)
        self.prepare()

    def prepare(self) -> None: ...

    def begin(self, out: Path) -> None:
        out.parent.mkdir(parents=True)

    def run(self, out: Path) -> int:
        raise NotImplementedError("a Work must define run")

    def half_done(self, out: Path) -> str:
        return ""


def fork(work: Work, out: Path, watch: Callable[[], None]) -> int:
    """The process that does the work, after it has called `watch`."""
    if child := os.fork():
        return child
    code = 1
    try:
        with (out.parent / "printed.txt").open("w") as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
        watch()
        code = work.run(out)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def finish(child: int, out: Path, *others: int) -> int:
    """The status that the process ends with: 0, or one of the others."""
    _, status = os.waitpid(child, 0)
    if status not in (0, *others):
        raise SystemExit(f"ended with {status}: {(out.parent / 'printed.txt').read_text()[-3000:]}")
    return status


def command(main: Any, *words: object) -> int:
    """The exit code of a command line."""
    sys.argv = ["thinstack", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def ended(*_: object, **__: object) -> NoReturn:
    """In place of publishing, which takes longer than all else."""
    raise SystemExit(0)


class Training(Work):
    """`thinstack train`, of a recipe whose epochs go by fast, as far as to the bundle."""

    settings: ClassVar[dict[str, Any]] = {}
    publishes = False

    def prepare(self) -> None:
        import onnxruntime  # noqa: F401
        import tiny_recipe
        import tomli_w

        from thinstack.training import run_recipe

        if not self.publishes:
            run_recipe.publish = ended
        tiny_recipe.write_data(self.folder / "data", train=20)
        recipe = tiny_recipe.recipe(
            epochs=3,
            stop_on="held",
            average=0.5,
            seeds=(1, 2),
            **self.settings,
            export={"inference_only": True},
        )
        text = tomli_w.dumps(recipe.model_dump(mode="json", exclude_none=True))
        (self.folder / "recipe.toml").write_text(text, "utf-8")

    def run(self, out: Path) -> int:
        data, recipe = self.folder / "data", self.folder / "recipe.toml"
        return command(thinstack.cli.main, "train", recipe, "--data", data, "--out", out)


class OwnTrees(Training):
    """A parser in front of the encoder, which learns on when the epochs are done."""

    settings: ClassVar[dict[str, Any]] = {
        "model": {
            "parser": {
                "name": "distances.v1",
                "options": {"width": 6, "lstm": 5, "hidden": 7, "dropout": 0.1},
            }
        },
        "parser_epochs": 2,
        "sources": ("self",),
    }


class Publishing(Training):
    """The same command when all epochs are done: what is left is to publish, with or without a
    bundle of an earlier run in place."""

    publishes = True

    def prepare(self) -> None:
        super().prepare()
        self.begun, self.published = 0, False

    def begin(self, out: Path) -> None:
        done = self.folder / "done"
        if not done.exists():
            finish(fork(self, done, lambda: None), done)
        shutil.copytree(done, out)
        self.begun += 1
        self.published = self.begun % 2 == 1
        if not self.published:
            shutil.rmtree(out / "model-best")
            (out / "results.json").unlink()

    def half_done(self, out: Path) -> str:
        try:
            open_bundle(out / "model-best")
        except Exception as error:
            return f"half done: {error}" if self.published else ""
        self.published = True
        return ""


class Corpus(Work):
    """`thinstack predict --input`, which scores in the process of the command: lab/benchmarks/
    corpus_kills.py kills those beside it."""

    def prepare(self) -> None:
        from last_word_model import write_last_word_bundle

        from thinstack.integrations.corpora import run_manifest

        write_last_word_bundle(self.folder / "model")
        texts = [f"{'very ' * (i % 4)}good film {i}. It is awful" for i in range(600)]
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        (self.folder / "texts.jsonl").write_text(lines, "utf-8")
        run_manifest.SHARD_ROWS = 40

    def run(self, out: Path) -> int:
        given = ("--input", self.folder / "texts.jsonl", "--model", self.folder / "model")
        return command(thinstack.cli.main, "predict", *given, "--out", out, "--jobs", 0)


KINDS: dict[str, type[Work]] = {"own-trees": OwnTrees, "publish": Publishing, "corpus": Corpus}


def fingerprint(folder: Path) -> dict[str, str]:
    """The digest of every file in a folder, but of times in it; the lock is left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != LOCK)
    return {
        str(path.relative_to(folder)): hashlib.sha256(content(path)).hexdigest() for path in files
    }


def content(path: Path) -> bytes:
    if path.suffix == ".json":
        return plain(json.loads(path.read_bytes()))
    if path.suffix == ".jsonl":
        return b"\n".join(plain(json.loads(line)) for line in path.read_bytes().splitlines())
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return b"".join(name.encode() + arrays[name].tobytes() for name in arrays.files)
    if path.name == "checkpoint.safetensors":
        with safe_open(path, framework="np") as file:
            state = plain(json.loads(file.metadata()["state"]))
        return state + b"".join(name.encode() + v.tobytes() for name, v in load_file(path).items())
    return path.read_bytes()


def plain(data: Any) -> bytes:
    return json.dumps(without_times(data), sort_keys=True).encode()


def without_times(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: without_times(value) for key, value in data.items() if key not in TIMES}
    return [without_times(each) for each in data] if isinstance(data, list) else data
