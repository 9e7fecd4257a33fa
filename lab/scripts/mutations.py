"""What mutants of the code there are, and which are the same in another tree."""

import ast
import copy
import itertools
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

# Statements and calls that are no code of the program.
IDLE = re.compile(
    r"if (typing\.)?TYPE_CHECKING|__all__ =|(assert|import|from) |(logger|logging|log)\."
)
TYPES = re.compile(r"(typing\.)?(TypeVar|NewType|Literal|Annotated)\b|(logger|logging|log)\.")
COUPLES = """Add:Sub Sub:Add Mult:Div Div:Mult FloorDiv:Mult Mod:FloorDiv Pow:Mult LShift:RShift
RShift:LShift BitAnd:BitOr BitOr:BitAnd Lt:LtE LtE:Lt Gt:GtE GtE:Gt Eq:NotEq NotEq:Eq Is:IsNot
IsNot:Is In:NotIn NotIn:In And:Or Or:And"""
SWAPS = dict(couple.split(":") for couple in COUPLES.split())
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
DROPPED = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.Delete,
    ast.Raise,
    ast.Continue,
    ast.Break,
    ast.Return,
)
NO_PACKAGES = (".", "tests", "lab", "examples", "docs")


class Mutant(NamedTuple):
    """What executes a line from first to last executes it; `new` replaces bytes start to stop."""

    file: str
    line: int
    function: str
    statement: str
    kind: str
    nth: int
    first: int
    last: int
    start: int
    stop: int
    new: str


def mutants_of(root):
    """Every mutant of the code of a tree; those of one statement stand next to each other."""
    for file in sorted(root.glob("*/**/*.py")):
        name = str(file.relative_to(root))
        if name.startswith(NO_PACKAGES):
            continue
        source, seen = file.read_bytes(), Counter[tuple[str, str, str]]()
        sizes = (len(line) for line in source.splitlines(keepends=True))
        starts = list(itertools.accumulate(sizes, initial=0))
        for scope, statement, inside, droppable in statements(ast.parse(source)):
            text = ast.unparse(header(statement))
            for kind, node, new in changes(statement, inside, droppable):
                seen[scope, text, kind] += 1
                # The defaults of parameters run at import, but it is the calls that they change.
                run = statement if isinstance(statement, ast.FunctionDef) else node
                start = starts[node.lineno - 1] + node.col_offset
                stop = starts[node.end_lineno - 1] + node.end_col_offset
                place = (run.lineno, run.end_lineno, start, stop)
                nth = seen[scope, text, kind]
                yield Mutant(name, node.lineno, scope, text, kind, nth, *place, new)


def statements(node, scope="", around=None, bound=None):
    """Statements, the name of their function, if they are in one, and if it can do without them."""
    for child in (one for block in BLOCKS for one in getattr(node, block, [])):
        inner = (scope, around, bound)
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = (f"{scope}.{child.name}".lstrip("."), None, None)
        if isinstance(child, ast.FunctionDef):
            names = [one for one in ast.walk(child.args) if isinstance(one, ast.arg)]
            is_overload = any("overload" in ast.unparse(one) for one in child.decorator_list)
            if is_overload or all(map(is_idle, child.body)):  # the latter of a protocol
                continue
            for one in names:
                one.annotation = None
            child.decorator_list, child.returns = [], None
            inner = (inner[0], child, {one.arg for one in names})
            yield inner[0], child, True, False
        elif isinstance(child, ast.stmt) and not isinstance(child, ast.ClassDef):
            if is_idle(child):
                continue
            can_go = around is not None and child is not around.body[-1]
            has_value = isinstance(child, ast.AnnAssign) and child.value is not None
            can_go &= isinstance(child, DROPPED) or has_value
            targets = [child.target] if hasattr(child, "target") else getattr(child, "targets", [])
            can_go = can_go and set().union(*map(stored, targets)) <= bound
            yield scope, child, around is not None, can_go
            if bound is not None:
                bound |= stored(header(child))
        yield from statements(child, *inner)


def stored(node):
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def is_idle(statement):
    """Docstrings, imports, assertions (they serve the types), type-only code, `__all__`, logs."""
    alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return alone or IDLE.match(ast.unparse(statement)) is not None


def header(statement):
    """The statement without the statements in it."""
    found = copy.copy(statement)
    for block in BLOCKS:
        if hasattr(found, block):
            setattr(found, block, [])
    return found


def expressions(node):
    """What is evaluated under a node, outermost first, but for types and f-strings."""
    yield node
    for child in ast.iter_child_nodes(node):
        if child is getattr(node, "annotation", None) or isinstance(child, ast.JoinedStr):
            continue
        if not isinstance(child, ast.Call | ast.Subscript) or not TYPES.match(ast.unparse(child)):
            yield from expressions(child)


def changes(statement, inside, droppable):
    """The kind of each change, the node that it replaces, and the new text."""
    if droppable:
        yield "drop", statement, "pass"
    for node in expressions(header(statement)) if not isinstance(statement, ast.Raise) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            number = not node.value if isinstance(node.value, bool) else node.value + 1
            yield f"{node.value!r} -> {number!r}", node, f"({number!r})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield "not x -> x", node, f"({ast.unparse(node.operand)})"
        elif isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.AugAssign) and inside:
            parts = [getattr(node, side, None) for side in ("left", "right", "value")]
            is_text = any(
                isinstance(getattr(part, "value", part), str | ast.JoinedStr) for part in parts
            )
            operators = node.ops if isinstance(node, ast.Compare) else [] if is_text else [node.op]
            for place, old in enumerate(operators):
                name, new = type(old).__name__, copy.copy(node)
                if name not in SWAPS:
                    continue
                swapped = getattr(ast, SWAPS[name])()
                if isinstance(new, ast.Compare):
                    new.ops = [*new.ops[:place], swapped, *new.ops[place + 1 :]]
                else:
                    new.op = swapped
                text = ast.unparse(new)
                text = text if isinstance(new, ast.AugAssign) else f"({text})"
                yield f"{name} -> {SWAPS[name]}", node, text


def find(wanted, root):
    """The same mutants in a tree, if there is one of that name, else one of that long statement."""

    def keys(mutant):
        function, *rest = mutant[2:6]
        short = function.rpartition(".")[2]
        return [
            (function, *rest),
            (short, *rest),
            ("", *rest) if len(mutant.statement) > 25 else (),
        ]

    tables = [defaultdict(list), defaultdict(list), defaultdict(list)]
    for mutant in mutants_of(root):
        for table, key in zip(tables, keys(mutant), strict=True):
            table[key].append(mutant)

    def one(mutant):
        for table, key in zip(tables, keys(mutant), strict=True):
            found = table[key] if key else []
            same = [other for other in found if Path(other.file).name == Path(mutant.file).name]
            for choice in (found, same):
                if len(choice) == 1:
                    return choice[0]
        return None

    return [one(mutant) for mutant in wanted]
