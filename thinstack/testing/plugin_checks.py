"""Contract checks of any plugin: its sizes, types and devices, what it may keep and overwrite, its
gradients; and those of the loss of a task head, and of scaling its logits."""

from typing import Any

import torch
from torch import Tensor

from thinstack.core.head import TaskHead
from thinstack.errors import ThinstackError
from thinstack.testing.method import (
    Draw,
    Method,
    gradients_of,
    require_alike,
    require_finite,
    weighted_sum,
)
from thinstack.testing.subject import SEED, HeadSubject, ParserSubject, Subject


def loss_is_a_sum(subject: HeadSubject) -> None:
    """The loss is the sum over rows (reduction='sum'): training divides it by the number of
    examples. Heads of candidates are skipped because their rows belong together."""
    head = subject.random()
    if head.reads == "candidates":
        return
    scores, labels = subject.labelled(head)
    twice = torch.cat([scores, scores]), torch.cat([labels, labels])
    once, both = head.loss(scores, labels), head.loss(*twice)
    require_alike([both], [2 * once], "the loss of duplicated rows and twice the loss")


def unlabelled_rows(subject: HeadSubject) -> None:
    """Rows labelled -1 add nothing to the loss and have no gradient, as with `ignore_index=-1`; a
    loss of no labels is 0, and labelled rows have a gradient."""
    head = subject.random()
    scores, labels = subject.labelled(head)
    scores.requires_grad_()
    labelled = (labels.reshape(len(labels), -1) != -1).all(1)
    loss = head.loss(scores, labels)
    rest = head.loss(scores[labelled], labels[labelled])
    require_alike([loss], [rest], "the losses with and without rows labeled -1")
    nothing = [head.loss(scores, torch.full_like(labels, -1)), head.loss(scores[:0], labels[:0])]
    require_alike(nothing, [loss.new_zeros([])] * 2, "the loss without labels and 0")
    (gradient,) = gradients_of(loss, [scores])
    if bool(gradient[~labelled].any()) or bool(gradients_of(nothing[0], [scores])[0].any()):
        raise AssertionError("rows labeled -1 must not have a gradient.")
    if not bool(gradient[labelled].any()):
        raise AssertionError("labeled rows must have a gradient.")


def soft_labels(subject: HeadSubject) -> None:
    """If the head takes `soft_labels`, the loss is the sum of label weights times the losses of the
    classes."""
    head = subject.random()
    if not head.soft_labels:
        return
    scores, labels = subject.labelled(head)
    labelled = labels >= 0
    others = torch.where(labelled, (labels + 1) % head.classes, labels)
    expected = 2 * head.loss(scores, labels) + 0.5 * head.loss(scores, others)
    soft = torch.zeros_like(scores)
    soft[labelled, labels[labelled]] += 2
    soft[labelled, others[labelled]] += 0.5
    require_alike([head.loss(scores, soft)], [expected], "the losses of soft and plain labels")


def scaled_logits(subject: HeadSubject) -> None:
    """After `scale_logits(f)`, `forward` gives f times as much, and `scores` the softmax of that. A
    head that does not scale returns False and stays as it is."""
    head, factor = subject.random(), 0.5
    rows = subject.methods(head, 4)["forward"].values["rows"]
    with torch.no_grad():
        logits, scores = head(rows), head.scores(rows)
        if head.scale_logits(factor):
            logits, scores = factor * logits, torch.softmax(factor * logits, 1)
        require_alike(
            [head(rows), head.scores(rows)], [logits, scores], "results after scale_logits(0.5)"
        )


ROWS, MANY = 6, 2560  # the latter is more than float16 counts to
OTHER_SIZES: tuple[dict[str, int], ...] = (
    {"input_size": 1, "hidden_size": 1, "kinds": 1, "classes": 2},
    {"input_size": 2, "hidden_size": 7, "kinds": 5, "classes": 5, "word_size": 3},
)


def built_as_asked(subject: Subject[Any]) -> None:
    """The plugin and its methods' results have the sizes passed to the constructor, which may be
    1, and results have the type of their inputs. A constructor may reject sizes with an error.
    Create and fill all parameters in __init__."""
    for sizes in ({}, *OTHER_SIZES):
        other = subject.resized(sizes)
        try:
            plugin = other.create()
        except ThinstackError:
            if sizes:
                continue
            raise
        if wrong := [
            size
            for size in other.attributes
            if other.spec.takes(size) and getattr(plugin, size) != other.sizes[size]
        ]:
            raise AssertionError(f"attributes {wrong} do not match {other.sizes}.")
        require_finite(list(plugin.parameters()), "initial parameter values")
        for dtype in (torch.float32, torch.float64):
            for method in other.methods(plugin.to(dtype), ROWS, Draw(dtype=dtype)).values():
                if any(part.dtype != dtype for part in method()):
                    raise AssertionError(f"{method.name} must return {dtype} for {dtype} inputs.")


def device_and_type(subject: Subject[Any]) -> None:
    """All tensors have the device and type of the inputs, which torch's device `meta` shows
    without a GPU. Read no number from a tensor: the host would wait for the GPU, and exports would
    fix the number. Create tensors with new_zeros and the like, or register them as buffers."""
    for plugin, method in subject.in_both_modes(ROWS):
        plugin.to("meta")
        values = {name: part.to("meta") for name, part in method.values.items()}
        if "lengths" in values:  # of sentences, which stay on the host
            values["lengths"] = method.values["lengths"]
        try:
            results = method.run(*values.values())
        except Exception as error:
            if isinstance(error, NotImplementedError) and "Cannot copy" not in str(error):
                continue  # a size that depends on numbers, as that of masked_select
            raise AssertionError(f"{method.name} fails on device meta: {error!s:.200}.") from error
        if any(not part.is_meta or part.dtype != torch.float64 for part in results):
            raise AssertionError(f"{method.name} must keep the device and type of its inputs.")


def inputs_are_kept(subject: Subject[Any]) -> None:
    """No method overwrites its arguments, except that `compose` may overwrite `children`. Use
    operations without a trailing underscore."""
    for plugin, method in subject.in_both_modes(ROWS):
        values = {name: part.clone() for name, part in method.values.items()}
        with torch.set_grad_enabled(plugin.training):
            method.run(*values.values())
        for name, part in values.items():
            same = torch.equal(part, method.values[name]) and not part.requires_grad
            if not (same or name.startswith("children")):
                raise AssertionError(f"{method.name} must not change its argument `{name}`.")


def no_rows(subject: Subject[Any]) -> None:
    """No rows and one row work and give finite results, in training mode too: a batch may have no
    inner node. Use no -1 in view, no maximum over rows, and no batch statistics of one row."""
    for n in (0, 1):
        for plugin, method in subject.in_both_modes(n):
            mode = " in training mode" if plugin.training else ""
            require_finite(method(), f"results of {method.name} for {n} rows{mode}")


FINITE = {
    "random rows": torch.clone,
    "rows of zeros (unknown words)": torch.zeros_like,
    "rows of ones": torch.ones_like,
    "rows of tiny numbers": lambda rows: rows * 1e-42,
    "rows of large numbers": lambda rows: rows * 1000,
}


def finite(subject: Subject[Any]) -> None:
    """In float32, results and gradients are finite for rows of zeros (unknown words), equal, tiny
    and large numbers, and with large weights. Put a small number under each root and division, and
    use torch.sigmoid, softmax, softplus and logsumexp instead of exp."""
    large = subject.random(torch.float32, scale=300), list(FINITE)[:1]
    plugins = subject.create().float(), subject.random(torch.float32)
    for plugin, cases in (*((plugin, FINITE) for plugin in plugins), large):
        for case in cases:
            draw = Draw(dtype=torch.float32, change=FINITE[case])
            for method in subject.methods(plugin, ROWS, draw).values():
                values, leaves = method.with_gradients()
                results = method(values)
                require_finite(results, f"results of {method.name} for {case}")
                sources = [*leaves, *plugin.parameters()] if leaves else []
                parts = gradients_of(weighted_sum(results), sources)
                require_finite(parts, f"gradients of {method.name} for {case}")


def nothing_is_kept(subject: Subject[Any]) -> None:
    """A call depends on no earlier call: not on other rows, not in training mode, and not with
    other weights. In evaluation mode it draws no random numbers and changes no buffer. Keep no
    cache and no counter."""
    plugin = subject.create().double()
    for training in (True, False):
        state = [part.clone() for part in plugin.state_dict().values()]
        numbers = torch.random.get_rng_state()
        for method in subject.methods(plugin.train(training), ROWS, Draw(seed=3)).values():
            method()
    if not torch.equal(numbers, torch.random.get_rng_state()):
        raise AssertionError("a random call (e.g. dropout) ignores eval mode.")
    if not all(map(torch.equal, state, plugin.state_dict().values())):
        raise AssertionError("a call in evaluation mode changes a buffer or parameter.")
    plugin.load_state_dict(subject.random().state_dict())
    _require_same_results(subject, plugin, "after other calls and of a new instance")


def _require_same_results(subject: Subject[Any], plugin: Any, what: str) -> None:
    """Of the plugin and a new one with the same weights."""
    with torch.no_grad():
        methods = subject.methods(plugin, ROWS)
        for name, method in subject.methods(subject.random(), ROWS).items():
            require_alike(methods[name](method.values), method(), f"{name} {what}")


def weights_are_all(subject: Subject[Any]) -> None:
    """A saved model needs only the plugin's state_dict, and initial weights depend only on
    torch's seed. Instances share nothing. Register tensors as parameters or buffers, and lists of
    parameters as nn.ParameterList."""
    plugin, other = subject.random(), subject.create(SEED + 1).double()
    places = {part.data_ptr() for part in plugin.parameters() if part.numel()}
    if any(part.data_ptr() in places for part in other.parameters()):
        raise AssertionError("two instances share a parameter.")
    first, second = (list(subject.create().parameters()) for _ in range(2))
    require_alike(first, second, "initial weights from the same seed")
    other.load_state_dict(plugin.state_dict())
    _require_same_results(subject, other, "before saving and after loading weights")


def rows_are_independent(subject: Subject[Any]) -> None:
    """In evaluation mode a row of a result depends on its own row only: it is the same alone, among
    many, and in any order. The order of a node's children does not matter. Find children by
    `links.owner`, and take no mean, maximum or norm over rows."""
    plugin = subject.random()
    for n in (ROWS, MANY):
        order = torch.arange(n)
        for name, method in subject.methods(plugin, n).items():
            whole = [] if name == "loss" else method()
            for rows in (
                (order.flip(0), order[: n // 2], *order[:ROWS].unsqueeze(1)) if whole else ()
            ):
                what = f"{name} of {len(rows)} of {n} rows and of all rows"
                require_alike(method(method.take(rows)), [part[rows] for part in whole], what)


def sentences_are_apart(subject: ParserSubject) -> None:
    """In evaluation mode a parser's distances in a sentence do not depend on other sentences. Split
    at the sentence boundaries from `lengths`, and take no mean or norm over all words."""
    parser = subject.random()
    with torch.no_grad():
        for sizes in ([5, 1, 12, 2], [700, 1, 300]):
            words, lengths = subject.batch(sizes)
            together = torch.tensor_split(parser(words, lengths), lengths.cumsum(0)[:-1])
            for k, sentence in enumerate(torch.tensor_split(words, lengths.cumsum(0)[:-1])):
                alone = parser(sentence, lengths[k : k + 1])
                what = f"distances of sentence {k} of {sizes} words in a batch and alone"
                require_alike([together[k][:-1]], [alone[:-1]], what)


def gradients(subject: Subject[Any]) -> None:
    """Each method's gradients match finite differences, for its inputs and for parameters. Use
    no detach, .data or in-place operation, and check every custom backward."""
    plugin = subject.random()
    parameters = [part for part in plugin.parameters() if part.requires_grad]
    for method in subject.methods(plugin, 3).values():

        def run(*tensors: Tensor, method: Method = method) -> tuple[Tensor, ...]:
            return tuple(method(method.values | dict(zip(method.smooth, tensors, strict=False))))

        _, leaves = method.with_gradients()
        # Heads may be wide: theirs are compared along a random direction.
        how = {"fast_mode": isinstance(plugin, TaskHead), "raise_exception": False}
        if leaves and not torch.autograd.gradcheck(run, (*leaves, *parameters), **how):
            raise AssertionError(f"the gradients of {method.name} do not match finite differences.")


def parameters_are_used(subject: Subject[Any]) -> None:
    """Each parameter has a gradient, in training mode too. Do not register parameters that options
    or sizes leave out, such as those for inputs of inner nodes with inner_size 0."""
    for training in (False, True):
        plugin = subject.random().train(training)
        parameters = dict(plugin.named_parameters())
        results = [part for method in subject.methods(plugin, 30).values() for part in method()]
        parts = gradients_of(weighted_sum(results), list(parameters.values()))
        if dead := [n for n, part in zip(parameters, parts, strict=True) if not bool(part.any())]:
            raise AssertionError(f"no result depends on the parameters {dead}; remove them.")
