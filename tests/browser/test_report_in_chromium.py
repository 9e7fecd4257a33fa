"""The page of a report as readers have it: without scripts and with its own, on narrow and wide
screens."""

import os
import shutil

import pytest
from integrations.report_rows import mention, report, row, rows

CHROMIUM = os.environ.get("THINSTACK_CHROMIUM") or shutil.which("chromium")

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")

LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 2


@pytest.fixture(scope="module")
def browser(playwright):
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield chromium
    chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report of many groups, and of names that are long and hostile."""
    names = ("North", "South", "East", LONG, "<img src=x onerror=alert(1)>")
    texts = rows(600)
    texts += [row(*[mention(f"{LONG} price", 1)] * 6, group=name) for name in names[3:] * 20]
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report(texts, groups=names).html(), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_it_is_read_without_scripts_and_without_a_network(browser, address, width, scheme):
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=False)
    page, asked, said = context.new_page(), [], []
    context.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(address)
    assert asked == [address]
    assert said == []
    assert page.locator("h1").is_visible()
    assert page.get_by_role("table").count() >= 4
    assert page.get_by_role("heading", level=3).count() >= 4
    box = page.locator("main").bounding_box()
    assert box["width"] <= width
    elements = page.locator("h1, h2, h3, p, table, li, article").all()
    boxes = [box for element in elements if (box := element.bounding_box())]
    assert all(box["x"] + box["width"] <= width + 0.5 for box in boxes)
    page.click("text=What could not be read")
    assert page.locator("#unread").is_visible()
    context.close()


def test_its_script_sorts_and_filters_and_no_other_runs(browser, address):
    page, said = browser.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(address)
    table = page.locator("table.figures").first
    counts = "rows => rows.map(row => parseInt(row.cells[1].textContent.replace(',', '')))"
    for turn in (-1, 1):
        table.get_by_role("button", name="Texts").click()
        texts = table.locator("tbody tr").evaluate_all(counts)
        assert texts == sorted(texts, reverse=turn == -1)
        assert len(texts) > 3
    first = page.locator("tbody tr:visible").count()
    page.get_by_role("searchbox").fill("battery")
    rows_left = page.locator("tbody tr:visible").all_text_contents()
    assert 0 < len(rows_left) < first
    assert all("batter" in text for text in rows_left)
    page.get_by_role("searchbox").fill("")
    assert page.locator("tbody tr:visible").count() == first
    page.locator("a[href='#group-1-negative']").click()
    assert page.locator("#group-1-negative").is_visible()
    assert said == []
    page.evaluate("document.body.innerHTML += '<img src=x onerror=alert(1)>'")
    page.wait_for_timeout(200)
    assert not any(message == "1" for message in said), "the policy of the page forbids it"
    page.close()


def test_it_can_be_printed(browser, address):
    page = browser.new_page(color_scheme="dark")
    page.goto(address)
    page.emulate_media(media="print")
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert white == "rgb(255, 255, 255)", "paper is light"
    assert page.locator("nav").is_hidden()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
