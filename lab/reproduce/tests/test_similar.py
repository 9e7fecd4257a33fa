"""The texts most like a text, beside what the whole model and plain numpy say of the same words."""

from functools import partial

import numpy as np
import pytest
import torch
from core.configured import CHILD_SUM, SPINN, config_of

from reproduce.__main__ import app
from reproduce.similar import Texts
from thinstack.bundle import write_bundle
from thinstack.bundle.weights import load_model, weights_of
from thinstack.core.forest import Forest
from thinstack.core.transitions import balanced
from thinstack.errors import InputError
from thinstack.plugins.build import build_model

WORDS = ("a", "dog", "cat", "man", "runs", "sleeps", "sings")
TEXTS = ["a dog runs", "a man sings", "", "a cat sleeps", "a dog runs", "the dog", "man"]
DISTINCT = ["a dog runs", "a man sings", "a cat sleeps", "the dog", "man"]
PAIRS = {"labels": ("1", "2", "3"), "head": {"name": "similarity.v1", "options": {"hidden": 5}}}


def made(folder, **fields):
    config = config_of(**fields)
    torch.manual_seed(3)
    model = build_model(config, entries=len(WORDS) + 1)
    for weights in model.parameters():
        torch.nn.init.uniform_(weights, -0.9, 0.9)
    words = "".join(f"{word}\n" for word in WORDS).encode()
    files = {"vocabulary.txt": words, "model.safetensors": weights_of(model)}
    return write_bundle(folder / "bundle", files, config=config)


def ids(text):
    return [WORDS.index(word) + 1 if word in WORDS else 0 for word in text.split()]


def outputs(bundle, *texts):
    """The whole model's outputs for these texts in one batch, over balanced trees."""
    words = np.array([len(text.split()) for text in texts])
    forest = Forest(
        sizes=2 * words - 1,
        lengths=words,
        transitions=np.concatenate([balanced(n) for n in words]).astype(np.int64),
        token_ids=np.concatenate([ids(text) for text in texts]),
    )
    model = load_model(bundle)
    return {name: found.detach().numpy() for name, found in model(model.inputs(forest)).items()}


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def check(found, expected, top):
    best = sorted(expected, key=lambda text: -expected[text])[:top]
    assert [each.text for each in found] == best
    np.testing.assert_allclose([each.score for each in found], [expected[t] for t in best], 1e-5)


def test_by_sentence_vectors(tmp_path):
    bundle = made(tmp_path, **PAIRS)
    query = "a cat runs"
    vectors = outputs(bundle, query, *DISTINCT)["sentence_vectors"]  # of an even number of trees
    expected = {t: cosine(vectors[0], v) for t, v in zip(DISTINCT, vectors[1:], strict=True)}
    for top in (2, 9):
        check(Texts(bundle, TEXTS).nearest(query, top), expected, top)


def test_by_mean_word_vectors(tmp_path):
    bundle = made(tmp_path)
    table = load_model(bundle).embedding.table.detach().numpy()
    means = {text: table[ids(text)].mean(0) for text in (*DISTINCT, "a cat runs")}
    expected = {text: cosine(means["a cat runs"], means[text]) for text in DISTINCT}
    check(Texts(bundle, TEXTS, by="mean").nearest("a cat runs"), expected, 5)


@pytest.mark.parametrize("labels", [("1", "2", "3"), ("0", "1", "2")])
def test_by_the_score_of_the_pair(tmp_path, labels):
    bundle = made(tmp_path, **PAIRS | {"labels": labels})
    expected = {}
    for text in DISTINCT:
        (row,) = outputs(bundle, "a cat runs", text)["pair_scores"]
        expected[text] = float(row @ np.array(labels, float))
    check(Texts(bundle, TEXTS, by="score").nearest("a cat runs", 3), expected, 3)


def test_texts_of_the_same_words_are_left_out(tmp_path):
    found = Texts(made(tmp_path), TEXTS).nearest("a  dog runs", 9)
    assert sorted(each.text for each in found) == sorted({*DISTINCT} - {"a dog runs"})


@pytest.mark.parametrize(
    "fields",
    [
        {"trees": "sequence", "cell": CHILD_SUM},
        {"cell": SPINN, "encoder": {"tracker": {"size": 2}}},
    ],
    ids=["sequence", "own trees"],
)
def test_other_texts_of_the_batch_do_not_matter(tmp_path, fields):
    bundle = made(tmp_path, **fields)
    found = Texts(bundle, TEXTS).nearest("cat sleeps", 9)
    for text, score in found:
        (alone,) = Texts(bundle, [text]).nearest("cat sleeps")
        assert alone.score == pytest.approx(score, abs=1e-5)
    assert len({round(each.score, 4) for each in found}) > 1


@pytest.mark.parametrize(
    ("fields", "texts", "by", "says"),
    [
        ({"trees": "dependency", "cell": CHILD_SUM}, TEXTS, "vectors", "reads dependency trees"),
        ({}, TEXTS, "score", "choose --by vectors or --by mean"),
        ({}, ["", " "], "vectors", "no text with words"),
    ],
)
def test_refusals_say_what_to_do(tmp_path, fields, texts, by, says):
    with pytest.raises(InputError, match=says):
        Texts(made(tmp_path, **fields), texts, by=by)


def test_a_query_without_words_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no words"):
        Texts(made(tmp_path), TEXTS).nearest(" ")


def test_a_text_of_too_many_pieces_is_refused(tmp_path):
    options = {"layers": 1, "heads": 1, "feed_forward": 4, "positions": 5, "first": 0, "last": 0}
    embedding = {"kind": "wordpieces", "name": "transformer.v1", "size": 4, "options": options}
    config = config_of(embedding=embedding)
    pieces = ("[UNK]", "a", "dog", "##s")
    model = build_model(config, entries=len(pieces))
    words = "".join(f"{piece}\n" for piece in pieces).encode()
    files = {"vocabulary.txt": words, "model.safetensors": weights_of(model)}
    bundle = write_bundle(tmp_path / "bundle", files, config=config)
    assert Texts(bundle, ["a dogs", "dog"]).nearest("dogs a")
    with pytest.raises(InputError, match=r"4 pieces.* at most 3"):
        Texts(bundle, ["a dogs dog"])


# -- the command

LINES = "A warm and funny comedy.\nA dull and lifeless story.\nWhat a waste of two hours!\n"


@pytest.fixture
def similar(cli):
    return partial(cli, "similar", commands=app)


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_json_has_the_nearest_of_each_text(similar, texts):
    args = ("sentiment", "A funny film.", "A bad film.", "--texts", texts)
    funny, bad = similar(*args, "--top", "2", "--json").json
    assert (funny["text"], funny["by"], len(bad["nearest"])) == ("A funny film.", "vectors", 2)
    assert funny["nearest"][0]["text"] == "A warm and funny comedy."
    assert "comedy" not in str(bad["nearest"])
    first, second = (each["score"] for each in funny["nearest"])
    assert 1 >= first > second >= -1


def test_a_table_for_readers(similar, texts):
    code, out, _ = similar("sentiment", "--texts", texts, "A funny film.", "--by", "mean")
    assert code == 0
    assert out.index("A funny film.") < out.index("A warm and funny comedy.")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("sentiment", "good", "--by", "score"), "expected a model of scored pairs"),
        (("nowhere", "good"), "unknown model"),
        (("sentiment", "  "), "has no words"),
    ],
)
def test_an_error_is_a_message(similar, texts, args, says):
    code, out, err = similar(*args, "--texts", texts)
    assert (code, out) == (2, "")
    assert says in err


def test_a_file_that_is_missing(similar, tmp_path):
    code, _, err = similar("sentiment", "good", "--texts", tmp_path / "none.txt")
    assert (code, "cannot be read" in err) == (2, True)
