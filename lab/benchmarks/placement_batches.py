"""The batches that `placement.py` looks at: sentences of SST, as inputs of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from own_parse import feeds_of
from placement_run import Feeds, onnxruntime

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.gpu_file import joined
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.core import Forest, Tree
from thinstack.core.transitions import parents_of

USUAL_WORDS: Final = range(8, 33)  # of sentences that may have trees of some ten levels


@dataclass(frozen=True)
class File:
    """An ONNX file, the bundle whose words it reads, and what a GPU runs in its place."""

    name: str
    content: bytes
    bundle: Bundle
    on_gpu: bytes

    @classmethod
    def of(cls, name: str, words_of: str) -> "File":
        """A bundle's file by the bundle's name or folder, or an ONNX file, which reads the words of
        the bundle `words_of`. NAME=PATH names either. Raises BundleError, UnknownNameError, and
        OSError for an ONNX file that cannot be read."""
        title, _, path = name.rpartition("=")
        if path.endswith(".onnx"):
            content, bundle = Path(path).read_bytes(), open_bundle(words_of)
            on_gpu = content
        else:
            bundle = open_bundle(path)
            content, gpu = bundle.read(ONNX_FILE), bundle.for_gpu()
            on_gpu = joined(gpu, content, source=path) if gpu else content
        return cls(title or Path(path).stem, content, bundle, on_gpu)

    def feeds(self, trees: Sequence[Tree], *, given: bool) -> Feeds:
        """The inputs of a batch. The model makes its own trees unless these are given."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(self.content, options)
        names = [each.name for each in session.get_inputs()]
        feeds = feeds_of(self.bundle, names, [tree.words for tree in trees])
        if given or "lengths" not in names:
            feeds["transitions"] = Forest.of_binary(trees).transitions.astype(np.int32)
        return feeds

    def own_depths(self, trees: Sequence[Tree]) -> list[int]:
        """The depth of the tree that the model makes of each sentence."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.content, options)
        (parse,) = session.run(["parse"], self.feeds(trees, given=False))
        lengths = np.array([len(tree.words) for tree in trees])
        ends = np.cumsum(2 * lengths - 1)
        return [depth_of(each) for each in np.split(parse, ends[:-1])]


def depth_of(transitions: np.ndarray) -> int:
    """The longest way from the root to a word; a word alone has 0."""
    parents, _ = parents_of(transitions)
    depths = np.zeros(len(parents), int)
    for node in range(len(parents) - 2, -1, -1):  # a parent comes after its parts
        depths[node] = depths[parents[node]] + 1
    return int(depths.max())


def like(file: File, trees: Sequence[Tree], count: int, depth: int) -> list[Tree]:
    """Sentences of like length whose own trees are about so deep: the nearest in depth, and of
    those the ones nearest in length to each other."""
    usual = [tree for tree in trees if len(tree.words) in USUAL_WORDS]
    off = [abs(found - depth) for found in file.own_depths(usual)]
    limit = sorted(off)[min(count, len(usual)) - 1]
    near = [tree for tree, each in zip(usual, off, strict=True) if each <= limit]
    near.sort(key=lambda tree: len(tree.words))
    spreads = [
        len(near[start + count - 1].words) - len(near[start].words)
        for start in range(len(near) - count + 1)
    ]
    start = int(np.argmin(spreads)) if spreads else 0
    return near[start : start + count]
