"""Arguments of the command line, one a line."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

from fuzz.changes import any_of, mutated_bytes, mutated_lines, mutated_text
from fuzz.target import Target
from fuzz.text_targets import GOLDEN

from thinstack.cli import main

FILES = {
    "texts.txt": "A good film.\nBad, though.\n",
    "table.csv": "id,text,label\n1,good,positive\n2,bad,negative\n",
    "trees.txt": "(3 (2 The) (4 acting))\n(1 (0 (2 not) (1 bad)) (2 .))\n",
    "config.toml": "name = 'x'\n",
}
COMMANDS = (
    "predict\nA good film.",
    "predict\nIt is not bad. I like it.\n--json\n--why\n--classes\n2",
    "predict\ngood\n--model\nwords\n--source\nbalanced\n--abstain\n0.6",
    "predict\n--input\ntexts.txt\n--out\nout\n--output\ndocuments",
    "predict\n--input\ntable.csv\n--id\nid\n--out\nout2\n--format\njsonl\n--jobs\n1",
    "predict\ngood\n--html\na.html\n--max-words\n3",
    "evaluate\ntrees.txt\n--model\nwords",
    "evaluate\n--suite\ntable.tsv",
    "export\nwords\nexported.txt",
    "train\nconfig.toml\n--out\nrun",
    "plugins\n--json",
    "doctor\n--model\nwords\n--json",
    "finish\nwords\nfinished",
    "--help",
    "--version",
)
WORDS = ("--model", "--json", "--jsonl", "--device", "cuda", "--threads", "0", "-1", "--", "-h", "")
WORDS += ("--source", "self", "nothing", "texts.txt", "table.csv", "words")
WORDS += ("--text", "--id", "--why")
WORDS += ("--encoding", "utf-16", "hf://a/b", "--classes", "3", "--abstain", "nan", "--max-words")


@cache
def prepare(folder):
    """Files in the folder at hand, which the process has for itself."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "words").symlink_to(GOLDEN / "words")


def command(content, folder):
    """The exit code is 0, 1 or 2, and nothing prints a traceback."""
    prepare(folder)
    arguments = content.decode(errors="replace").split("\n")
    # Only what stays in the folder, ends soon and asks nobody.
    if any(each[:1] == "/" or ".." in each or "=/" in each for each in arguments):
        return 0
    if arguments[0] in ("serve", "push"):
        return 0
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.argv, sys.stdin = ["thinstack", *arguments], io.TextIOWrapper(io.BytesIO(b"fine\n"))
    code = 0
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        printed.flush()
    text = printed.buffer.getvalue().decode()
    assert "Traceback" not in text, text
    assert code in (0, 1, 2), code
    assert isinstance(code, int)
    return code


TARGETS = {
    "arguments": Target(
        lambda: [text.encode() for text in COMMANDS],
        any_of(mutated_text(*WORDS, separators="\n"), mutated_lines, mutated_bytes),
        command,
        60,
    )
}
