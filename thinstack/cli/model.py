"""How commands load a model: one that anybody may have made runs in a process of its own."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

__all__ = ["load_model"]


def load_model(model: str, **settings: Any) -> "Predictor":
    """The predictor of the bundle that a user named, isolated unless it came with an installed
    distribution or was trained here. It takes the `settings` of `thinstack.load` and raises the
    same errors."""
    from thinstack.bundle import open_bundle
    from thinstack.bundle.origin import is_own
    from thinstack.runtime.predictor import Predictor

    bundle = open_bundle(model)
    return Predictor(bundle, isolated=not is_own(model, bundle), **settings)
