"""A bundle whose model can be checked by hand: a phrase's scores come from its last word and from
whether it is one word."""

from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from onnx import TensorProto, checker, helper, numpy_helper
from runtime.own_parse import parser_of
from spacy.language import Language

from thinstack.bundle.bundle import Bundle, write_bundle
from thinstack.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig
from thinstack.data.ptb import escape
from thinstack.data.vocabulary import WordVocabulary

LABELS = ("bad", "so-so", "good")
WORDS = ("good", "awful", ".", "film", "-LRB-")
TABLE = np.array(
    [[0, 1, 0], [0, 0, 3], [3, 0, 0], [0, 0.5, 0], [0, 2, 0], [1, 0, 1]], np.float32
)  # row 0: any other word
PHRASE = np.array([0, 0, 0.25], np.float32)


def expected(
    last_word: str, words: int = 1, table: NDArray[np.float32] = TABLE
) -> dict[str, float]:
    """The scores of a phrase of so many words that ends in this word."""
    row = WORDS.index(escape(last_word)) + 1 if escape(last_word) in WORDS else 0
    powers = np.exp(table[row].astype(float) + (PHRASE if words > 1 else 0))
    return dict(zip(LABELS, (powers / powers.sum()).tolist(), strict=True))


def best(scores: dict[str, float]) -> str:
    return max(scores, key=lambda label: scores[label])


def mean_of(*sentences: tuple[str, int]) -> dict[str, float]:
    """The mean over sentences, each given by its last word and its weight; all have more than one
    word."""
    total = sum(weight for _, weight in sentences)
    return {
        label: sum(expected(word, 2)[label] * weight for word, weight in sentences) / total
        for label in LABELS
    }


def pipeline(bundle: Path, **settings: Any) -> Language:
    """A sentencizer and the component with these settings."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"model": str(bundle), "threads": 1, **settings})
    return nlp


def write_last_word_bundle(
    path: Path,
    *,
    tree_source: str = "balanced",
    table: NDArray[np.float32] = TABLE,
    parser: str | None = None,
) -> Bundle:
    """`parser`: the model parses, in this way (`own_parse.PARSERS`), and that is its tree
    source."""
    config = ModelConfig.parse(
        {
            "labels": LABELS,
            "embedding": EmbeddingConfig(kind="words", size=3),
            "cell": CellConfig(name="nary_lstm.v1", hidden_size=3),
            "head": HeadConfig(name="node_classifier.v1"),
            "tree_source": "self" if parser else tree_source,
            "encoder": {"tracker": {"size": 1}} if parser else {},
        },
        source="test",
    )
    vocabulary = "".join(f"{word}\n" for word in WORDS)
    assert len(WordVocabulary(WORDS)) == len(TABLE)
    files = {
        "vocabulary.txt": vocabulary.encode(),
        "onnx/model.onnx": _model(table, parser),
        "README.md": b"A card.",
    }
    return write_bundle(path, files, config=config)


def _model(table: NDArray[np.float32], parser: str | None) -> bytes:
    def constant(name: str, value: NDArray[np.generic]) -> TensorProto:
        return numpy_helper.from_array(value, name)

    parse = parser_of(parser, TensorProto.INT32) if parser else None
    steps = "taken" if parse else "transitions"
    nodes = [
        *(parse.nodes if parse else ()),
        helper.make_node("Sub", ["one", steps], ["shift"]),
        helper.make_node("CumSum", ["shift", "axis"], ["shifted"]),
        helper.make_node("Sub", ["shifted", "one"], ["last"]),
        helper.make_node("Gather", ["token_ids", "last"], ["last_ids"]),
        helper.make_node("Gather", ["table", "last_ids"], ["of_word"]),
        helper.make_node("Cast", [steps], ["reduce"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["reduce", "axes"], ["column"]),
        helper.make_node("Mul", ["column", "phrase"], ["of_phrase"]),
        helper.make_node("Add", ["of_word", "of_phrase"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["node_scores"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "last_word",
        [
            helper.make_tensor_value_info("token_ids", TensorProto.INT32, ["L"]),
            *(
                [helper.make_tensor_value_info("lengths", TensorProto.INT32, ["B"])]
                if parse
                else []
            ),
            helper.make_tensor_value_info("transitions", TensorProto.INT32, ["given"]),
        ],
        [
            helper.make_tensor_value_info("node_scores", TensorProto.FLOAT, ["N", len(LABELS)]),
            *([parse.output] if parse else []),
        ],
        [
            *(constant(name, value) for name, value in (parse.constants if parse else {}).items()),
            constant("one", np.array(1, np.int32)),
            constant("axis", np.array(0, np.int32)),
            constant("axes", np.array([1], np.int64)),
            constant("table", table),
            constant("phrase", PHRASE[None]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    checker.check_model(model)
    return model.SerializeToString()
