"""What an import of a module that has moved says: where its public names are now."""

import sys
from typing import Final

PLACES: Final = {
    "bundled": "thinstack.runtime.open_bundle",
    "config": "thinstack.plugins.ModelConfig, and docs/recipes.md for recipes",
    "corpora": "thinstack.integrations.corpora",
    "data": "thinstack, as thinstack.read_trees",
    "doctor": "the command `thinstack doctor`",
    "hub": "the command `thinstack push`",
    "integrations": "thinstack.integrations.spacy and thinstack.integrations.spark",
    "measure": "the command `thinstack evaluate`",
    "models": "thinstack.plugins.build_model",
    "runtime": "thinstack.runtime",
    "runtime.document_data": "the Result of model(text)",
    "runtime.document_scores": "the Result of model(text)",
    "runtime.documents": "the Result of model(text)",
    "runtime.predict_text": "model.stream(texts), where model = thinstack.load()",
    "runtime.text": "model.stream(texts), where model = thinstack.load()",
    "serving": "the command `thinstack serve`",
    "show": "thinstack.render",
    "spacy_training": "the factory `tree_classifier` of spaCy",
    "spinn": "thinstack.plugins.Encoder",
}
"""By the room of a module that is not there, or by its own name: where to look for what it had."""


class _Advice:
    """The last finder of modules: it finds nothing."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        top, _dot, rest = name.partition(".")
        if top == "thinstack" and (place := PLACES.get(rest) or PLACES.get(rest.split(".")[0])):
            message = f"there is no module {name}: what is public of it is now {place}"
            raise ImportError(f"{message} (docs/api lists all)", name=name)


def advise() -> None:
    """Let imports of such modules say where to look."""
    sys.meta_path.append(_Advice())
