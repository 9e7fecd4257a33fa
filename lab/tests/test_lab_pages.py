"""The pages of the laboratory: their commands exist."""

import re
import shlex

import pytest
import typer
from pages import ROOT, command_lines

from reproduce.__main__ import app as reproduce
from thinstack.cli import app

PAGES = [f"lab/{path.relative_to(ROOT / 'lab')}" for path in sorted(ROOT.glob("lab/**/*.md"))]
LINE = re.compile(r"(?:\$ |`)?python -m (reproduce [^`\n>]*)")
OURS = [
    (page, line)
    for page in PAGES
    for line in LINE.findall((ROOT / page).read_text(encoding="utf-8"))
    if not line.endswith((" ...", " --help"))
]
COMMANDS = [
    *OURS,
    *((page, line) for page in PAGES if "results/" not in page for line in command_lines(page)),
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_commands_and_their_options_exist(page, line):
    program, name, *rest = shlex.split(line.split(" || ")[0], comments=True)
    of = reproduce if program == "reproduce" else app
    command = typer.main.get_command(of).commands[name]
    options = {option for part in command.params for option in (*part.opts, *part.secondary_opts)}
    used = {word.split("=")[0] for word in rest if re.match("--?[a-z]", word)}
    assert used <= options, page
