"""Contract checks that a plugin keeps nothing but its weights: not from one call to the next, not
outside its state_dict, and not in torch itself."""

import gc
from collections.abc import Iterator
from typing import Any
from weakref import ref

import torch
from torch import Tensor, nn

from thinstack.errors import ThinstackError
from thinstack.testing.forests import apart, require_alike
from thinstack.testing.method_checks import AGAIN
from thinstack.testing.methods import copied
from thinstack.testing.subject import SEED, Subject

ROWS = 6
KEPT = (
    "keep nothing between two calls: no cache by shape or address, no counter, no product of "
    "weights that training changes"
)


def nothing_is_kept(subject: Subject[Any]) -> None:
    """A call gives what it gives as the first call of a copy. Earlier calls on other rows or in
    training mode change nothing; new weights count at once. In evaluation mode a call changes
    neither buffers nor weights, draws no random numbers, and holds on to no tensor."""
    _random_numbers_are_left(subject)
    for name in subject.methods(subject.random(), ROWS):
        _one_method(subject, name)
        _arguments_are_let_go(subject, name)


def _one_method(subject: Subject[Any], name: str) -> None:
    plugin = subject.random()
    method, first = subject.methods(plugin, ROWS)[name], copied(plugin)

    def require(what: str, mend: str = KEPT) -> None:
        with torch.no_grad():
            found = method()
            expected = subject.methods(copied(first), ROWS)[name](method.values)
        require_alike(found, expected, f"{name} {what} gives other results than a new copy", mend)

    before, twice = _state(plugin), subject.methods(copied(plugin), ROWS)[name]
    with torch.no_grad():
        require_alike(twice(), twice(), f"{name} gives other results when called again", AGAIN)
        subject.methods(plugin, ROWS, seed=3)[name]()
        require("after a call on other rows")
        method(method.taken(torch.arange(2)))
        require("after a call on fewer rows")
        given = {key: [part.clone() for part in of] for key, of in method.values.items()}
        method.run(given)
        for part in given[next(iter(given))]:
            part.mul_(0)
        require("after its arguments of an earlier call were overwritten")
    _changed(before, plugin, f"{name} changes {{}} in evaluation mode; keep nothing in buffers")
    plugin.train()
    with torch.random.fork_rng(devices=[]):
        method()
    plugin.eval()
    first.load_state_dict(plugin.state_dict())  # batch normalisation counts in training
    require("after a call in training mode")
    with torch.no_grad():
        for part in (*plugin.parameters(), *first.parameters()):
            part.mul_(0.5)
    require("after the weights have changed")


def _state(plugin: nn.Module) -> dict[str, Tensor]:
    return {
        name: part.detach().clone()
        for name, part in (*plugin.named_parameters(), *plugin.named_buffers())
    }


def _changed(before: dict[str, Tensor], plugin: nn.Module, said: str) -> None:
    for name, part in _state(plugin).items():
        if name not in before or apart([part.double()], [before[name].double()]) > 0:
            raise AssertionError(said.format(repr(name)))


def _random_numbers_are_left(subject: Subject[Any]) -> None:
    plugin, states = subject.random(), []
    with torch.random.fork_rng(devices=[]):
        for name, method in subject.methods(plugin, ROWS).items():
            torch.manual_seed(1)
            before = torch.random.get_rng_state()
            method()
            if not torch.equal(before, torch.random.get_rng_state()):
                raise AssertionError(
                    f"{name} in evaluation mode draws from torch's random numbers, or seeds them; "
                    "draw in training mode only, and never seed"
                )
        for seed in (1, 2):
            torch.manual_seed(seed)
            subject.spec.create(subject.options, **subject.sizes)
            states.append(torch.random.get_rng_state())
        trained = list(_after_training(subject))
    for what, pair in (("creating it", states), ("training it", trained)):
        if torch.equal(*pair):
            raise AssertionError(
                f"{what} seeds torch's random numbers, so that every run is the same; take out "
                "manual_seed, or draw from a torch.Generator"
            )


def _after_training(subject: Subject[Any]) -> Iterator[Tensor]:
    """The state of torch's random numbers after calls in training mode, from two seeds."""
    plugin = subject.random()
    methods = subject.methods(plugin, ROWS)
    plugin.train()
    for seed in (1, 2):
        torch.manual_seed(seed)
        for method in methods.values():
            method()
        yield torch.random.get_rng_state()


def _arguments_are_let_go(subject: Subject[Any], name: str) -> None:
    plugin = subject.random()
    method = subject.methods(plugin, ROWS)[name]
    given = {key: [part.clone() for part in of] for key, of in method.values.items()}
    with torch.no_grad():
        results = method.run(given)
    held = {f"`{key}`": ref(part) for key, of in given.items() for part in of}
    held |= {f"result {k}": ref(part) for k, part in enumerate(results)}
    given.clear()
    results.clear()
    if any(part() is not None for part in held.values()):
        gc.collect()
    for what, part in held.items():
        if part() is not None:
            raise AssertionError(
                f"{name} holds on to {what} after the call; {KEPT}, and no list of what came"
            )


def weights_are_all(subject: Subject[Any]) -> None:
    """Its state_dict holds all that a saved model needs. Loaded into another one, which started
    from other random numbers, it gives the same results. Two of them share nothing."""
    plugin = subject.random()
    with torch.no_grad():
        before = [method() for method in subject.methods(plugin, ROWS).values()]
    other = subject.create(SEED + 1).to(torch.float64).eval()
    _stands_alone(subject, plugin, other)
    with torch.no_grad():
        for (name, method), found in zip(
            subject.methods(plugin, ROWS).items(), before, strict=True
        ):
            what = f"{name}, before and after another one is made"
            require_alike(method(), found, what, "keep nothing in the class or module")
    mend = (
        "make it a Parameter or a buffer (register_buffer) of the module, or of one that it holds "
        "as an attribute, nn.ParameterList or nn.ModuleList; plain tensors and lists are not saved"
    )
    try:
        other.load_state_dict(plugin.state_dict())
    except ThinstackError:
        raise
    except Exception as error:
        raise AssertionError(
            f"its state_dict cannot be loaded into another one: {error!s:.300}; {mend}"
        ) from error
    with torch.no_grad():
        given = subject.methods(plugin, ROWS)
        for name, method in subject.methods(other, ROWS).items():
            values = given[name].values
            what = f"{name} of a copy with all saved weights, made with another random seed"
            require_alike(method(values), given[name](values), what, mend)


def _stands_alone(subject: Subject[Any], plugin: nn.Module, other: nn.Module) -> None:
    """Two of them share no weights, and have the same weights if they start from one seed."""
    places = {part.data_ptr(): name for name, part in plugin.named_parameters() if part.numel()}
    for name, part in other.named_parameters():
        if part.data_ptr() in places:
            raise AssertionError(
                f"two of it share the parameter {name!r}; create parameters in __init__, not in the"
                " class or module"
            )
    first, second = (dict(subject.create().named_parameters()) for _ in range(2))
    for name, part in first.items():
        if apart([part.detach()], [second[name].detach()]) > 0:
            raise AssertionError(
                f"parameter {name!r} starts otherwise from the same seed; draw it by torch, whose "
                "seed is set, and not by random or NumPy"
            )
