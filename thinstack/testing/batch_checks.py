"""Contract checks that a row has the same result in every batch: among few rows and many, in any
order, beside rows of any size, and however its memory lies."""

from typing import Any

import torch
from torch import Tensor, nn

from thinstack.testing.forests import gradients, require_alike
from thinstack.testing.method_checks import AGAIN
from thinstack.testing.methods import LINKED, Method, Values
from thinstack.testing.subject import Subject

MANY = 2500  # float16 counts up to 2,048
SIZES = (1, 2, 3, 4, 8, 17, 32, 64, 100, 129, 256, 300, 513, 1000)
"""How many of these rows are computed by themselves."""
HUGE, SAMPLE, SMALL = 40_000, 100, 10_000
"""How many rows methods without owners get, how many of these are computed again, and the number of
weights from which on a plugin is spared this."""
TAUGHT, FIRST = 1200, 700
"""How many rows gradients are compared for, and from which on: the one with many children too."""

COUNTED = (
    "do not branch on the number of rows, nor calculate with it, nor cut rows into groups; keep "
    "indices in int64"
)
PLACED = "treat all rows alike, wherever they stand: number no rows, and single out none"
IN_ORDER = "find the node of each by `links.owner`, as sum_by_owner does, and take all of them"
OF_MODES = "let no result depend on whether gradients are wanted"
BY_ROW = "let the gradient of a row come from that row: let no backward mix, clip or average rows"
LAID_OUT = (
    "take reshape or flatten in place of view, and write into nothing that was given; assume "
    "nothing of strides and memory"
)


def many_rows(subject: Subject[Any]) -> None:
    """In evaluation mode a row of 2,500 has the result that it has among fewer, in another order,
    and when asked again. So has a node with 200 children. Gradients follow the same rule."""
    plugin = subject.random()
    for method in subject.methods(plugin, MANY).values():
        if method.widths:
            try:
                with torch.no_grad():
                    whole = method()
            except AssertionError as error:
                raise AssertionError(f"{error}, which fewer rows do not; {COUNTED}") from error
            with torch.no_grad():
                _many_rows(method, whole)
            if method.smooth:
                _gradients_of_many(method, list(plugin.parameters()))
    if sum(part.numel() for part in plugin.parameters()) < SMALL:
        _huge(subject, plugin)


def _huge(subject: Subject[Any], plugin: nn.Module) -> None:
    rows = torch.randperm(HUGE, generator=torch.Generator().manual_seed(3))[:SAMPLE]
    for method in subject.methods(plugin, HUGE).values():
        # What is made of owners and nodes may have a square of entries.
        if method.widths and not method.has_owners:
            with torch.no_grad():
                found = method(method.taken(rows))
                expected = [part[rows] for part in method()]
            said = f"{method.name} depends on the number of rows: {SAMPLE} of {HUGE} by themselves"
            require_alike(found, expected, said, COUNTED)


def _many_rows(method: Method, whole: list[Tensor]) -> None:
    what = f"{method.name} of {MANY} rows"
    require_alike(method(), whole, f"{what} gives other results when called again", AGAIN, 1e-12)
    with torch.enable_grad():
        found = method()
    require_alike(found, whole, f"{what} with a graph for gradients, and without", OF_MODES)
    with torch.inference_mode():
        found = method()
    require_alike(found, whole, f"{what} in inference mode, and without", OF_MODES)
    order = torch.randperm(MANY, generator=torch.Generator().manual_seed(1))
    turned = [part[order] for part in whole]
    if method.has_owners:
        found = method(method.values | _other_order(method))
        require_alike(found, whole, f"{what} depends on the order of the child states", IN_ORDER)
    for n in SIZES:
        found = method(method.taken(order[:n]))
        expected = [part[:n] for part in turned]
        said = f"{method.name} depends on the number of rows: {n} of {MANY} by themselves"
        require_alike(found, expected, said, COUNTED)
    found = method(method.taken(order))
    require_alike(found, turned, f"{what} depends on the order of the rows", PLACED)


def _other_order(method: Method) -> Values:
    """The child states in another order, with their owners and kinds."""
    entries = len(method.values[LINKED[1]][0])
    order = torch.randperm(entries, generator=torch.Generator().manual_seed(2))
    return {name: [part[order] for part in method.values[name]] for name in LINKED}


def _gradients_of_many(method: Method, parameters: list[Tensor]) -> None:
    rest = torch.arange(FIRST, FIRST + TAUGHT)
    method = method._replace(values=method.taken(rest))
    halves = [torch.arange(TAUGHT // 2), torch.arange(TAUGHT // 2, TAUGHT)]
    whole_of, whole = _pulled_back(method, torch.arange(TAUGHT), parameters)
    parts = [_pulled_back(method, rows, parameters) for rows in halves]
    for name in method.smooth:
        for k, gradient in enumerate(whole[name]):
            expected = torch.zeros_like(gradient)
            for rows, (_, found) in zip(halves, parts, strict=True):
                here = torch.isin(method.place(name), rows)
                expected[here] = found[name][k]
            what = f"the gradient of {method.name} for `{name}` of {TAUGHT} rows, and of halves"
            require_alike([gradient], [expected], what, BY_ROW, 1e-8)
    summed = [sum(of) for of in zip(*(found for found, _ in parts), strict=True)]
    what = f"the gradient of {method.name} for parameters by {TAUGHT} rows, and the sum of halves"
    require_alike(whole_of, summed, what, BY_ROW, 1e-8)


def _pulled_back(
    method: Method, rows: Tensor, parameters: list[Tensor]
) -> tuple[list[Tensor], dict[str, list[Tensor]]]:
    """Gradients for parameters and for what the method reads, of a sum that weighs each row
    differently."""
    values, leaves = method.with_leaves(rows)
    weights = torch.cos(rows.double()).unsqueeze(1)
    loss = torch.stack([(part * weights).sum() for part in method(values)]).sum()
    learnt = [part for part in parameters if part.requires_grad]
    found = iter(gradients(loss, [*leaves, *learnt]))
    by_name = {name: [next(found) for _ in values[name]] for name in method.smooth}
    return list(found), by_name


def layouts(subject: Subject[Any]) -> None:
    """Results do not depend on how the tensors lie in memory: transposed, with gaps, or one row
    that stands for many."""
    plugin, n = subject.random(), 6
    with torch.no_grad():
        for method in subject.methods(plugin, n).values():
            whole = method()
            for how, lay in (("transposed", _transposed), ("with gaps", _with_gaps)):
                laid = {name: [lay(part) for part in of] for name, of in method.values.items()}
                _laid_out(method, laid, whole, how)
            if not method.has_owners and "labels" not in method.values:
                same = method.taken(torch.tensor([0]))
                once = method(same)
                wide = {
                    name: [part.expand(n, *part.shape[1:]) for part in of] if len(of[0]) else of
                    for name, of in same.items()
                }
                wide |= {"children": [part.clone() for part in wide.get("children", [])]}
                expected = [part.expand(n, *part.shape[1:]) for part in once]
                _laid_out(method, wide, expected, "one row expanded to many")


def _laid_out(method: Method, values: Values, expected: list[Tensor], how: str) -> None:
    try:
        found = method.run({name: values[name] for name in method.values})
    except Exception as error:
        raise AssertionError(
            f"{method.name} of tensors that lie {how} in memory raises {type(error).__name__}: "
            f"{error!s:.200}; {LAID_OUT}"
        ) from error
    what = f"{method.name} of tensors that lie {how} in memory"
    require_alike(found, expected, what, LAID_OUT)


def _transposed(part: Tensor) -> Tensor:
    return part.transpose(0, -1).contiguous().transpose(0, -1)


def _with_gaps(part: Tensor) -> Tensor:
    wide = part.new_zeros([*part.shape[:-1], 2 * part.shape[-1]])
    wide[..., ::2] = part
    return wide[..., ::2]
