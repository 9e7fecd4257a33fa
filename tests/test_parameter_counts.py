"""The parameter counts that the papers print, from configuration alone."""

import re

import pytest
from core.configured import build
from pages import ROOT

from thinstack.plugins.manager import manager


def model_of(cell, head=None, **config):
    fields = {"labels": ["1", "2", "3", "4", "5"], "embedding": {"kind": "words", "size": 300}}
    return build(cell, head, **fields | config)


def count(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


TENG = [  # Table 4, with the classifier: cell, D, bidirectional, count
    ("s_lstm.v1", 150, False, 538_223),
    ("lexicalized_lstm.v1", 75, False, 376_673),
    ("lexicalized_lstm.v1", 150, False, 763_523),
    ("lexicalized_lstm.v1", 215, False, 1_253_493),
    ("lexicalized_lstm.v1", 300, False, 2_110_973),
    ("lexicalized_lstm.v1", 75, True, 564_923),
    ("lexicalized_lstm.v1", 150, True, 1_297_523),
]


@pytest.mark.parametrize(("cell", "d", "bidirectional", "expected"), TENG)
def test_table_4_of_teng(cell, d, bidirectional, expected):
    encoder = {"top_down": {"name": "top_down_lstm.v1", "hidden_size": d}} if bidirectional else {}
    head = {"name": "root_classifier.v1", "options": {"hidden": 128}}
    model = model_of({"name": cell, "hidden_size": d}, head, encoder=encoder)
    assert count(model.encoder, model.head) == expected


D, MLP, LABELS = 300, 1024, 3
LEAF_AND_COMPOSITION = (D * 2 * D + 2 * D) + (2 * D * 5 * D + 5 * D)  # (4) and (1) without e
LSTM = 4 * (D * D + D * D + D)  # it reads the word vectors themselves, with one bias a gate


def classifier(layers):
    """Of (6)."""
    return 4 * D * MLP + MLP + (layers - 1) * (MLP * MLP + MLP) + MLP * LABELS + LABELS


def tracking(size, *, parses):
    """e as an input of (1); the tracking LSTM over h_s^2, h_s^1, h_b^1, one bias a gate; (5)."""
    lstm = 3 * D * 4 * size + size * 4 * size + 4 * size
    return size * 5 * D + lstm + (size * 2 + 2 if parses else 0)


SPINN, CHAIN = {"name": "spinn_lstm.v1"}, {"name": "nary_lstm.v1", "options": {"arity": 1}}
PI, OWN = {"size": 61, "parses": False}, {"size": 79, "parses": True}
# Table 3, without embeddings and batch normalisation: cell, what else is configured, layers of the
# MLP, formula of the encoder, count
BOWMAN = {
    "LSTM": (CHAIN, {"trees": "sequence"}, 2, LSTM, 3_003_699),
    "SPINN-PI-NT": (SPINN, {}, 2, LEAF_AND_COMPOSITION, 3_364_599),
    "SPINN-PI": (SPINN, PI, 2, LEAF_AND_COMPOSITION + tracking(**PI), 3_690_827),
    "SPINN": (SPINN, OWN, 1, LEAF_AND_COMPOSITION + tracking(**OWN), 2_743_339),
}


@pytest.mark.parametrize("variant", BOWMAN)
def test_table_3_of_bowman(variant):
    cell, more, layers, formula, expected = BOWMAN[variant]
    assert formula + classifier(layers) == expected
    options = {"layers": layers, "width": MLP, "batch_norm": False}
    head = {"name": "entailment.v1", "options": options}
    more = {"encoder": {"tracker": more}} if "size" in more else more
    model = model_of(cell | {"hidden_size": D}, head, labels=["e", "c", "n"], **more)
    assert count(model.encoder, model.head) == expected


def page_counts():
    """The count that a row of the tables of docs/parts.md gives for each cell and task head."""
    found = {}
    page = ROOT / "docs" / "parts.md"
    for line in page.read_text(encoding="utf-8").splitlines():
        row = [part.strip() for part in line.split("|")]
        if len(row) > 5 and (name := re.fullmatch(r"`(\w+\.v\d+)`", row[1])):
            number = re.match(r"[\d,]+", row[5 if len(row) > 7 else 4])[0]
            found[name[1]] = int(number.replace(",", ""))
    return found


def test_the_page_has_the_count_of_every_cell_and_head():
    found = {}
    for record in manager().records():
        if (record.distribution, record.kind) == ("thinstack", "cell"):
            hidden = {"rntn.v1": 25, "mv_rnn.v1": 25, "word_mean.v1": 300}.get(record.name, 150)
            kinds = 2 if record.name == "top_down_lstm.v1" else 1
            sizes = {"input_size": 300, "hidden_size": hidden, "kinds": kinds}
            found[record.name] = count(manager().find("cell", record.name).create({}, **sizes))
        elif (record.distribution, record.kind) == ("thinstack", "head"):
            head = manager().find("head", record.name).create({}, hidden_size=150, classes=5)
            found[record.name] = count(head)
    assert page_counts() == found
