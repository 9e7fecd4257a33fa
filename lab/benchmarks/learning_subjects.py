"""What the learning benchmark trains: every cell, every kind of encoder and every task head,
small."""

from dataclasses import dataclass
from typing import Any

from learning_tasks import ENTAILMENT, KAPPA, RANKING, RELATEDNESS, SST_NODES, SST_ROOTS, Task

from thinstack.core.config import ModelConfig
from thinstack.errors import ThinstackError
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import manager

SST, SICK = 50, 300  # columns of their vectors
TAI = {"bias": "double", "output_gate": False}  # the relatedness models of their Table 1
CHAIN = {"arity": 1}
PER_SIDE = {"inputs": "per_side"}
BINARY_CELLS = (
    "nary_lstm.v1",
    "spinn_lstm.v1",
    "s_lstm.v1",
    "dual_gate_lstm.v1",
    "lexicalized_lstm.v1",
    "rvnn.v1",
)
CELLS_OF_ANY_TREE = ("child_sum_lstm.v1", "tree_gru.v1", "dt_rnn.v1")
NODES, ROOTS, RATING = "node_classifier.v1", "root_classifier.v1", "similarity.v1"


@dataclass(frozen=True)
class Subject:
    """A model and what it is trained on. `relations`: how many of the most frequent relations its
    cell tells apart."""

    name: str
    task: Task
    config: ModelConfig
    learning_rate: float = 0.05
    relations: int = 0

    @property
    def title(self) -> str:
        return f"{self.name} on {self.task.name}"


def all_subjects() -> list[Subject]:
    """Ours, and one for every other registered cell, if it goes with any of the tasks."""
    ours = [*sentiment(), *encoders(), *spinn(), *sequences(), *dependency(), *heads()]
    named = {
        part.name
        for one in ours
        for part in (one.config.cell, one.config.encoder.top_down)
        if hasattr(part, "name")
    }
    cells = dict.fromkeys(
        record.name
        for record in manager().records()
        if record.kind == "cell" and record.status == "ok"
    )
    return [*ours, *(subject for cell in cells if cell not in named for subject in other(cell))]


def sentiment() -> list[Subject]:
    """Cells over the binary trees of SST, every node labelled."""
    return [
        *(_sst(cell) for cell in (*BINARY_CELLS, *CELLS_OF_ANY_TREE, "word_mean.v1")),
        *(_sst("nary_lstm.v1", forget=forget) for forget in ("diagonal", "tied")),
        _sst("nary_lstm.v1", leaf="own"),
        _sst("nary_lstm.v1", **TAI),
        *(_sst("lexicalized_lstm.v1", lexicalize=way) for way in ("left", "right", "average")),
        _sst("rvnn.v1", leaf="word"),
        _sst("rntn.v1", hidden=25),
        _sst("rntn.v1", hidden=25, size=25, leaf="word"),
        _sst("mv_rnn.v1", hidden=25),
        _sst("mv_rnn.v1", hidden=25, rank=3),
        _sst(
            "mv_rnn.v1", size=200, rank=1, leaf="table"
        ),  # a vector of 50, and 3 x 50 numbers for its matrix
    ]


def encoders() -> list[Subject]:
    """More than one pass from the leaves up, and other trees than the treebank's.

    900 labels of roots are learned by heart within a few epochs at the others' learning rate.
    """
    down = {"name": "top_down_lstm.v1", "hidden_size": 50}
    found = [
        _sst("nary_lstm.v1", "2 layers", encoder={"layers": 2}),
        _sst("rvnn.v1", "3 layers", encoder={"layers": 3}),
        _sst("lexicalized_lstm.v1", "bidirectional", encoder={"top_down": down}),
        _sst(
            "lexicalized_lstm.v1",
            "bidirectional, inputs=per_side",
            encoder={"top_down": down | {"options": PER_SIDE}},
        ),
        _sst(
            "lexicalized_lstm.v1",
            "bidirectional",
            task=SST_ROOTS["gold"],
            encoder={"top_down": down},
            learning_rate=0.01,
        ),
    ]
    return found + [_sst("s_lstm.v1", task=task, learning_rate=0.01) for task in SST_ROOTS.values()]


def spinn() -> list[Subject]:
    """With a tracking LSTM: over given trees, and with a parser, which is taught beside the
    task."""
    given, own, apart = (
        {"tracker": {"size": 32} | more} for more in ({"parses": False}, {}, {"feeds": False})
    )
    entailment = {
        "task": ENTAILMENT,
        "head": "entailment.v1",
        "learning_rate": 0.002,
        "trees": "binary",
    }
    return [
        _sst("spinn_lstm.v1", "SPINN-PI", encoder=given),
        _sst("spinn_lstm.v1", "SPINN", encoder=own),
        _sst("nary_lstm.v1", "parser beside it", encoder=apart),
        _sick("spinn_lstm.v1", "SPINN-PI", encoder=given, **entailment | {"learning_rate": 0.001}),
        _sick("spinn_lstm.v1", "SPINN", encoder=own, **entailment),
    ]


def sequences() -> list[Subject]:
    """The sequential baselines of the papers; the last state of each direction is read."""
    cell = {"name": "nary_lstm.v1", "hidden_size": 50, "options": CHAIN}
    shared, own = (
        {"top_down": down, "separate": True, "readout": ["up", "leaves"]}
        for down in ("shared", cell)
    )
    return [
        _sick("nary_lstm.v1", "LSTM", trees="sequence", **CHAIN),
        _sick("nary_lstm.v1", "2-layer LSTM", trees="sequence", encoder={"layers": 2}, **CHAIN),
        _sick(
            "nary_lstm.v1",
            "bidirectional LSTM, shared weights",
            trees="sequence",
            encoder=shared,
            **CHAIN,
        ),
        _sick("nary_lstm.v1", "bidirectional LSTM", trees="sequence", encoder=own, **CHAIN),
        _sick(
            "nary_lstm.v1",
            "bidirectional 2-layer LSTM",
            trees="sequence",
            encoder=own | {"layers": 2},
            **CHAIN,
        ),
        _sick("peephole_lstm.v1", "peephole LSTM", trees="sequence"),
        _sick("word_mean.v1", "mean of words", trees="sequence", hidden=SICK),
    ]


def dependency() -> list[Subject]:
    """Cells over the parses of SICK."""
    down = {"name": "top_down_lstm.v1", "hidden_size": 50}
    return [
        *(_sick(cell, trees="dependency") for cell in CELLS_OF_ANY_TREE),
        _sick("child_sum_lstm.v1", trees="dependency", **TAI),
        _sick("child_sum_lstm.v1", "bidirectional", trees="dependency", encoder={"top_down": down}),
        _sick("nary_lstm.v1", trees="dependency", arity=10, forget="tied"),
        _sick("sdt_rnn.v1", "30 relations", trees="dependency", relations=30),
        _sick("word_mean.v1", trees="dependency", hidden=SICK),
        _sick("nary_lstm.v1", trees="constituency", leaf="own", **TAI),
    ]


def heads() -> list[Subject]:
    """Heads that none of the others have, and options of theirs.

    At the others' learning rate batch normalisation before wide layers diverges, and the ranker's
    ReLU dies.
    """
    ranking = {
        "task": RANKING,
        "head": "tree_ranker.v1",
        "head_options": {"kappa": KAPPA},
        "learning_rate": 0.005,
    }
    entailment = {"task": ENTAILMENT, "head": "entailment.v1", "learning_rate": 0.002}
    return [
        _sst("s_lstm.v1", "hidden layer", head=NODES, head_options={"hidden": 50}),
        _sick("spinn_lstm.v1", trees="binary", **entailment),
        _sick("child_sum_lstm.v1", trees="dependency", head_options={"layers": 1}, **entailment),
        *(_sst(cell, **ranking) for cell in ("s_lstm.v1", "lexicalized_lstm.v1")),
    ]


def other(cell: str) -> list[Subject]:
    """The first of these that a cell of someone else's can do: binary trees, sentences, dependency
    trees; or none."""
    candidates = [_sst(cell), *(_sick(cell, trees=trees) for trees in ("sequence", "dependency"))]
    return [subject for subject in candidates if _fits(subject)][:1]


def _fits(subject: Subject) -> bool:
    try:
        build_model(subject.config, entries=1)
    except ThinstackError:
        return False
    return True


def _sst(
    cell: str,
    kind: str = "",
    *,
    task: Task = SST_NODES,
    head: str = "",
    size: int = SST,
    **more: Any,
) -> Subject:
    reads = NODES if task is SST_NODES else ROOTS
    return _subject(cell, kind, task=task, head=head or reads, size=size, trees="binary", **more)


def _sick(
    cell: str,
    kind: str = "",
    *,
    task: Task = RELATEDNESS,
    head: str = RATING,
    trees: str,
    **more: Any,
) -> Subject:
    kinds = (kind, "" if trees == "sequence" else f"{trees} trees")
    return _subject(
        cell, ", ".join(filter(None, kinds)), task=task, head=head, size=SICK, trees=trees, **more
    )


def _subject(
    cell: str,
    kind: str,
    *,
    task: Task,
    head: str,
    size: int,
    trees: str,
    hidden: int = 50,
    head_options: dict[str, Any] | None = None,
    encoder: dict[str, Any] | None = None,
    learning_rate: float = 0.05,
    relations: int = 0,
    **options: Any,
) -> Subject:
    """A subject; the name says the cell, its options, and what else there is to it."""
    config = {
        "labels": task.labels,
        "embedding": {"kind": "words", "size": size},
        "cell": {"name": cell, "hidden_size": hidden, "options": options},
        "head": {"name": head, "options": head_options or {}},
        "encoder": encoder or {},
        "trees": trees,
    }
    parts = [cell, *(f"{name}={value}" for name, value in options.items()), kind]
    name = ", ".join(part for part in parts if part)
    return Subject(name, task, ModelConfig.parse(config, source=name), learning_rate, relations)
