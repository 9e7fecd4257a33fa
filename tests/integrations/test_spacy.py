"""The spaCy component, with a real bundle whose scores can be computed by hand: Docs alone and in a
stream."""

import threading
import warnings

import pytest
import spacy
from last_word_model import LABELS, best, expected, mean_of, pipeline
from predictions import failing
from spacy.tokens import Doc
from spacy.training import Example

from thinstack.errors import BundleError, InputError, NoSentencesWarning, UnknownNameError
from thinstack.integrations.spacy import pipe, predictions


def test_a_document_has_the_mean_of_its_sentences_by_words_or_plain(nlp, last_word):
    text = "A good film. It was awful, really awful"
    doc = nlp(text)
    assert [sent.text for sent in doc.sents] == ["A good film.", "It was awful, really awful"]
    assert list(doc.cats) == list(LABELS)
    assert doc.cats == pytest.approx(mean_of((".", 4), ("awful", 6)), abs=1e-6)
    assert sum(doc.cats.values()) == pytest.approx(1)
    doc = pipeline(last_word.path, aggregation="sentences")(text)
    assert doc.cats == pytest.approx(mean_of((".", 1), ("awful", 1)), abs=1e-6)


def test_a_long_sentence_is_read_in_parts(last_word):
    nlp = pipeline(last_word.path, max_words=3)
    doc = nlp("film is good , so awful . Good film")
    wanted = mean_of(("is", 2), (",", 2), (".", 3), ("film", 2))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for found in (doc, again, *nlp.pipe([doc.text])):
        assert found.cats == pytest.approx(wanted, abs=1e-6)
        first, second = found.sents
        spans = first._.sentiment_parts
        assert [found[a:b].text for a, b in spans] == ["film is", "good ,", "so awful ."]
        assert second._.sentiment_parts == [(7, 9)]
        assert (found[0:2]._.sentiment_parts, found[2:3]._.sentiment_parts) == ([(0, 2)], [(2, 3)])
        assert found[1:3]._.sentiment_parts == [(0, 4)]  # the phrase around it is over two parts
        assert [len(each.parts) for each in predictions(found)] == [3, 1]
        assert [each["parts"] for each in found._.tree_sentiment["sentences"][:1]] == [
            [[0, 2], [2, 4], [4, 7]]
        ]
    with pytest.raises(InputError, match="max_words"):
        pipeline(last_word.path, max_words=1)


def test_why_is_told_in_tokens_of_the_doc(last_word):
    nlp = pipeline(last_word.path, source="left")
    doc = nlp("A film. So very (good)")
    _, second = nlp.get_pipe("tree_sentiment").why(doc)
    assert [(item["start"], item["end"]) for item in second[:3]] == [(3, 4), (4, 5), (3, 5)]
    for item in second:
        assert item["text"] == doc[item["start"] : item["end"]].text
        start, end = item["start"], item["end"]
        last = ")" if end < 8 else doc[start - 1].text
        left = 8 - 3 - (end - start)
        gone = expected(")", 5)["so-so"] - expected(last, left)["so-so"]
        assert item["contribution"] == pytest.approx(gone, abs=1e-6)
    assert [item["turning"] for item in second].count(True) <= 1


@pytest.mark.parametrize("text", ["", " ", " \n\t  "])
def test_a_document_without_words_has_no_probabilities(nlp, text):
    doc = nlp(text)
    assert doc.cats == dict.fromkeys(LABELS, 0.0)
    assert doc._.sentiment_phrases == []
    assert doc[:]._.sentiment_label is None


def test_scores_for_nlp_evaluate(nlp):
    texts = {"so good": "good", "very awful": "bad", "a film": "bad", "it is so good": "good"}
    texts[""] = "bad"
    gold = [
        Example.from_dict(nlp.make_doc(text), {"cats": {x: float(x == label) for x in LABELS}})
        for text, label in texts.items()
    ]
    figures = nlp.evaluate(gold)
    # "a film" is so-so to the model; without words every label has 0.0, and the first one, "bad",
    # is taken.
    assert figures["cats_micro_p"] == pytest.approx(4 / 5)
    assert figures["cats_f_per_type"]["good"]["f"] == 1.0
    assert figures["cats_score_desc"] == "macro F"
    assert set(figures["cats_f_per_type"]) == set(LABELS)


BOOM = RuntimeError("boom is too much")
FINE = ["so good", "very awful", "", "a film. It is so good", "good"]
TEXTS = [*FINE[:3], "boom it goes. Fine.", FINE[3], "ok boom", FINE[4]]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failing_document_harms_no_neighbour(last_word, monkeypatch, threads):
    nlp = pipeline(last_word.path, threads=threads)
    alone = [nlp(text).cats for text in FINE]
    failing(monkeypatch, nlp.get_pipe("tree_sentiment").predictor, "boom", BOOM)
    with pytest.raises(RuntimeError, match="boom is too much"):  # without a handler
        list(nlp.pipe(TEXTS))
    with pytest.raises(RuntimeError, match="boom is too much"):
        nlp("boom")
    failed = []

    def note(name, component, docs, error):
        failed.append((name, [doc.text for doc in docs], str(error)))

    nlp.set_error_handler(note)
    docs = list(nlp.pipe(TEXTS, batch_size=3))
    assert [(doc.text, doc.cats) for doc in docs] == list(zip(FINE, alone, strict=True))
    booms = [text for text in TEXTS if "boom" in text]
    assert failed == [("tree_sentiment", [text], "boom is too much") for text in booms]


@pytest.mark.parametrize(
    "options", [{"batch_size": 1}, {"batch_size": 2}, {}, {"n_process": 2, "batch_size": 3}]
)
def test_batches_and_worker_processes_give_what_single_documents_give(nlp, options):
    for doc, text in zip(nlp.pipe(FINE * 3, **options), FINE * 3, strict=True):
        alone = nlp(text)
        assert (doc.text, doc.cats) == (text, alone.cats)
        assert doc._.tree_sentiment == alone._.tree_sentiment
        assert doc._.sentiment_phrases == alone._.sentiment_phrases


def test_an_unknown_model_fails_when_it_is_added(tmp_path):
    nlp = spacy.blank("en")
    with pytest.raises(UnknownNameError, match="unknown model 'stt'"):
        nlp.add_pipe("tree_sentiment", config={"model": "stt"})
    for _ in range(2):  # a failure is not remembered as a success
        with pytest.raises(BundleError, match="no such folder"):
            nlp.add_pipe("tree_sentiment", config={"model": str(tmp_path / "gone")})
    assert nlp.pipe_names == []


WRONG = {"source": "upright", "device": "tpu", "aggregation": "max", "modle": "x", "threads": 257}
WRONG |= {"classes": 3, "abstain": 1.5}


@pytest.mark.parametrize("settings", [{name: value} for name, value in WRONG.items()])
def test_a_wrong_setting_fails_when_it_is_added(last_word, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        pipeline(last_word.path, **settings)


def test_in_training_it_warns_once_that_it_does_not_learn(nlp):
    before = nlp("so good").cats
    given = [Example.from_dict(nlp.make_doc("so good"), {"cats": {"bad": 1.0}})]
    optimizer = nlp.initialize(lambda: given)
    nlp.update(given, sgd=optimizer, exclude=["tree_sentiment"])
    with pytest.warns(UserWarning, match="tree_classifier can") as warned:
        assert nlp.update(given, sgd=optimizer) == {}
    nlp.update(given, sgd=optimizer)
    assert warned[0].filename.endswith("language.py")
    assert nlp("so good").cats == before


@pytest.mark.parametrize(
    ("device", "known", "expected"),
    [
        ("cpu", ["benepar>=0.2"], ["benepar>=0.2", "thinstack[cpu]>=2.3.4,<2.4.0"]),
        ("cuda", [], ["thinstack[gpu]>=2.3.4,<2.4.0"]),
        ("webgpu", [], ["thinstack[webgpu]>=2.3.4,<2.4.0"]),
        ("cpu", ["thinstack==0.1"], ["thinstack==0.1"]),
    ],
)
def test_a_package_of_the_pipeline_requires_thinstack(monkeypatch, device, known, expected):
    monkeypatch.setattr(pipe, "__version__", "2.3.4")
    meta = {"requirements": known} if known else {}
    for _ in range(2):
        pipe.note_requirement(meta, device)
    assert meta["requirements"] == expected


SHORT = ["so good", "very awful", "A film. It was awful", "good"]


def bare(bundle, **settings):
    """The component alone, which gets Docs without sentences."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_sentiment", config={"model": str(bundle), "threads": 1, **settings})
    return nlp


def test_without_sentence_boundaries_the_document_is_one_sentence(last_word):
    nlp = bare(last_word.path)
    with pytest.warns(NoSentencesWarning, match=r"add_pipe\('sentencizer', before='tree_sent"):
        doc = nlp("A good film. It was awful")
    assert doc.cats == pytest.approx(expected("awful", 2), abs=1e-6)
    assert doc[:]._.sentiment_label == best(expected("awful", 2))


def test_it_warns_once_and_fails_no_batch(last_word):
    nlp = bare(last_word.path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", NoSentencesWarning)
        docs = [*nlp.pipe(SHORT * 5, batch_size=3), nlp("so good")]
    assert [each.category for each in told] == [NoSentencesWarning]
    assert [doc.text for doc in docs] == [*SHORT * 5, "so good"]
    # Where warnings are errors, a batch is tried again Doc by Doc.
    assert [doc.cats for doc in bare(last_word.path).pipe(SHORT)] == [doc.cats for doc in docs[:4]]


@pytest.mark.parametrize("words", [[], [" "], [" ", "\n"], ["good"]])
def test_it_does_not_warn_where_there_is_no_doubt(last_word, words):
    for nlp in (bare(last_word.path), pipeline(last_word.path)):
        doc = nlp(Doc(nlp.vocab, words=words))
        assert (max(doc.cats.values()) > 0) == (words == ["good"])


def test_many_long_documents_go_to_the_model_in_pieces(last_word, monkeypatch):
    monkeypatch.setattr(pipe, "BATCH_TOKENS", 20)
    nlp = pipeline(last_word.path)
    predictor, calls = nlp.get_pipe("tree_sentiment").predictor, list[int]()
    real = predictor.trees_and_scores
    monkeypatch.setattr(
        predictor,
        "trees_and_scores",
        lambda words, trees: calls.append(sum(map(len, words))) or real(words, trees),
    )
    texts = ["so good", "film " * 30, "so good", "so good", *["film " * 9 + "."] * 4, "good"]
    docs = list(nlp.pipe(texts, batch_size=100))
    assert calls == [2, 30, 14, 20, 11]
    assert [doc.text for doc in docs] == texts


@pytest.mark.parametrize(("batch_size", "ahead"), [(2, 1), (3, 1), (1, 0)])
def test_a_batch_is_read_while_the_one_before_is_scored(last_word, monkeypatch, batch_size, ahead):
    nlp = pipeline(last_word.path, threads=2)
    component, asked = nlp.get_pipe("tree_sentiment"), list[int]()
    second, places, met = threading.Event(), list[int](), list[bool]()
    real = component.predictor.trees_and_scores

    def texts():
        for place in range(9):
            asked.append(place)
            if place == 2 * batch_size - 1:
                second.set()
            yield SHORT[place % 4]

    def scores(words, trees):
        met.append(second.wait(20 * ahead))
        second.set()
        return real(words, trees)

    monkeypatch.setattr(component.predictor, "trees_and_scores", scores)
    for place, doc in enumerate(nlp.pipe(texts(), batch_size=batch_size)):
        assert (doc.text, doc.cats) == (SHORT[place % 4], nlp(SHORT[place % 4]).cats)
        places.append(len(asked))
    assert met[0] == bool(ahead)
    assert places == [min((place // batch_size + 1 + ahead) * batch_size, 9) for place in range(9)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("good", [0, 3, 4, 5])
def test_documents_before_a_broken_stream_are_given(last_word, threads, good):
    def texts():
        yield from ["so good"] * good
        raise OSError("the disk is gone")

    nlp, found = pipeline(last_word.path, threads=threads), list[Doc]()
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(nlp.pipe(texts(), batch_size=4))
    assert [doc.cats for doc in found] == [nlp("so good").cats] * good


def test_a_stream_that_is_left_leaves_no_thread(last_word):
    nlp = pipeline(last_word.path, threads=2)
    list(nlp.pipe(SHORT * 300))  # the threads of the pool stay
    before = threading.active_count()
    stream = nlp.pipe(iter(SHORT * 9), batch_size=2)
    next(stream)
    assert threading.active_count() == before + 1
    stream.close()
    del stream
    assert threading.active_count() == before
