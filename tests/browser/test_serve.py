"""`thinstack serve` in a browser: the same page, which asks the library; the page in Firefox."""

import json
import os
import shutil
import subprocess
from threading import Thread

import pytest
from browser.demo import ROOT, Visit, chromium, drawn_names, node_of, page_folder, served
from predictions import sentences_of

import thinstack
from thinstack.data.tables.table import Table
from thinstack.integrations.serving.labelling import Labelling
from thinstack.integrations.serving.server import PageServer

TEXT = "The 😀 acting is strong, but the plot never quite comes together."


def test_the_page_of_a_model_on_this_machine(playwright):
    browser = chromium(playwright)
    with PageServer(0) as server:
        server.predictor, server.name = thinstack.load("sentiment", threads=1, abstain=0.5), "mine"
        Thread(target=server.serve_forever, daemon=True).start()
        visit = Visit(browser.new_context(), server.url)
        page = visit.open()
        visit.put(TEXT)
        (sentences,) = sentences_of(server.predictor, [TEXT])
        marks = page.locator(".sign").all_text_contents()
        (drawn,) = page.locator(".thinstack-tree").evaluate_all(
            "all => all.map(each => each.querySelectorAll('title').length)"
        )
        assert drawn == len(marks) == len(sentences[0].node_scores)
        assert "?" in marks, "no class reaches 50% somewhere"
        highlights = page.locator(".highlights span span").all_inner_texts()
        assert [each.split(" ", 1)[1] for each in highlights] == [
            each.text for each in server.predictor(TEXT).highlights()
        ]
        page.locator(".about input").fill("plot, acting")
        page.locator(".aspects li").nth(1).wait_for()
        said = [each.text.lower() for each in server.predictor(TEXT).about("plot", "acting")]
        lines = page.locator(".aspects li").all_inner_texts()
        assert [line.split()[1] for line in lines] == said == ["acting", "plot"]
        page.locator(f"[data-node='{node_of(sentences[0], '😀')}'] > rect").click()
        assert page.locator("#phrase").inner_text() == "😀"
        assert page.locator("#own").is_hidden()
        assert page.locator("#loaded").inner_text() == "Model: mine"
        visit.put("x" * 1_000_100)
        assert "at most 1,000,000 bytes" in page.get_by_role("alert").inner_text()
        page.context.set_offline(True)  # as if it had ended
        visit.put("Good.")
        assert "Start thinstack serve again" in page.get_by_role("alert").inner_text()
        assert all(each.startswith(server.url) for each in visit.requests)
        server.shutdown()
    browser.close()


def test_a_key_labels_a_text_and_brings_the_next(playwright, tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nA film.,bad\nDreadful.,good\nFine.,bad\n", "utf-8")
    browser, out = chromium(playwright), tmp_path / "c.csv"
    with PageServer(0) as server:
        server.predictor, server.name = thinstack.load("sentiment", threads=1), "mine"
        server.labelling = Labelling(Table(tmp_path / "t.csv"), server.predictor, out)
        first, second, _ = (one.text for one in server.labelling.texts)
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 360, "height": 640})
        page.goto(server.url)
        page.locator("#place", has_text="Text 1 of 3").wait_for()
        assert page.locator("textarea").first.input_value() == first
        page.locator(".verdict:not([hidden])").wait_for()
        page.keyboard.press("2")
        page.locator("#place", has_text="Text 2 of 3").wait_for()
        assert out.read_text("utf-8") == f"text,label\n{first},good\n"
        page.keyboard.press("ArrowRight")
        page.locator("#place", has_text="Text 3 of 3").wait_for()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="bad").click()
        page.locator("#place", has_text="2 labeled").wait_for()
        assert out.read_text("utf-8").splitlines()[-1] == f"{second},bad"
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        server.shutdown()
    browser.close()


FIREFOX = os.environ.get("THINSTACK_FIREFOX") or shutil.which("firefox-esr")
REVIEW = "The acting is strong, but the plot <b>never</b> comes together."


@pytest.mark.skipif(
    not (FIREFOX and (ROOT / "js" / "node_modules" / "puppeteer-core").is_dir()),
    reason="needs Firefox, and puppeteer-core in js/",
)
def test_the_trees_of_python_in_firefox(tmp_path):
    program = str(ROOT / "js" / "demo" / "firefox.mjs")
    with served(page_folder(tmp_path / "files")) as url:
        command = ["node", program, str(FIREFOX), url, REVIEW]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (sentences,) = sentences_of(thinstack.load("sentiment", threads=1), [REVIEW])
    assert found["names"] == drawn_names(thinstack.render(sentences))
    assert found["phrase"] == found["names"][1].split(": ", 1)[1]
    assert (found["folded"], found["problems"]) == (1, [])
