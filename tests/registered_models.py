"""Small models of every registered cell, head, embedding, encoder and parser."""

import torch
from core.configured import CHILD_SUM, LEXICALIZED, RANKER, SPINN, H, build, config_of
from tiny_encoder import MPNET, OPTIONS, WIDTH

from thinstack.plugins.manager import manager

PIECES = {"kind": "wordpieces", "size": 3}
BERT = PIECES | {"name": "transformer.v1", "size": 2 * WIDTH, "options": OPTIONS | {"rows": True}}
MPNET_STATIC = BERT | {"size": WIDTH + 3, "options": MPNET | {"static": 3}}
DISTANCES = {"name": "distances.v1", "options": {"width": 4, "lstm": 3, "hidden": 5}}
DOWN = {"top_down": {"name": "top_down_lstm.v1", "hidden_size": 4}}
OTHERS = {
    "wordpieces": {"embedding": PIECES},
    "BERT, rows": {"embedding": BERT},
    "MPNet, static": {"embedding": MPNET_STATIC},
    "wordpieces, a parser": {"embedding": PIECES, "parser": DISTANCES},
    "a parser": {"parser": DISTANCES},
    "SPINN": {"cell": SPINN, "encoder": {"tracker": {"size": 5}}},
    "a tracker beside": {"encoder": {"tracker": {"size": 5, "feeds": False}}},
    "top-down": {"cell": LEXICALIZED, "encoder": DOWN},
}

AS_WIDE = {"embedding": {"kind": "words", "size": H}}
"""What a cell needs whose words are as wide as its states."""
S_LSTM, CHAIN = {"name": "s_lstm.v1"}, {"options": {"arity": 1}}
ROOTS, ENTAILMENT = {"name": "root_classifier.v1"}, {"name": "entailment.v1"}
VECTOR = {"name": "vector.v1", "options": {"size": 5, "hidden": 6}}
PAIRS = {"head": {"name": "similarity.v1"}}
SEQUENCES, DEPENDENCIES = {"trees": "sequence", **PAIRS}, {"trees": "dependency", **PAIRS}
GIVEN, OWN, APART = (
    {"encoder": {"tracker": {"size": 5} | more}}
    for more in ({"parses": False}, {}, {"feeds": False})
)
SHARED, BOTH = (
    {"top_down": down, "separate": True, "readout": ["up", "leaves"]}
    for down in ("shared", {"name": "nary_lstm.v1", "hidden_size": H, **CHAIN})
)


def named(name, **options):
    return {"cell": {"name": name, "options": options}}


CELLS = {
    **{
        name: named(name)
        for name in (
            *("child_sum_lstm.v1", "dt_rnn.v1", "dual_gate_lstm.v1", "lexicalized_lstm.v1"),
            *("mean_beside.v1", "mv_rnn.v1", "nary_lstm.v1", "rntn.v1", "rvnn.v1", "s_lstm.v1"),
            *("spinn_lstm.v1", "tree_gru.v1"),
        )
    },
    "word_mean.v1": named("word_mean.v1") | AS_WIDE,
    "vectors": named("mean_beside.v1", reads="state") | {"labels": (), "head": VECTOR},
    "2 layers": {"encoder": {"layers": 2}},
    "3 layers": named("rvnn.v1") | {"encoder": {"layers": 3}},
    "down": {"cell": LEXICALIZED, "encoder": DOWN},
    "down, per side": {
        "cell": LEXICALIZED,
        "encoder": {"top_down": DOWN["top_down"] | {"options": {"inputs": "per_side"}}},
    },
    "down, roots": {"cell": LEXICALIZED, "encoder": DOWN, "head": ROOTS},
    "roots": {"cell": S_LSTM, "head": ROOTS},
    "SPINN-PI": {"cell": SPINN, **GIVEN},
    "SPINN": {"cell": SPINN, **OWN},
    "SPINN beside": APART,
    "pairs, SPINN-PI": {"cell": SPINN, "head": ENTAILMENT, **GIVEN},
    "pairs, SPINN": {"cell": SPINN, "head": ENTAILMENT, **OWN},
    "pairs": {"cell": SPINN, "head": ENTAILMENT},
    "LSTM": {"cell": CHAIN, **SEQUENCES},
    "2-layer LSTM": {"cell": CHAIN, "encoder": {"layers": 2}, **SEQUENCES},
    "bidirectional LSTM, shared": {"cell": CHAIN, "encoder": SHARED, **SEQUENCES},
    "bidirectional LSTM": {"cell": CHAIN, "encoder": BOTH, **SEQUENCES},
    "bidirectional 2-layer LSTM": {"cell": CHAIN, "encoder": BOTH | {"layers": 2}, **SEQUENCES},
    "peephole LSTM": named("peephole_lstm.v1") | SEQUENCES,
    "mean of words": named("word_mean.v1") | AS_WIDE | SEQUENCES,
    **{
        f"{name}, dependencies": named(name) | DEPENDENCIES
        for name in ("child_sum_lstm.v1", "tree_gru.v1", "dt_rnn.v1")
    },
    "child_sum_lstm.v1, down": {"cell": CHILD_SUM, "encoder": DOWN, **DEPENDENCIES},
    "many children": named("nary_lstm.v1", arity=10) | DEPENDENCIES,
    "relations": named("sdt_rnn.v1") | {"relations": ["nsubj", "obj"], **DEPENDENCIES},
    "mean of words, dependencies": named("word_mean.v1") | AS_WIDE | DEPENDENCIES,
    "constituents": PAIRS | {"trees": "constituency"},
    "pairs, dependencies": {"cell": CHILD_SUM, **DEPENDENCIES, "head": ENTAILMENT},
    "ranker": {"cell": S_LSTM, "head": RANKER},
    "ranker, head words": {"cell": LEXICALIZED, "head": RANKER},
}
"""Every registered cell and task head, and each kind of trees and encoder that it goes with."""


def cell_models():
    """The models of `CELLS`, with biases that are not zero: names, models and configurations."""
    for name, fields in CELLS.items():
        torch.manual_seed(0)
        labels = {"labels": ["1", "2", "3"]}
        model = build(entries=60, **labels | fields).eval()
        with torch.no_grad():
            for weight in model.parameters():
                if weight.dim() == 1:
                    weight.normal_(std=0.1)
        yield name, model, config_of(**labels | fields)


def registered_models():
    """The models of `CELLS`, then those that differ in more."""
    yield from cell_models()
    for name, fields in OTHERS.items():
        torch.manual_seed(0)
        yield name, build(entries=60, **fields).eval(), config_of(**fields)


def registered(*kinds):
    """The names of what the package brings of these kinds."""
    records = manager().records()
    return {one.name for one in records if one.distribution == "thinstack" and one.kind in kinds}


def parts_of(config):
    """The names of its registered parts."""
    down = config.encoder.top_down
    parts = [config.cell, config.head, config.parser, down]
    found = {part.name for part in parts if hasattr(part, "name")}
    return found | {config.embedding.registered, *(["spinn.v1"] if config.encoder.tracker else [])}
