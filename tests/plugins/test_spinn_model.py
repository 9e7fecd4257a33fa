"""SPINN with a leaf embedding and task heads, against the reference recursion in float64."""

import numpy as np
import pytest
import torch
from core.configured import ENTRIES, H, X, build, far_from_zero
from core.stacks import cell_of, drawn, tracker_of
from equations import sigmoid
from oracle import by_reference
from spinn_reference import encode_spinn

from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

LENGTHS = [3, 1, 4, 2]
TRANSITIONS = [0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1]
HEADS = {
    "nodes": {"name": "node_classifier.v1"},
    "roots": {"name": "root_classifier.v1"},
    "pairs": {"name": "entailment.v1", "options": {"layers": 1, "width": 6, "batch_norm": False}},
}


def model_of(head="nodes", cell="spinn_lstm.v1", kind="words", **tracker):
    encoder = {"tracker": {"size": 5, "lookahead": 2, **tracker}}
    embedding = {"kind": kind, "size": X}
    return far_from_zero({"name": cell}, HEADS[head], embedding=embedding, encoder=encoder)


def inputs_of(model, *, trees=True, dtype=torch.int64):
    random = np.random.default_rng(3)
    pieces = random.integers(1, 4, sum(LENGTHS))
    every = {
        "token_ids": random.integers(0, ENTRIES, sum(LENGTHS)),
        "piece_ids": random.integers(0, ENTRIES, int(pieces.sum())),
        "pieces_per_word": pieces,
        "lengths": np.array(LENGTHS),
        "transitions": np.array(TRANSITIONS if trees else []),
    }
    return {name: torch.from_numpy(every[name]).to(dtype) for name in model.input_names}


def defined(model, inputs):
    """By the definition, over the given trees or, where there are none, its own."""
    given = inputs["transitions"] if len(inputs["transitions"]) else None
    words, lengths = model.embed(inputs), torch.tensor(LENGTHS)
    return by_reference(model.encoder.cell, model.encoder.tracker, words, lengths, given)


def expected_of(model, inputs):
    found, scores = defined(model, inputs), model.head.scores
    if model.head.reads == "pairs":
        pairs = found.roots.view(2, 2 * H)
        expected = {"pair_scores": scores(pairs), "sentence_vectors": found.roots}
    else:
        expected = {"node_scores": scores(found.outputs), "root_scores": scores(found.roots)}
    return expected | ({"parse": found.transitions} if model.parses else {})


def equal(found, expected):
    assert found.keys() == expected.keys()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_the_forget_biases_of_a_configuration():
    """f_l and f_r of the composition are the second and third of five gates; f of the tracking LSTM
    is the second of four."""
    cell = {"name": "spinn_lstm.v1", "options": {"forget_bias": 0.5}}
    encoder = build(cell, encoder={"tracker": {"size": 5, "forget_bias": 1}}).encoder
    assert encoder.cell.b_comp.tolist() == [0] * H + [0.5] * 2 * H + [0] * 2 * H
    assert encoder.tracker.b.tolist() == [0] * 5 + [1] * 5 + [0] * 10


def test_weights_of_a_tracker_start_within_one_over_the_root_of_what_a_gate_reads():
    torch.manual_seed(3)
    tracker = TrackingLSTM(input_size=50, size=40, lookahead=2, parses=True)
    bounds = {"w_stack": 200**-0.5, "w_buffer": 200**-0.5, "u": 40**-0.5, "w_transition": 40**-0.5}
    for name, bound in bounds.items():
        assert 0.9 * bound < getattr(tracker, name).abs().max() <= bound
    assert tracker.b.abs().sum() == tracker.b_transition.abs().sum() == 0


@pytest.mark.parametrize(
    ("cell", "feeds"),
    [("spinn_lstm.v1", True), ("nary_lstm.v1", False), ("child_sum_lstm.v1", False)],
)
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("parses", [True, False])
def test_scores_over_given_trees(head, cell, feeds, parses):
    model = model_of(head, cell, feeds=feeds, parses=parses)
    assert type(model.encoder) is StackEncoder
    assert model.encoder.feeds == feeds
    assert model.encoder.structure == "transitions"
    assert model.input_names == ["token_ids", *["lengths"][: int(parses)], "transitions"]
    inputs = inputs_of(model)
    expected = expected_of(model, inputs)
    assert model.output_names == list(expected)
    equal(model(inputs), expected)
    equal(model(inputs_of(model, dtype=torch.int32)), expected)
    equal(model({name: values for name, values in inputs.items() if name != "lengths"}), expected)
    if parses:
        assert model(inputs_of(model, dtype=torch.int32))["parse"].dtype == torch.int64


@pytest.mark.parametrize("feeds", [True, False])
@pytest.mark.parametrize("head", HEADS)
def test_scores_over_its_own_trees(head, feeds):
    """With gradients too, and those are of the trees that it took."""
    model = model_of(head, "spinn_lstm.v1" if feeds else "nary_lstm.v1", feeds=feeds)
    inputs = inputs_of(model, trees=False)
    expected = expected_of(model, inputs)
    assert expected["parse"].tolist() != TRANSITIONS
    no_transitions = {name: values for name, values in inputs.items() if name != "transitions"}
    for given in (inputs, no_transitions, inputs_of(model, trees=False, dtype=torch.int32)):
        with torch.no_grad():
            equal(model(given), expected)
        equal(model(given), expected)
    score = model.output_names[0]
    weights = list(model.parameters())
    gradients = [
        torch.autograd.grad(scores[score][:, 0].sum(), weights, materialize_grads=True)
        for scores in (model(inputs), expected)
    ]
    for found, wanted in zip(*gradients, strict=True):
        torch.testing.assert_close(found.to_dense(), wanted.to_dense(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("feeds", [True, False])
@pytest.mark.parametrize("head", HEADS)
def test_the_parts_of_the_joint_objective(head, feeds):
    """(7): the logits of the task, and the scores of every transition of the given trees."""
    model = model_of(head, "spinn_lstm.v1" if feeds else "nary_lstm.v1", feeds=feeds)
    inputs = inputs_of(model)
    outputs, roots, choices, free, _ = defined(model, inputs)
    rows = {"nodes": outputs, "roots": roots, "pairs": roots.view(2, 2 * H)}[head]
    joint = model.joint(inputs)
    torch.testing.assert_close(joint.logits, model.head(rows), rtol=0, atol=1e-12)
    torch.testing.assert_close(joint.choices, choices, rtol=0, atol=1e-12)
    assert joint.free.tolist() == free.tolist() == [int(i in (2, 8, 10)) for i in range(16)]
    found = model.encoder.judge(joint.choices, joint.free, torch.tensor(TRANSITIONS))
    (joint.logits.cos().sum() + found.loss).backward()
    for name, weights in model.named_parameters():
        assert weights.grad.to_dense().abs().sum() > 0, name


def test_the_loss_of_transitions():
    """-log P of each right answer by (5), summed; what is unknown or no choice counts for
    nothing."""
    judge = model_of("nodes", "spinn_lstm.v1", feeds=True).encoder.judge
    choices = torch.tensor([[1.0, 3.0], [0.5, -0.5], [2.0, 2.0], [-1.0, 4.0]], dtype=torch.float64)
    wanted, free = torch.tensor([1, 0, -1, 0]), torch.ones(4, dtype=torch.long)
    by_hand = [np.log(1 + np.exp(1 - 3)), np.log(1 + np.exp(-0.5 - 0.5)), np.log(1 + np.exp(4 + 1))]
    loss, right, cases = judge(choices, free, wanted)
    assert loss.item() == pytest.approx(sum(by_hand), abs=1e-12)
    assert (right, cases) == (2, 3)
    loss, *counts = judge(choices, torch.tensor([0, 1, 1, 1]), wanted)
    assert loss.item() == pytest.approx(sum(by_hand[1:]), abs=1e-12)
    assert counts == [1, 2]
    assert judge(choices, free, torch.full([4], -1))[0].item() == 0
    assert judge(choices[:0], free[:0], wanted[:0])[0].item() == 0


TREES = torch.tensor([0, 0, 1, 0])


@pytest.mark.parametrize(
    ("parses", "changed", "message"),
    [
        (False, {"transitions": TREES[:0]}, "needs transitions"),
        (False, {"token_ids": torch.tensor([1, 2])}, "expected 3 words, .* found 2"),
        (True, {"token_ids": torch.tensor([1, 2, 3, 4])}, "expected 3 words, .* found 4"),
        (True, {"transitions": TREES[:3]}, "lengths and transitions disagree"),
        (True, {"lengths": torch.tensor([2, 2])}, "expected 4 words, .* found 3"),
        (True, {"lengths": torch.tensor([3, 0])}, "lengths must be at least 1"),
    ],
)
def test_inputs_that_do_not_go_together(parses, changed, message):
    model = model_of(parses=parses)
    ids, lengths = torch.tensor([1, 2, 3]), torch.tensor([2, 1])
    inputs = {"token_ids": ids, "lengths": lengths, "transitions": TREES}
    assert model({name: inputs[name] for name in model.input_names})["node_scores"].shape == (4, 3)
    with pytest.raises(ValueError, match=message):
        model({name: (inputs | changed)[name] for name in model.input_names})


def test_an_odd_number_of_parsed_sentences_is_no_pairs():
    with pytest.raises(ValueError, match="found 1"):
        model_of("pairs")({"token_ids": torch.tensor([1, 2]), "lengths": torch.tensor([2])})


# -- the reference against the worked example of the paper (its Table 1) written out by hand


T, SHIFT, REDUCE = 2, 0, 1
SPOT_SAT_DOWN = [SHIFT, SHIFT, SHIFT, REDUCE, REDUCE]


def test_spot_sat_down_by_hand():
    """(1)-(5) with D = 4, a tracking LSTM of width 2 and a look at the next two words."""
    cell = drawn(SpinnLSTM(input_size=X, hidden_size=H, inner_size=T))
    tracker = drawn(TrackingLSTM(input_size=H, size=T, lookahead=2, parses=True), seed=2)
    p = {
        name: part.detach().numpy()
        for module in (cell, tracker)
        for name, part in module.named_parameters()
    }
    x = np.random.default_rng(1).normal(size=(3, X))
    nothing = np.zeros(H)

    def track(h, c, *reads):
        """The stack's second and its top, the buffer's front and its second."""
        weights = [*np.split(p["w_stack"], 2, axis=1), *np.split(p["w_buffer"], 2, axis=1)]
        a = sum(read @ w for read, w in zip(reads, weights, strict=True)) + h @ p["u"] + p["b"]
        i, f, o, g = sigmoid(a[0:2]), sigmoid(a[2:4]), sigmoid(a[4:6]), np.tanh(a[6:8])
        c = f * c + i * g
        return o * np.tanh(c), c

    def compose(left, right, e):
        a = np.concatenate([left[0], right[0], e]) @ p["w_comp"] + p["b_comp"]
        i, f_left, f_right, o = np.split(sigmoid(a[: 4 * H]), 4)
        c = f_left * left[1] + f_right * right[1] + i * np.tanh(a[4 * H :])
        return o * np.tanh(c), c

    spot, sat, down = (np.split(row @ p["w_word"] + p["b_word"], 2) for row in x)
    h1, c1 = track(np.zeros(T), np.zeros(T), nothing, nothing, spot[0], sat[0])
    h2, c2 = track(h1, c1, nothing, spot[0], sat[0], down[0])
    h3, c3 = track(h2, c2, spot[0], sat[0], down[0], nothing)
    h4, c4 = track(h3, c3, sat[0], down[0], nothing, nothing)
    sat_down = compose(sat, down, h4)
    h5, _ = track(h4, c4, spot[0], sat_down[0], nothing, nothing)
    whole = compose(spot, sat_down, h5)

    found = encode_spinn(
        cell, tracker, torch.from_numpy(x), torch.tensor([3]), torch.tensor(SPOT_SAT_DOWN)
    )
    assert found.transitions == SPOT_SAT_DOWN
    assert found.free == [False, False, True, False, False]
    for state, (h, c) in zip(found.states, [spot, sat, down, sat_down, whole], strict=True):
        np.testing.assert_allclose(state[0][0].detach(), h, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[1][0].detach(), c, rtol=0, atol=1e-14)
    choices = np.stack([h1, h2, h3, h4, h5]) @ p["w_transition"] + p["b_transition"]
    np.testing.assert_allclose(torch.cat(found.choices).detach(), choices, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("bias", "expected"),
    [([0, 0], "SSSRR"), ([1, 0], "SSSRR"), ([0, 1], "SSRSR")],
    ids=["tie", "shift", "reduce"],
)
def test_the_rule_of_its_own_transitions(bias, expected):
    """SHIFT on a tie; REDUCE where there are two; REDUCE without words, whatever the scores."""
    cell = cell_of("spinn_lstm")
    tracker = tracker_of(cell)
    tracker.w_transition.data.zero_()
    tracker.b_transition.data = torch.tensor(bias, dtype=torch.float64)
    words = torch.randn(3, X, dtype=torch.float64)
    found = encode_spinn(cell, tracker, words, torch.tensor([3]))
    assert "".join("SR"[step] for step in found.transitions) == expected
