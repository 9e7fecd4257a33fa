"""The npm package cuts texts as Python does, says of pairs of texts what Python says, and joins the
file for GPUs to the file for CPUs as Python does."""

from base64 import b64decode

import onnx
import pytest
from bundle_folders import GOLDEN
from js.package import SST, asked, described, needs_package
from js.texts import KNOWN, all_texts, own
from pair_models import write_pair_bundle

import thinstack
from thinstack.bundle import open_bundle
from thinstack.bundle.gpu_file import host_nodes, joined
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.text.english import EnglishSplitter

pytestmark = needs_package
FIRST = ["The film is good.", f"The plot {'is not good, ' * 20} dull. It is.", "who", *own()[:70]]
SECOND = [*own()[70:140], "It is fine.", "Good! \U0001f600", "The film"]
RATES, SIDES = ("rating", True, True), ("sides", True, False)
REFUSED = [
    (["a", "b"], ["a", " "], "textB of pair 1: expected a text with words"),
    (["a", None], ["a", "b"], "textA of pair 1: expected a string, found null"),
    ("a", ["b"], "expected two texts or two arrays of texts, found string and Array"),
    (["a"], ["a", "b"], "two arrays of the same length, found 1 and 2 texts"),
]


@pytest.mark.parametrize(
    ("target", "parses", "vectors"),
    [
        ("rating", True, True),
        ("label", True, False),
        ("label", False, True),
        ("sides", True, False),
    ],
)
def test_pairs(tmp_path, target, parses, vectors):
    how, least = {"parses": parses, "vectors": vectors}, 0.01 if target == "sides" else 0.6
    bundle = str(write_pair_bundle(tmp_path / "bundle", target, **how).bundle.path)
    asking = {"options": {"maxWords": 7, "abstain": least}, "a": FIRST, "b": SECOND}
    answer = asked("pairs", bundle=bundle, refused=[sides[:2] for sides in REFUSED], **asking)
    model = thinstack.load(bundle, threads=1, max_words=7, abstain=least)
    expected = model.pairs(FIRST, SECOND)
    assert answer["alone"] == answer["results"][0]
    for result, own_result in zip(answer["results"], expected, strict=True):
        assert (result["textA"], result["textB"]) == (own_result.text_a, own_result.text_b)
        assert result["scores"] == pytest.approx(own_result.scores, abs=1e-5)
        assert result["rating"] == pytest.approx(own_result.rating, abs=1e-5)
        if abs(max(own_result.scores.values()) - least) > 1e-6:
            assert result["label"] == own_result.label
    likely = [max(result.scores, key=result.scores.get) for result in expected]
    odd = [result.label != name for result, name in zip(expected, likely, strict=True)]
    assert any(odd) or target != "sides", "the most probable class has another sign"
    *singly, empty, none, mixed, odd = answer["messages"]
    assert all("call model.pairs(a, b)" in message for message in singly)
    for message, (*_, problem) in zip((empty, none, mixed, odd), REFUSED, strict=True):
        assert message.startswith("InputError: ")
        assert problem in message


def test_another_model_reads_no_pairs():
    with pytest.raises(AssertionError, match="InputError: pairs: this model reads single texts"):
        asked("pairs", bundle=str(SST), a=["a"], b=["b"])


@pytest.mark.parametrize("bundle", [SST, GOLDEN / "words"], ids=["with", "without"])
def test_what_onnxruntime_gets(bundle):
    opened = open_bundle(bundle)
    content, gpu = opened.read(ONNX_FILE), opened.for_gpu()
    expected = joined(gpu, content, source="x") if gpu else content
    found = asked("onGpu", bundle=str(bundle))
    assert onnx.load_from_string(b64decode(found["model"])) == onnx.load_from_string(expected)
    assert "\n".join(found["names"]) == host_nodes(expected)
    assert bool(found["names"]) == bool(gpu)


ODD = ["unwatchably", "naïve", "İstanbul", "ΣΊΣΥΦΟΣ", "don't-care", "##ing", "[UNK]", "-LRB-"]
ODD += ["``", ":)", ":-RRB-", ":--RRB-", "<\\/3", "🤷\u200d♀\ufe0f", "#LoveThis", "@ada", "great👍"]
ODD += ["👎👎", "🇩🇪", "Goooood", "loooove", "https:\\/\\/x.org\\/a", "WWW.x.org", "x" * 100]
ODD += ["x" * 101, "𝒳" * 51, "𝒳" * 101, " \t", "", "-lſb-", "\\/\\*", "a\ud800b", "''"]


@pytest.fixture(scope="module")
def texts():
    found = all_texts()
    assert len(found) >= 20_000
    return found


@pytest.mark.parametrize("split", [True, False])
def test_sentences_and_words(texts, split):
    found = asked("split", texts=texts, split=split)
    expected = [described(text, split=split) for text in texts]
    assert [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]] == []


def test_a_lone_surrogate_is_a_character():
    texts = ["a\ud800b. \udfff c", "\udc00"]
    expected = [described(text, split=True) for text in texts]
    assert asked("split", texts=texts, split=True) == expected


def test_pieces(texts):
    cut = EnglishSplitter()(texts)
    words = {word for sentences in cut for sentence in sentences for word in sentence.words}
    every = {f"a{chr(code)}B" for code in KNOWN}
    asked_for = sorted({*words, *every, *ODD})
    bundle = open_bundle("sentiment")
    vocabulary = bundle.vocabulary()
    found = asked("pieces", vocabulary=str(bundle.path / "vocabulary.txt"), words=asked_for)
    expected = [list(vocabulary.pieces_of(word)) for word in asked_for]
    wrong = [each for each in zip(asked_for, found, expected, strict=True) if each[1] != each[2]]
    assert wrong == []


def test_ids_of_words():
    bundle = open_bundle(GOLDEN / "words")
    vocabulary = bundle.vocabulary()
    words = [*vocabulary.entries, *map(str.upper, vocabulary.entries), *ODD]
    words += ["#The", "👍The", "ΟΔΟΣ", "-lrb-"]
    found = asked("ids", vocabulary=str(bundle.path / "vocabulary.txt"), words=words)
    assert found == vocabulary.fields(words)["token_ids"].tolist()
    assert 0 < sum(map(bool, found)) < len(words)
