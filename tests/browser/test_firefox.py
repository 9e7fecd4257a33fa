"""The page in Firefox: the same trees."""

import json
import os
import shutil
import subprocess

import pytest
from browser.demo import ROOT, drawn_names, page_folder, served
from predictions import sentences_of

import thinstack

FIREFOX = os.environ.get("THINSTACK_FIREFOX") or shutil.which("firefox-esr")
TEXT = "The acting is strong, but the plot <b>never</b> comes together."

pytestmark = pytest.mark.skipif(
    not (FIREFOX and (ROOT / "js" / "node_modules" / "puppeteer-core").is_dir()),
    reason="needs Firefox, and puppeteer-core in js/",
)


def test_the_trees_of_python_in_firefox(tmp_path):
    program = str(ROOT / "js" / "demo" / "firefox.mjs")
    with served(page_folder(tmp_path / "files")) as url:
        done = subprocess.run(
            ["node", program, str(FIREFOX), url, TEXT], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (sentences,) = sentences_of(thinstack.load("sentiment", threads=1), [TEXT])
    assert found["names"] == drawn_names(thinstack.render(sentences))
    assert found["phrase"] == found["names"][1].split(": ", 1)[1]
    assert (found["folded"], found["problems"]) == (1, [])
