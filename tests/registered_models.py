"""Small models of every registered cell, head, embedding, encoder and parser."""

from pathlib import Path

import torch
from core.configured import LEXICALIZED, SPINN, build, config_of
from tiny_encoder import MPNET, OPTIONS, WIDTH

BENCHMARKS = Path(__file__).parents[1] / "lab" / "benchmarks"
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


def registered_models(patch):
    """One of every registered cell, kind of trees, encoder and head, four wide, then those that
    differ in more: names, models and configurations."""
    patch.syspath_prepend(BENCHMARKS)
    from export_subjects import exportables

    for one in exportables(" on ", 4, every=False):
        yield one.name, one.model, one.config
    for name, fields in OTHERS.items():
        torch.manual_seed(0)
        yield name, build(entries=60, **fields).eval(), config_of(**fields)


def parts_of(config):
    """The names of its registered parts."""
    down = config.encoder.top_down
    parts = [config.cell, config.head, config.parser, down]
    found = {part.name for part in parts if hasattr(part, "name")}
    return found | {config.embedding.registered, *(["spinn.v1"] if config.encoder.tracker else [])}
