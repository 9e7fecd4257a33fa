"""Bundles with a file for GPUs, of a small model of words."""

from functools import cache

import pytest
import torch
from core.configured import build, config_of

from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE, VOCABULARY_FILE
from thinstack.bundle.writing import seal
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.export.onnx import passes
from thinstack.export.onnx.beside import left_out
from thinstack.export.onnx.model import export_onnx

WORDS = ("good", "awful", "film", "never", "the")
WIDE = 64


@cache
def gpu_bundle(quantize="int8-tables"):
    """A bundle in memory, and the whole file for GPUs, of which its own is a part."""
    torch.manual_seed(0)
    fields = {"embedding": {"kind": "words", "size": WIDE}, "tree_source": "balanced"}
    vocabulary = WordVocabulary(WORDS)
    model, config = build(entries=len(vocabulary), **fields).eval(), config_of(**fields)
    options = {"quantize": quantize, "vocabulary_digest": vocabulary.digest()}
    content = export_onnx(model, config, **options)
    with pytest.MonkeyPatch.context() as patch:  # as many steps as there are take seconds
        patch.setattr(passes, "MOST_UNROLLED", 4)
        whole = export_onnx(model, config, device="gpu", **options)
    files = {VOCABULARY_FILE: vocabulary.to_bytes(), ONNX_FILE: content}
    return seal(files | {GPU_FILE: left_out(whole, content)}, config=config), whole
