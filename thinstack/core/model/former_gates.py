"""Weights of before the gates of all cells stood in the order of the papers: i, f, o, u."""

from collections.abc import Mapping
from typing import Any, Final

from torch import Tensor, nn

ORDER: Final = "irfzoung"
"""The gates as they stand now: of an LSTM i, f, o, and u or g; of a GRU r, z, n."""

RENAMED: Final = {"w_if": "w_fi", "b_if": "b_fi"}
"""Weights that had another name, for f stood before i."""


def reorder_gates(module: nn.Module, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state of `module`, by the names of its tensors, from one with the former orders.

    Tensors that `state` lacks are left out. Raises RuntimeError for weights of other sizes.
    """
    found = dict(state)
    for path, part in module.named_modules():
        start = f"{path}." if path else ""
        for name, gates in _former_gates(part).items():
            for former in {start + RENAMED.get(name, name), start + name} & state.keys():
                del found[former]
                found[start + name] = _reordered(state[former], gates, _width(part))
    return found


def _reordered(weight: Tensor, gates: str, width: int) -> Tensor:
    """A weight (.., S G W), for S times G `gates` of one `width` W, in the order of now."""
    order = sorted(range(len(gates)), key=lambda place: ORDER.index(gates[place]))
    sets = weight.shape[-1] // (len(gates) * width)
    blocks = weight.reshape(*weight.shape[:-1], sets, len(gates), width)
    return blocks[..., order, :].flatten(-3)


def _width(part: Any) -> int:
    width: int = part.size if hasattr(part, "lookahead") else part.hidden_size
    return width


def _former_gates(part: Any) -> dict[str, str]:
    """The gates in the columns of each weight, before; none for other parts than our own."""
    own = (each for each in type(part).__mro__ if each.__module__.startswith("thinstack.plugins."))
    match next((each.__name__ for each in own), ""):
        case "ChildSumLSTM":
            gates = "iuof" if part.output_gate else "iuf"
            w = gates if part.inner_size else gates[:-1]
            return {"w": w, "u": gates, "b": gates, "b_u": gates}
        case "NaryLSTM":
            w = "iouf" if part.inner_size else "iou"
            return {"w": w, "u": f"io{'f' * part.arity}u", "b": "iouf"}
        case "NaryLSTMOfTable1":
            return _former_gates_of_table_1(part)
        case "DualGateLSTM":
            pairs = "f" * part.arity + "i" * part.arity
            return {"w_x": "igo", "b_x": "igo", "w_if": pairs, "b_if": pairs}
        case "LexicalizedLSTM":
            return {"w_x": "figo", "w_if": "ffi", "b": "ffigo"}
        case "PeepholeLSTM":
            return {"w_if": "fi", "b": "figo"}
        case "SLSTM":
            return {"w_x": "igo", "w_if": "ffi", "b": "ffigo"}
        case "SpinnLSTM":
            return {"w_comp": "ioffg", "b_comp": "ioffg"}
        case "TopDownLSTM":
            return {"w_x": "figo", "w_if": "fi", "b": "figo"}
        case "TreeGRU":
            return {"w": "znr" if part.inner_size else "zn", "u": "znr", "b": "znr"}
        case "TrackingLSTM":
            return dict.fromkeys(("w_stack", "w_buffer", "u", "b"), "iofg")
    return {}


def _former_gates_of_table_1(cell: Any) -> dict[str, str]:
    n, o = cell.arity, "o" if cell.output_gate else ""
    children = "f" * n if cell.forget == "full" else ""
    maps_of_f = len(cell.b_u) // cell.hidden_size - (2 + len(o)) * n
    return {
        "w": f"i{o}uf" if cell.inner_size else f"i{o}u",
        "u": f"i{o}{children}u",
        "b": f"i{o}uf",
        "b_u": "i" * n + o * n + "f" * maps_of_f + "u" * n,
    }
