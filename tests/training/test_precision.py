"""Training in bfloat16: what is computed in it, what is not, and where it is refused."""

import pytest
import tiny_recipe
import torch
from runs import run

from thinstack.errors import ConfigError
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.training.loop import learner, losses
from thinstack.training.loop.learner import build_optimizers, optimizer_tensors

APART = {"encoder": {"tracker": {"size": 3, "feeds": False}}}
FEEDS = {"encoder": {"tracker": {"size": 3}}}
DISTANCES = {"parser": {"name": "distances.v1"}}


@pytest.fixture
def has_bf16(monkeypatch):
    """As on a CPU that has it; others emulate it."""
    monkeypatch.setattr(losses, "has_bf16", lambda device: True)


@pytest.fixture
def dtypes(monkeypatch):
    """The types of rows that a head is given, each with whether it is in training."""
    seen, forward = set(), NodeClassifier.forward

    def watch(head, rows):
        seen.add((head.training, rows.dtype))
        return forward(head, rows)

    monkeypatch.setattr(NodeClassifier, "forward", watch)
    return seen


def recipe_of(*, precision="bf16", **settings):
    return tiny_recipe.recipe(**{"sources": (), "precision": precision, **settings})


@pytest.mark.usefixtures("has_bf16")
def test_states_are_bf16_in_training_and_all_else_is_float32(data, tmp_path, monkeypatch, dtypes):
    logits, optimizers, loss = set(), [], NodeClassifier.loss

    def watch_loss(head, values, labels):
        logits.add(values.dtype)
        return loss(head, values, labels)

    def keep(*args):
        optimizers.append(build_optimizers(*args))
        return optimizers[-1]

    monkeypatch.setattr(NodeClassifier, "loss", watch_loss)
    monkeypatch.setattr(learner, "build_optimizers", keep)
    weights, _ = run(recipe_of(rule="adam", stop_on="dev"), data, tmp_path)
    assert dtypes == {(True, torch.bfloat16), (False, torch.float32)}
    assert logits == {torch.float32}
    assert {str(value.dtype) for value in weights.values()} == {"float32"}
    state = optimizer_tensors(optimizers[0])
    assert len(state) > 4
    assert {value.dtype for value in state.values()} == {torch.float32}


@pytest.mark.usefixtures("has_bf16")
@pytest.mark.parametrize("model", [{}, APART, FEEDS, DISTANCES], ids=str)
def test_bf16_learns_what_float32_does(model, data, tmp_path):
    settings = {"model": model, "epochs": 2, "embedding": {"dropout": 0.0}}
    if model == FEEDS:
        settings["cell"] = {"name": "spinn_lstm.v1"}
    exact = run(recipe_of(precision="float32", **settings), data, tmp_path / "float32")[1]
    found = run(recipe_of(**settings), data, tmp_path / "bf16")[1]
    assert [record["loss"] for record in found] != [record["loss"] for record in exact]
    for one, other in zip(found, exact, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=0.02)
        assert one.get("parsing_loss", 0) == pytest.approx(other.get("parsing_loss", 0), rel=0.1)


@pytest.mark.usefixtures("has_bf16")
def test_a_cell_that_does_not_take_it_is_named(data, tmp_path, monkeypatch):
    monkeypatch.setattr(NaryLSTM, "bf16", False)
    with pytest.raises(ConfigError, match=r"'bf16'.*NaryLSTM"):
        run(recipe_of(), data, tmp_path)
    run(recipe_of(precision="float32", epochs=1), data, tmp_path)


def test_a_device_that_emulates_it_is_refused(data, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "amx_bf16": False})
    with pytest.raises(ConfigError, match=r"this CPU.*precision"):
        run(recipe_of(), data, tmp_path / "emulated")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    run(recipe_of(epochs=1), data, tmp_path / "has it")


@pytest.mark.parametrize(("capability", "has"), [("AVX512", True), ("AVX2", False)])
def test_an_older_torch_tells_the_kind_of_cpu_alone(capability, has, monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert losses.has_bf16(torch.device("cpu")) == has


@pytest.fixture
def timed(monkeypatch):
    """Takes the seconds that a step has in float32 and in bfloat16, round by round; returns the
    steps that were timed."""

    def replace(exact, lower):
        left, asked = {False: iter(exact), True: iter(lower)}, []

        class Timer:
            def __init__(self, step, **settings):
                self.lower = "bfloat16" in step

            def timeit(self, number):
                assert torch.get_num_threads() == 1
                asked.append(self.lower)
                return next(left[self.lower])

        monkeypatch.setattr(losses, "Timer", Timer)
        return asked

    losses._pays_on_cpu.cache_clear()
    yield replace
    losses._pays_on_cpu.cache_clear()


@pytest.mark.parametrize(
    ("exact", "lower", "faster"),
    [
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], True),
        ([1.0, 1.0, 1.0], [0.95, 0.95, 0.95], False),  # too little to tell
        ([1.0, 9.0, 9.0], [5.0, 5.0, 0.8], True),  # others were at work, in some rounds
        ([2.0, 1.0, 9.0], [1.5, 1.2, 1.1], False),
    ],
)
def test_auto_takes_it_on_a_cpu_that_is_faster_in_it(
    exact, lower, faster, timed, data, tmp_path, monkeypatch, dtypes
):
    asked, flags = timed(exact, lower), {"avx512_bf16": True, "amx_bf16": False}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: flags, raising=False)
    run(recipe_of(precision="auto", epochs=2), data, tmp_path)
    trained = {dtype for training, dtype in dtypes if training}
    assert trained == {torch.bfloat16 if faster else torch.float32}
    assert sorted(asked) == [False] * 3 + [True] * 3  # once, though there are many minibatches
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True}, raising=False)
    assert not losses.faster_in_bf16(torch.device("cpu"))


def test_the_step_that_is_timed_draws_nothing_and_leaves_the_threads():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    losses._pays_on_cpu.cache_clear()
    with torch.no_grad():
        assert losses._pays_on_cpu() in (True, False)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
