"""Public docstrings and the help of the command line have short sentences."""

import ast
import re
from pathlib import Path

import thinstack

ROOT = Path(thinstack.__file__).parent
MOST_WORDS = 30  # 25 is the aim

CODE = re.compile(r"(`+)[^`]+\1", re.DOTALL)
EQUATIONS = re.compile(r"\n\n(?: {4}.*(?:\n|$)+)+")
ENTRY = re.compile(r"\n[ \t]*(?=[-*] |[A-Za-z_][\w, /]*: )|\n\s*\n")
END = re.compile(r"[.!?;][\"')]*\s+")


def sentences(text):
    """The sentences of a docstring. The end of a paragraph, or of an entry of a list or of
    `Attributes`, ends a sentence, and so does a semicolon. Code in backticks is one word, and
    equations, which are indented, are left out."""
    for part in ENTRY.split("\n" + CODE.sub("code", EQUATIONS.sub("\n\n", text))):
        yield from filter(None, END.split(" ".join(part.split())))


def long_sentences(text):
    return [each for each in sentences(text) if len(each.split()) > MOST_WORDS]


def public_texts(tree):
    """Lines and texts: the docstrings of a module and its public names, and texts of options."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            private = getattr(node, "name", "").startswith("_")
            if not private and (text := ast.get_docstring(node)):
                yield node.body[0].lineno, text
        elif isinstance(node, ast.Call):
            for argument in node.keywords:
                if argument.arg == "help" and isinstance(argument.value, ast.Constant):
                    yield node.lineno, str(argument.value.value)


def test_sentences_of_public_texts_are_short():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, text in public_texts(ast.parse(path.read_text(encoding="utf-8")))
        for sentence in long_sentences(text)
    ]
    assert not found, "\n" + "\n".join(found)
