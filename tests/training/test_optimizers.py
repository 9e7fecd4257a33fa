"""Steps of the optimisers against their rules written out in numpy."""

import copy

import numpy as np
import pytest
import tiny_recipe
import torch
from numpy.typing import NDArray
from runs import weights
from tiny_encoder import contextual_recipe

from thinstack.errors import ConfigError
from thinstack.plugins.build import build_model
from thinstack.training.loop.learner import Learner, build_optimizers, set_rates

Rows = NDArray[np.float32]
RATE, VECTOR_RATE, DECAY = 0.05, 0.7, 0.01


def new_model():
    torch.manual_seed(0)
    return build_model(tiny_recipe.recipe().model, entries=6)


def steps(model, **settings):
    """Gradients and the weights after each step; the table's are sparse, with a row that occurs
    twice."""
    rates = {"learning_rate": RATE, "vector_learning_rate": VECTOR_RATE, "weight_decay": DECAY}
    config = tiny_recipe.recipe(**{**rates, **settings}).training
    optimizers = build_optimizers(model, config)
    for _ in range(3):
        gradients = {}
        for name, parameter in model.named_parameters():
            gradient = torch.randn(parameter.shape)
            if name == "embedding.table" and parameter.requires_grad:
                rows = torch.tensor([[1, 4, 1]])
                sparse = torch.sparse_coo_tensor(
                    rows, gradient[:3], parameter.shape, check_invariants=True
                )
                parameter.grad, gradient = sparse, sparse.to_dense()
            elif parameter.requires_grad:
                parameter.grad = gradient
            gradients[name] = gradient.numpy().copy()
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            for optimizer in optimizers.values():
                optimizer.step()
        yield gradients, weights(model)


# How much of a running sum of squares a rule keeps, and how much of a square it adds.
SQUARES = {"adagrad": (1, 1), "rmsprop": (0.99, 0.01), "adam": (0.999, 0.001)}


def change(rule, gradient, state):
    """What a rule takes from a weight, but for the learning rate. Adam's means (0.9, 0.999) make up
    for their start."""
    if rule == "sgd":
        return gradient
    kept, added = SQUARES[rule]
    state["step"] = step = state.get("step", 0) + 1
    state["square"] = square = kept * state.get("square", 0) + added * gradient**2
    state["mean"] = mean = 0.9 * state.get("mean", 0) + 0.1 * gradient
    if rule == "adam":
        return mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return gradient / (np.sqrt(square) + (1e-10 if rule == "adagrad" else 1e-8))


@pytest.mark.parametrize(
    ("rule", "vector_rule"),
    [
        *(("adagrad", "sgd"), ("adagrad", "adagrad"), ("rmsprop", "sgd")),
        *(("adam", "sgd"), ("adam", "adam"), ("adamw", "adam")),
    ],
)
def test_the_model_takes_a_rule_with_l2_and_the_table_one_of_its_own_without(rule, vector_rule):
    """AdamW takes its decay from matrices, and not by way of gradients."""
    model = new_model()
    before = weights(model)
    states = {name: {} for name in before}
    for gradients, after in steps(model, rule=rule, vector_rule=vector_rule):
        for name, value in after.items():
            own, kept = gradients[name], 1
            if name == "embedding.table":
                step = VECTOR_RATE * change(vector_rule, own, states[name])
            elif rule == "adamw":
                step = RATE * change("adam", own, states[name])
                kept = 1 - RATE * DECAY if own.ndim > 1 else 1
            else:
                step = RATE * change(rule, own + DECAY * before[name], states[name])
            np.testing.assert_allclose(value, kept * before[name] - step, 1e-5, 1e-6, err_msg=name)
        before = after


def test_a_rate_of_zero_freezes_the_vectors_alone():
    model = new_model()
    before = weights(model)
    (_, after) = list(steps(model, vector_learning_rate=0))[-1]
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == before.keys() - {"embedding.table"}


def contextual_model(layers=3):
    torch.manual_seed(0)
    return build_model(contextual_recipe({"layers": layers}).model, entries=6)


def test_layers_of_an_encoder_learn_the_slower_the_lower_they_are():
    model = contextual_model()
    settings = {"encoder_learning_rate": 0.8, "layer_decay": 0.5, "learning_rate": RATE}
    config = tiny_recipe.recipe(rule="adamw", weight_decay=DECAY, **settings).training
    groups = build_optimizers(model, config)["model"].param_groups
    found = {
        name: (group["lr"], group["weight_decay"])
        for name, weight in model.named_parameters()
        for group in groups
        if any(weight is each for each in group["params"])
    }
    assert found.keys() == {name for name, _ in model.named_parameters()} - {"embedding.table"}
    for name, (rate, decay) in found.items():
        layer = name.removeprefix("embedding.encoder.layers.")[0]
        expected = {"0": 0.2, "1": 0.4, "2": 0.8}.get(layer, RATE)
        if name.startswith(("embedding.encoder.position", "embedding.encoder.norm")):
            expected = 0.1
        assert rate == pytest.approx(expected), name
        matrix = name.endswith((".w", ".u", ".linear.weight"))
        assert decay == (DECAY if matrix else 0.0), name


def test_frozen_layers_and_what_lies_below_them_learn_nothing():
    model = contextual_model()
    config = tiny_recipe.recipe(frozen_layers=2).training
    assert build_optimizers(model, config).keys() == {"model"}
    learning = {name for name, weight in model.named_parameters() if weight.requires_grad}
    embedding = {name for name in learning if name.startswith("embedding.")}
    names = {name for name, _ in model.named_parameters()}
    assert embedding == {name for name in names if "encoder.layers.2." in name}
    assert learning - embedding == {name for name in names if not name.startswith("embedding.")}


def test_more_frozen_layers_than_there_are_are_refused():
    for model, layers in ((contextual_model(), 3), (new_model(), 0)):
        config = tiny_recipe.recipe(frozen_layers=layers + 1).training
        with pytest.raises(ConfigError, match=f"has {layers} .*layers, found {layers + 1}"):
            build_optimizers(model, config)


def gradients(model, clip):
    """Those that the optimisers of a step are given, by their names."""
    learner, found = Learner(copy.deepcopy(model), tiny_recipe.recipe(clip=clip).training), {}
    for name, optimizer in learner.optimizers.items():
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        optimizer.register_step_pre_hook(
            lambda *_, name=name, weights=weights: found.update(
                {name: torch.cat([weight.grad.flatten() for weight in weights])}
            )
        )
    learner.learn(sum((weight**2).sum() for weight in learner.model.parameters()))
    learner.step()
    return found


def test_gradients_of_the_model_are_shortened_to_the_length_that_clip_says():
    model = new_model()
    whole, shortened, left = (gradients(model, clip) for clip in (None, 0.05, 1e4))
    length = whole["model"].norm()
    assert 0.05 < length < 1e4
    torch.testing.assert_close(shortened["model"], 0.05 * whole["model"] / length)
    assert torch.equal(left["model"], whole["model"])
    assert torch.equal(shortened["vectors"], whole["vectors"])


def test_rates_fall_in_steps():
    """Bowman et al. 2016, 4.1: 0.75 times the rate every so often; here every half epoch."""
    config = tiny_recipe.recipe(
        rule="adam", learning_rate=RATE, vector_learning_rate=VECTOR_RATE, epochs=10,
        rate_factor=0.75, rate_epochs=0.5,
    ).training  # fmt: skip
    optimizers = build_optimizers(new_model(), config)
    both = config.model_copy(update={"warm_up": 0.2})
    for epochs, steps_done in ((0.0, 0), (0.49, 0), (0.51, 1), (1.7, 3), (9.99, 19)):
        set_rates(optimizers, config, epochs)
        found = {name: one.param_groups[0]["lr"] for name, one in optimizers.items()}
        share = 0.75**steps_done
        assert found == pytest.approx({"model": RATE * share, "vectors": VECTOR_RATE * share})
    set_rates(optimizers, both, 1.0)  # half of the warm-up, after two steps
    assert optimizers["model"].param_groups[0]["lr"] == pytest.approx(RATE * 0.5 * 0.75**2)


@pytest.mark.parametrize(
    ("warm_up", "shares"), [(0.2, {0: 0, 1: 0.5, 2: 1, 6: 0.5, 10: 0}), (0.0, {0: 1, 5: 1, 10: 1})]
)
def test_rates_rise_and_fall(warm_up, shares):
    settings = {"rule": "adamw", "epochs": 10, "warm_up": warm_up, "learning_rate": RATE}
    parser = {"parser": {"name": "distances.v1"}, "tree_source": "self"}
    recipe = tiny_recipe.recipe(
        model=parser, vector_learning_rate=VECTOR_RATE, parser_learning_rate=0.5, **settings
    )
    torch.manual_seed(0)
    optimizers = build_optimizers(build_model(recipe.model, entries=6), recipe.training)
    for epochs, share in shares.items():
        set_rates(optimizers, recipe.training, epochs)
        found = {name: one.param_groups[0]["lr"] for name, one in optimizers.items()}
        own = 0.5 * (1 - epochs / 10)
        expected = {"model": RATE * share, "vectors": VECTOR_RATE * share, "parser": own}
        assert found == pytest.approx(expected)
