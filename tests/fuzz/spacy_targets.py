"""What spaCy hands to thinstack: saved components, results on a Doc, files of Docs."""

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path

import spacy
from fuzz.changes import any_of, mutated_bytes, mutated_json, mutated_text
from fuzz.target import Target, reading
from fuzz.text_targets import GOLDEN
from spacy.tokens import Doc, DocBin

import thinstack
from thinstack.integrations.spacy.aspects_component import register_aspects
from thinstack.integrations.spacy.doc_bins import doc_texts, read_doc_bin
from thinstack.integrations.spacy.doc_results import predictions
from thinstack.integrations.spacy.vectors_component import DocVectors

TEXT = "The film is not bad. I like it"
ATTRIBUTES = ("label", "scores", "exact", "span", "tree", "phrases", "parts")


@cache
def nlp():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("tree_sentiment", config={"model": str(GOLDEN / "words"), "threads": 1})
    return pipeline


def component():
    return nlp().get_pipe("tree_sentiment")


def saved(content, folder):
    """A component from bytes runs, or is refused."""
    component().from_bytes(content)
    return len(nlp()(TEXT).cats)


def stored(content, folder):
    """Results that a file of Docs may hold: what is taken can be asked for."""
    doc = nlp().make_doc(TEXT)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return "no JSON"
    doc._.tree_sentiment = value
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "tree_vectors: .* hooks")
        copy = Doc(nlp().vocab).from_bytes(doc.to_bytes())
    assert copy._.tree_sentiment == doc._.tree_sentiment
    return asked(copy)


def handed_on(content, folder):
    """A Doc with results as spaCy reads it, if it does."""
    try:
        doc = Doc(nlp().vocab).from_bytes(content)
    except Exception:  # spaCy's own, of many kinds
        return "no Doc"
    return asked(doc)


def asked(doc):
    """All that can be asked of results."""
    _ = doc._.tree_sentiment, doc._.sentiment_label, doc._.sentiment_scores
    for start, end in ((0, 2), (1, 6), (0, len(doc))):
        for name in ATTRIBUTES:
            getattr(doc[start:end]._, f"sentiment_{name}")
    register_aspects()
    _ = doc._.aspects, doc[1:3]._.about
    if any(sentence.vectors is not None for sentence in predictions(doc)):
        vectors = DocVectors("tree_sentiment")
        vectors.attach(doc)
        _ = doc.vector, doc[0].vector, doc[0:2].has_vector
    return str(len(thinstack.render(doc)) > 0)


def results():
    values = [nlp()(text)._.tree_sentiment for text in (TEXT, "Good")]
    # What `tree_aspects` leaves, also of a model that finds terms.
    scale = {"labels": ["negative", "neutral", "positive"], "polarity": [-1, 0, 1]}
    aspects = {**scale, "kind": "tree_aspects", "about": ["film", "like"]}
    values += [value | aspects for value in values]
    own = values[0]["sentences"]
    sentences = [one | {"terms": [0.5] * len(one["scores"])} for one in own]
    values.append(values[0] | aspects | {"about": None, "sentences": sentences})
    # What `tree_vectors` leaves.
    sentences = [one | {"vectors": [[0.6, 0.8]] * len(one["scores"])} for one in own]
    values.append(values[0] | {"kind": "tree_vectors", "sentences": sentences})
    return [json.dumps(value).encode() for value in values]


def doc_bins():
    docs = list(nlp().pipe([TEXT, "Good"]))
    docs[0].cats = {"pos": 1.0, "neg": 0.0}
    docs[0].spans["s"] = [docs[0][0:2]]
    with tempfile.TemporaryDirectory() as folder:
        DocBin(docs=docs, store_user_data=True).to_disk(Path(folder) / "a.spacy")
        return [(Path(folder) / "a.spacy").read_bytes()]


def texts_of(path):
    rows = list(read_doc_bin(path, ["text", "label"], skipped=[]))
    return len(rows) + len(list(doc_texts(path)))


_JSON = any_of(mutated_json, mutated_json, mutated_text(separators="[,: ]"))
TARGETS = {
    "spaCy component": Target(lambda: [component().to_bytes()], mutated_bytes, saved, 60),
    "spaCy file of Docs": Target(doc_bins, mutated_bytes, reading("a.spacy", texts_of), 200),
    "results on a Doc": Target(results, _JSON, stored, 200),
    "Doc from bytes": Target(lambda: [nlp()(TEXT).to_bytes()], mutated_bytes, handed_on, 200),
}
