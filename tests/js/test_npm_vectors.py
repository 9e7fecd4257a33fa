"""The npm package gives the vectors of Python."""

import re

import numpy as np
import pytest
from js.package import SST, asked, loaded, needs_package, with_metadata
from js.texts import hostile, own
from text_vectors import SIZE, write_text_vectors

from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.core.scale import FIVE

pytestmark = needs_package
TEXTS = [
    "The film is good, and the screen is awful.",
    "Good. Not the film! The films, the screen and the rest \U0001f600 is good.",
    "Awful",
    f"The film is {'not good, ' * 30} awful. Good.",
    " ",
]


@pytest.mark.parametrize("options", [{}, {"aggregation": "mean", "maxWords": 7}], ids=str)
@pytest.mark.parametrize("composes", [True, False])
@pytest.mark.parametrize("labels", [FIVE, ()], ids=["beside classes", "alone"])
def test_vectors(tmp_path, labels, composes, options):
    """Python has them in half precision. A model that does not compose parts has their mean."""
    how = {"aggregation": "tree" if composes else "mean"}
    bundle = write_text_vectors(tmp_path / "vectors", labels=labels, **how).path
    texts = [*TEXTS, *own()[:20], *hostile(20, seed=9)]
    how = {"sign": bool(labels)}
    spans = [(start, end) for end in range(1, 11) for start in range(end)]
    asking = {"options": options, "texts": texts, "how": how, "beside": texts[2], "spans": spans}
    found = asked("encode", bundle=str(bundle), **asking)
    model, empty = loaded(bundle, options), []
    results = model(texts)
    np.testing.assert_allclose(
        found["inside"], model.span_vectors(results[0].sentences[0], spans), rtol=0, atol=1e-3
    )
    for place, result in enumerate(results):
        vectors, row = found["vectors"][place], found["rows"][place]
        phrases = iter(found["phrases"][place])
        for sentence, rows in zip(result.sentences, vectors["sentences"], strict=True):
            np.testing.assert_allclose(rows, sentence.vectors, rtol=0, atol=1e-3)
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=0, atol=1e-6)
            assert [next(phrases) for _ in rows] == rows
        if not result.sentences:
            assert vectors["text"] is None
            assert row == [None] * (SIZE + bool(labels))  # NaN, as JSON has it
            empty.append(place)
            continue
        np.testing.assert_allclose(vectors["text"], result.vector, rtol=0, atol=1e-3)
        assert row[:SIZE] == vectors["text"]
        if labels:
            sign = np.sign(result.polarity) * np.sqrt(0.3 * abs(result.polarity))
            assert row[SIZE:] == pytest.approx([sign], abs=1e-5)
    assert [error[0] for error in found["errors"]] == empty
    assert found["similar"][0] == pytest.approx(
        np.dot(found["vectors"][0]["text"], found["vectors"][2]["text"]), abs=1e-6
    )
    assert found["similar"][1] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("other", ["of other vectors", SST], ids=str)
def test_vectors_of_another_model(tmp_path, other):
    """One with as many columns, and one without vectors."""
    bundle = write_text_vectors(tmp_path / "vectors").path
    other = write_text_vectors(tmp_path / "other", labels=()).path if other != SST else SST
    answers = asked("ofAnother", bundle=str(bundle), other=str(other), text="good film")
    for answer in answers[0 if other != SST else -1 :]:
        assert answer.startswith("InputError: ")
        assert "expected a vector of this model, found one of another" in answer


def test_a_model_without_labels_says_what_needs_them(tmp_path):
    bundle = write_text_vectors(tmp_path / "vectors", labels=())
    (sentence,) = asked("data", bundle=str(bundle.path), text="good film")["sentences"]
    assert (sentence["label"], sentence["polarity"], sentence["scores"]) == (None, None, {})
    assert (sentence["tree"], len(sentence["nodes"])) == ("( good film )", 3)
    messages = asked("refused", bundle=str(bundle.path), text="good film")
    assert messages.pop("encode") == "undefined: undefined"  # is none
    needing = {name: name for name in ("highlights", "about", "abstain", "classes")}
    for name, purpose in (needing | {"svg": "a picture", "html": "a picture"}).items():
        expected = f"InputError: {purpose}: this model gives vectors and no labels"
        assert messages.pop(name).startswith(expected)
    for name, said in [
        ("sign", "encode: sign needs a model with polarity"),
        ("similarity", f"of {SIZE} columns, found a vector of 3 columns"),
        ("outside", r"expected words \[start, end\) of 2, found \[0,3\]"),
        ("empty", "text 1: expected words"),
    ]:
        assert re.match(f"InputError: .*{said}", messages.pop(name))
    assert not messages


def test_a_model_without_vectors_says_what_to_load():
    messages = asked("refused", bundle=str(SST), text="good film")
    for name in ("encode", "sign", "similarity"):
        assert "gives no vectors: load one that does" in messages[name]


@pytest.mark.parametrize(
    ("size", "problem"), [("7", "of 3 rows and 7 columns"), ("", "a number as")]
)
def test_another_size_of_vectors(tmp_path, size, problem):
    base = write_text_vectors(tmp_path / "vectors")
    with_metadata(base, tmp_path / "other", vector_size=size)
    found = asked("predict", bundle=str(tmp_path / "other"), texts=["good film"])
    assert found["error"] == "BundleError"
    assert problem in found["message"]


def test_a_file_without_the_vectors_of_its_configuration(tmp_path):
    base, given = open_bundle("sentiment"), {"name": "vector.v1", "options": {"size": SIZE}}
    files = {name: base.read(name) for name in (VOCABULARY_FILE, ONNX_FILE)}
    config = base.config.model_validate(base.config.model_dump() | {"vectors": given})
    write_bundle(tmp_path / "other", files, config=config)
    messages = asked("refused", bundle=str(tmp_path / "other"), text="good film")
    assert "with the outputs node_scores and node_vectors; it reads" in messages["load"]
