"""Convert constituency trees from and to nltk: `nltk.Tree("NN", ["dog"])` is a single leaf with a
label and a word."""

from typing import TYPE_CHECKING, Any

from thinstack.core import Tree
from thinstack.data.trees.phrases import check_constituency
from thinstack.errors import TreeError, needs_extra

if TYPE_CHECKING:
    import nltk


def from_nltk(tree: "nltk.Tree") -> Tree:
    """Convert an nltk tree to a thinstack tree. A string that is its parent's only child becomes
    that parent's word. Any other string becomes a leaf without a label.

    The label "" becomes None. Raises TreeError for an object that is not an nltk Tree, for a node
    without children, and for labels or words that are not strings. Raises MissingExtraError without
    nltk.
    """
    with needs_extra("trees", "nltk"):
        from nltk import Tree as NltkTree
    if not isinstance(tree, NltkTree):
        other = f"{type(tree).__name__} {tree!r:.200}"
        raise TreeError(f"expected an nltk Tree, found {other}; nltk.Tree.fromstring reads text")
    parents: list[int] = []
    words: list[str | None] = []
    labels: list[str | None] = []
    todo: list[tuple[Any, int]] = [(tree, -1)]
    while todo:
        part, parent = todo.pop()
        label, word, children = None, part, list[Any]()  # of a string with siblings
        if isinstance(part, NltkTree):
            label, children = _string(part.label(), "labels") or None, list(part)
            if not children:
                problem = "has no children; expected a word or children"
                raise TreeError(f"the node labeled {label!r} {problem}")
            if len(children) == 1 and not isinstance(children[0], NltkTree):
                word, children = children[0], []
        todo.extend((child, len(parents)) for child in reversed(children))
        parents.append(parent)
        words.append(None if children else _string(word, "words"))
        labels.append(label)
    return Tree.from_parents(parents, words, labels)


def to_nltk(tree: Tree) -> "nltk.Tree":
    """Convert a tree to an nltk tree that `from_nltk` converts back. The label None becomes "".

    A leaf without a label becomes a plain string if it has siblings, else a Tree with the label ""
    and the string. Raises TreeError for a word at an inner node or a label "". Raises
    MissingExtraError without nltk.
    """
    with needs_extra("trees", "nltk"):
        from nltk import Tree as NltkTree
    check_constituency(tree)
    arities = tree.arities.tolist()
    below: list[list[Any]] = [[] for _ in arities]
    built: Any = None
    nodes = zip(tree.parents.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (parent, word, label) in enumerate(nodes):  # children precede their parent
        if label == "":
            raise TreeError(
                f"node {node} has the label '', which in nltk means no label; make it None"
            )
        bare = label is None and not arities[node] and parent >= 0 and arities[parent] > 1
        built = word if bare else NltkTree(label or "", below[node] or [word])
        if parent >= 0:
            below[parent].append(built)
    return built


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        other = f"{type(value).__name__} {value!r}"
        raise TreeError(f"expected {what} that are strings, found {other}; convert the tree first")
    return value
