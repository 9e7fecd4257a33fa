"""Dependency trees for treebanks that have none: a small parser of spaCy's, trained on CoNLL-U
files."""

import hashlib
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from thinstack.core import Tree
from thinstack.data.files.writing import staging
from thinstack.data.trees.conllu import read_conllu
from thinstack.data.trees.phrases import project_labels
from thinstack.data.trees.text_files import read_text
from thinstack.data.trees.treebank import Labelled, label_ids
from thinstack.data.words import ptb
from thinstack.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

FIGURES = "figures.json"
ROOT = "root"
SPACY_ROOT = "ROOT"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
PARSERS = CACHE / "thinstack" / "parsers"
"""Where trained parsers are kept, each under the digest of its files."""
TOGETHER = 256
"""Sentences that are parsed at a time."""


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """Convolutions over hashed features of the words, and transitions (arc-eager). Sentences are
    learnt in pieces of at most `cut` transitions, and relations seen `rare` times or more. Adam's
    learning rate rises over the first part `warmup` of the updates and falls linearly to 0."""

    seed: int = 0
    epochs: int = 8
    width: int = 96
    depth: int = 3
    hidden: int = 64
    cut: int = 20
    rare: int = 10
    batch_words: int = 600
    learning_rate: float = 0.003
    warmup: float = 0.1
    dropout: float = 0.1


def train_parser(
    train: Path, dev: Path, folder: Path, *, settings: ParserSettings = ParserSettings()
) -> Path:
    """The folder of a parser trained on one CoNLL-U file and measured on another, below `folder`.

    It is named by the digest of both files, the settings and spaCy's version: what is there already
    is not trained again. Of two processes that train it at once, the later drops its own. Raises
    MissingExtraError without spaCy, what `read_conllu` raises, and DataError where the parser
    cannot be written.
    """
    spacy = _spacy()
    digest = hashlib.sha256(json.dumps([asdict(settings), spacy.__version__]).encode())
    for path in (train, dev):
        digest.update(hashlib.sha256(read_text(path).encode()).digest())
    target = folder / digest.hexdigest()[:16]
    if target.is_dir():
        return target
    learnt, measured = read_conllu(train), read_conllu(dev)
    from thinc.api import use_ops

    # BLAS of numpy is several times faster than blis.
    with use_ops("numpy", use_blis=False), _seeded(settings.seed):
        nlp, seconds = _trained(learnt, settings)
        found = {**_accuracy(nlp, measured), "seconds": round(seconds, 1)}
    try:
        _write(nlp, found, target)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{target}: the parser cannot be written: {reason}") from None
    return target


def dependency_trees(
    treebank: Sequence[Labelled], labels: Sequence[str], parser: Path
) -> list[Labelled]:
    """The same sentences with the trees of a parser, each node with the class, of C `labels`, of
    the phrase over the same words (Tai et al. 2015, 5.1). Raises what `parse` does."""
    parsed = parse(parser, [tree.words for tree, _ in treebank])
    trees = [project_labels(tree, found) for (tree, _), found in zip(treebank, parsed, strict=True)]
    return [(tree, label_ids(tree, labels)) for tree in trees]


def figures(parser: Path) -> dict[str, float]:
    """Of a parser: `uas` and `las` (percent, with whole relations) over the `words` of the
    development file, and the `seconds` of training."""
    found: dict[str, float] = json.loads((parser / FIGURES).read_text(encoding="utf-8"))
    return found


def parse(parser: Path, sentences: Sequence[Sequence[str]]) -> list[Tree]:
    """The dependency tree of each sentence of at least one word: node i is word i, labelled with
    its relation to its head.

    The parser is shown the words as running text has them (`ptb.plain`); the trees keep them as
    given. Raises MissingExtraError without spaCy, DataError for a folder that holds no parser.
    """
    spacy = _spacy()
    from thinc.api import use_ops

    with use_ops("numpy", use_blis=False):
        try:
            nlp = spacy.load(parser)
        except (OSError, ValueError) as error:
            advice = "delete the folder, and it is trained anew"
            raise DataError(f"{parser}: not a parser ({error}); {advice}") from None
        return _parsed(nlp, sentences)


def _spacy() -> ModuleType:
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":  # spaCy is there, and what it needs is not
            raise
        raise MissingExtraError("spacy", "reproduce") from None
    return spacy


def _trained(trees: Sequence[Tree], settings: ParserSettings) -> tuple["Language", float]:
    """A parser and the seconds that its training took."""
    from spacy.lang.en import English
    from spacy.training import Example
    from spacy.training.batchers import minibatch_by_words
    from thinc.api import Adam

    started = time.perf_counter()
    nlp = English()
    nlp.add_pipe("parser", config=_component(settings))
    examples = [Example(_doc(nlp, tree.words), _gold(nlp, tree)) for tree in trees]
    nlp.initialize(lambda: examples)
    optimizer = Adam(settings.learning_rate, L2=0.01, L2_is_weight_decay=True, use_averages=False)
    for epoch in range(settings.epochs):
        random.shuffle(examples)
        batches = list(minibatch_by_words(examples, settings.batch_words))
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / settings.epochs
            share = min((done + 1e-6) / settings.warmup, 1 - done)
            optimizer.learn_rate = settings.learning_rate * share
            nlp.update(batch, drop=settings.dropout, sgd=optimizer)
    return nlp, time.perf_counter() - started


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """spaCy draws from Python's and numpy's global generators: they are put back afterwards."""
    before = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


_NEW = (".{}.", ".new")


def _write(nlp: "Language", found: dict[str, float], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with staging(target, *_NEW, folder=True) as made:
        nlp.to_disk(made)
        (made / FIGURES).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        try:
            os.rename(made, target)
        except OSError:
            if not target.is_dir():  # another process was first
                raise


def _component(settings: ParserSettings) -> dict[str, Any]:
    """What spaCy builds the parser from; nothing of it has to be downloaded."""
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": settings.width,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [5000, 2500, 2500, 2500],
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": settings.width,
        "depth": settings.depth,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    model = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": settings.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode},
    }
    return {
        "model": model,
        "update_with_oracle_cut_size": settings.cut,
        "min_action_freq": settings.rare,
    }


def _doc(nlp: "Language", words: Sequence[str]) -> "Doc":
    """A document of one sentence, which the parser cannot split."""
    from spacy.tokens import Doc

    starts: list[bool | int | None] = [place == 0 for place in range(len(words))]
    return Doc(nlp.vocab, words=list(map(ptb.plain, words)), sent_starts=starts)


def _gold(nlp: "Language", tree: Tree) -> "Doc":
    from spacy.tokens import Doc

    parents = tree.parents.tolist()
    heads = [node if parent < 0 else parent for node, parent in enumerate(parents)]
    labels = [
        SPACY_ROOT if parent < 0 else label or "dep"
        for parent, label in zip(parents, tree.labels, strict=True)
    ]
    return Doc(nlp.vocab, words=list(map(ptb.plain, tree.words)), heads=heads, deps=labels)


def _parsed(nlp: "Language", sentences: Sequence[Sequence[str]]) -> list[Tree]:
    docs = nlp.pipe((_doc(nlp, words) for words in sentences), batch_size=TOGETHER)
    return [_tree(doc, words) for doc, words in zip(docs, sentences, strict=True)]


def _tree(doc: "Doc", words: Sequence[str]) -> Tree:
    parents = [-1 if token.head.i == token.i else token.head.i for token in doc]
    relations = [ROOT if token.dep_ == SPACY_ROOT else token.dep_ for token in doc]
    return Tree.from_parents(parents, words, relations)


def _accuracy(nlp: "Language", trees: Sequence[Tree]) -> dict[str, float]:
    """Attachment of words, in percent, without and with the relation (UAS, LAS)."""
    found = _parsed(nlp, [tree.words for tree in trees])
    pairs = list(zip(trees, found, strict=True))
    heads = np.concatenate([gold.parents == own.parents for gold, own in pairs])
    relations = np.concatenate([np.array(gold.labels) == own.labels for gold, own in pairs])
    both = heads & relations
    return {"uas": 100 * heads.mean().item(), "las": 100 * both.mean().item(), "words": len(heads)}
