"""`.pt2`: the model as one file of `torch.export`, which succeeds TorchScript."""

import copy
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.func import functional_call
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import free_symbols

from thinstack.core import transitions as shapes
from thinstack.core.cell import Cell
from thinstack.core.encoder import Encoder
from thinstack.core.head import TaskHead
from thinstack.errors import ExportError
from thinstack.export.compare import RuntimeReport, compare
from thinstack.export.pt2_executor import (
    Forest,
    bottom_up,
    child_table,
    forest_of,
    named,
    of_any_size,
    parents_of,
    require,
    size_of,
    top_down,
    weights_of,
)
from thinstack.export.pt2_shift_reduce import sentence_lengths, shift_reduce
from thinstack.export.quiet import quiet
from thinstack.export.samples import Inputs, Scores, join_inputs, sample_trees, sampled
from thinstack.models import Model, SpinnModel, TreeModel

__all__ = ["export_pt2"]


def export_pt2(model: Model, *, tolerance: float = 1e-5) -> tuple[bytes, RuntimeReport]:
    """Export a copy of the model in evaluation mode, as the content of a file for
    `torch.export.load(file).module()`.

    That takes a dictionary of the inputs of the ONNX export, int64, all of them, and gives one of
    its outputs. It needs torch alone, runs on the CPU, cannot be trained, and raises RuntimeError
    for inputs that do not make trees. Its loops write in place, which `run_decompositions` refuses.
    It is compared with the model on trees of many sizes at once, and the report of that is returned
    beside it. A batch of 64 sentences (D = 150, one thread) takes 1.6 to 2.2 times as long as in
    the model.

    Raises ExportError if a part of the model cannot be exported (which, and what torch says of it),
    or its scores differ.
    """
    if isinstance(model, SpinnModel) and model.encoder.beam > 1:
        raise ExportError(
            f"a .pt2 file keeps one hypothesis of a tree, the model {model.encoder.beam}; set "
            "tracker.beam to 1"
        )
    evaluated = _prepared(model)
    with torch.no_grad(), quiet():
        try:
            example, sizes = _example(evaluated), _sizes(evaluated)
            program = torch.export.export(
                _Program(evaluated),
                (example,),
                dynamic_shapes=(sizes,),
                strict=False,
                prefer_deferred_runtime_asserts_over_guards=True,
            )
            exported = _saved(program)
            loaded = torch.export.load(io.BytesIO(exported)).module()
        except ExportError:
            raise
        except Exception as error:  # of many kinds
            raise ExportError(
                f"{_described(model)} cannot be exported to .pt2: {str(error).strip():.2000}"
            ) from error

    def run(inputs: Inputs) -> Scores:
        return _run(model, loaded, inputs)

    version = str(torch.__version__)
    return exported, compare("torch.export", version, run, evaluated, sampled(evaluated), tolerance)


def _prepared(model: Model) -> Model:
    """A copy of the model, for inference. Tensors that are plain attributes become buffers, for a
    loop is given those."""
    evaluated = copy.deepcopy(model).cpu().float().eval().requires_grad_(False)
    for module in evaluated.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, Tensor):
                delattr(module, name)
                module.register_buffer(name, value)
    return evaluated


def _example(model: Model) -> dict[str, Tensor]:
    """Inputs of two trees, of numbers of words that no part has a reason to have built in."""
    trees = sample_trees(model, [shapes.left(5), shapes.balanced(7)], np.random.default_rng(0))
    return {name: torch.from_numpy(values) for name, values in join_inputs(trees).items()}


def _sizes(model: Model) -> dict[str, dict[int, Dim]]:
    """The dimension of each input."""
    words = "words" if model.words_at_leaves or model.structure == "lengths" else "nodes"
    axes = {"token_ids": words, "pieces_per_word": words, "piece_ids": "pieces", "lengths": "trees"}
    sizes = {name: Dim(name, min=0) for name in (words, "pieces", "trees", "nodes")}
    return {name: {0: sizes[axes.get(name, "nodes")]} for name in model.input_names}


def _saved(program: ExportedProgram) -> bytes:
    """The file, without the traces that hold source text and the paths of this machine."""
    used: set[Any] = set()
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            node.meta = {
                name: value
                for name, value in node.meta.items()
                if name in ("val", "unbacked_bindings")
            }
            used |= free_symbols(node.meta.get("val"))
    # torch warns of any other when it loads the file.
    for symbol in set(program.range_constraints) - used:
        del program.range_constraints[symbol]
    program.example_inputs = None
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def _run(
    model: Model, program: Callable[[dict[str, Tensor]], dict[str, Tensor]], inputs: Inputs
) -> Scores:
    try:
        found = program({name: torch.from_numpy(values) for name, values in inputs.items()})
    # of torch's, or of an assertion that it added for a part that branches on the number of rows
    except Exception as error:
        sizes = {name: len(values) for name, values in inputs.items()}
        raise ExportError(
            f"exported to .pt2, {_described(model)} fails for inputs of {sizes}: {error}"
        ) from error
    return {name: values.numpy() for name, values in found.items()}


def _described(model: Model) -> str:
    cells = {type(module).__name__: "" for module in model.modules() if isinstance(module, Cell)}
    return f"a model over {', '.join(cells)}"


class _Program(nn.Module):
    """`Model.forward` over executors whose loops are exported as loops; what raises ValueError
    there is a RuntimeError here.

    It has the model's weights, by their names, and not its modules: torch follows those by their
    paths, and loses track inside a loop where one is part of several others.
    """

    def __init__(self, model: Model):
        super().__init__()
        for name, value in weights_of(model).items():
            *path, last = name.split(".")
            place: nn.Module = self
            for part in path:
                if part not in dict(place.named_children()):
                    place.add_module(part, nn.Module())
                place = place.get_submodule(part)
            place.register_buffer(last, value.detach())
        self._forward = (
            _Forward(model),
        )  # in a tuple, for a module that is an attribute is a part

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        weights = {
            f"model.{name}": value for name, value in self.named_buffers(remove_duplicate=False)
        }
        outputs: dict[str, Tensor] = functional_call(
            self._forward[0], weights, (inputs,), tie_weights=False
        )
        return outputs


class _Forward(nn.Module):
    def __init__(self, model: Model):
        super().__init__()
        self.model = model

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        with named(f"{type(self.model.embedding).__name__}.forward"):
            words = self.model.embedding(
                {name: of_any_size(inputs[name]) for name in self.model.embedding.index_names}
            )
        if isinstance(self.model, SpinnModel):
            return _of_sentences(self.model, words, inputs)
        assert isinstance(self.model, TreeModel)
        return _of_forest(self.model, words, inputs)


def _of_sentences(model: SpinnModel, words: Tensor, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    transitions = inputs["transitions"]
    lengths = inputs["lengths"] if model.parses else sentence_lengths(transitions)
    outputs, taken, roots = shift_reduce(model.encoder, words, lengths, transitions)
    parse = {"parse": taken} if model.parses else {}
    if model.head.reads == "pairs":
        return parse | _pairs(model.head, outputs, roots)
    return parse | _nodes(model.head, outputs, roots)


def _of_forest(model: TreeModel, words: Tensor, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    forest = _forest(model, words, inputs)
    outputs, heads = _encode(model.encoder, words, forest)
    if model.head.reads == "pairs":
        return _pairs(model.head, outputs, forest.roots)
    if model.head.reads == "candidates":
        return _candidates(model.head, outputs, heads, inputs["constituents"], forest)
    return _nodes(model.head, outputs, forest.roots)


def _forest(model: TreeModel, words: Tensor, inputs: dict[str, Tensor]) -> Forest:
    if model.structure == "transitions":
        parents, slots = parents_of(inputs["transitions"])
    elif model.structure == "lengths":
        lengths, count = inputs["lengths"], words.shape[0]
        require(
            (lengths >= 1).all() & (lengths.sum() == count),
            "lengths must be at least 1 and make up all the words",
        )
        parents = torch.arange(1, count + 1).index_fill(0, torch.cumsum(lengths, 0) - 1, -1)
        slots = torch.zeros_like(parents)
    else:
        parents = inputs["parents"]
        slots = inputs.get("slots", torch.zeros_like(parents))
    kinds = inputs.get("kinds", torch.ones_like(parents))
    require(
        (kinds >= 1).all() & (kinds <= max(1, model.kinds)).all(),
        f"kinds must be from 1 to {max(1, model.kinds)}",
    )
    forest = forest_of(parents, slots, kinds)
    if model.words_at_leaves:
        require(
            torch.ones_like(forest.leaves).sum() == words.shape[0],
            "expected one word for each leaf",
        )
    return forest


def _encode(encoder: Encoder, words: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
    """Outputs of the nodes (N, H) and their head-word vectors (N, W); the layers are run as
    `Encoder.forward` runs them."""
    none = words.new_zeros([forest.parents.shape[0], 0])
    places = torch.arange(forest.leaves.shape[0]) if encoder.words_at_leaves else forest.leaves
    leaf_inputs, inner_inputs = (
        words.index_select(0, places),
        none if encoder.words_at_leaves else words,
    )
    outputs, heads, down_inputs = [words], none, words
    for depth, layer in enumerate(encoder.stack()):
        if depth > 0:
            inner_inputs = outputs[0] if encoder.separate else torch.cat(outputs, 1)
            leaf_inputs = inner_inputs.index_select(0, forest.leaves)
            down_inputs = outputs[-1] if encoder.separate else inner_inputs
        cell = layer.up.cell
        states = bottom_up(cell, leaf_inputs, inner_inputs, forest)
        outputs, heads = (
            [_output(cell, states)],
            states[cell.word_part] if cell.word_part >= 0 else none,
        )
        if layer.down is not None:
            read = heads if cell.word_part >= 0 else down_inputs
            outputs.append(_output(layer.down.cell, top_down(layer.down.cell, read, forest)))
    if len(outputs) == 1:
        return outputs[0], heads
    parts = {"up": outputs[0], "down": outputs[1]}
    if encoder.mean is not None:
        leaf_inputs = outputs[1].index_select(0, forest.leaves)
        parts["leaves"] = _output(
            encoder.mean.cell, bottom_up(encoder.mean.cell, leaf_inputs, none, forest)
        )
    return torch.cat([parts[part] for part in encoder.readout], 1), heads


def _output(cell: Cell, states: list[Tensor]) -> Tensor:
    with named(f"{type(cell).__name__}.output"):
        return cell.output(states)


def _scores(head: TaskHead, rows: Tensor) -> Tensor:
    # With a row to spare, for batch normalisation asks whether there are none, which nobody knows
    # yet.
    padded = torch.cat([of_any_size(rows), rows.new_zeros([1, rows.shape[1]])])
    with named(f"{type(head).__name__}.scores"):
        return head.scores(padded)[: rows.shape[0]]


def _nodes(head: TaskHead, outputs: Tensor, roots: Tensor) -> dict[str, Tensor]:
    scores = _scores(head, outputs)
    return {"node_scores": scores, "root_scores": scores.index_select(0, roots)}


def _pairs(head: TaskHead, outputs: Tensor, roots: Tensor) -> dict[str, Tensor]:
    trees, vectors = torch.ones_like(roots).sum(), outputs.index_select(0, roots)
    require(trees % 2 == 0, "expected pairs of trees, an even number")
    first = 2 * torch.arange(size_of(trees // 2))
    rows = torch.cat([vectors.index_select(0, first), vectors.index_select(0, first + 1)], 1)
    return {"pair_scores": _scores(head, rows), "sentence_vectors": vectors}


def _candidates(
    head: TaskHead, outputs: Tensor, heads: Tensor, constituents: Tensor, forest: Forest
) -> dict[str, Tensor]:
    children = child_table(forest, 2)[0].index_select(0, forest.inner) - 1
    left, right = (outputs.index_select(0, child) for child in children.unbind(1))
    scores = _scores(head, torch.cat([left, right, heads.index_select(0, forest.inner)], 1))
    own = scores.gather(1, constituents.index_select(0, forest.inner).unsqueeze(1))
    # Roots come last in their trees, for candidates are binary trees in transition order.
    trees = torch.searchsorted(forest.roots, forest.inner)
    return {
        "node_scores": scores.new_zeros([outputs.shape[0], head.classes]).index_copy(
            0, forest.inner, scores
        ),
        "tree_scores": scores.new_zeros([forest.roots.shape[0], 1]).index_add(0, trees, own),
    }
