"""The page `js/demo` as readers have it, beside what Python says of the same texts."""

import pytest
from browser.demo import GOLDEN, Visit, chromium, drawn_names, node_of, page_folder, served
from js.texts import hostile
from predictions import sentences_of

import thinstack

TEXT = "It is not a bad film, but the music is awful. Still, I laughed."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return page_folder(tmp_path_factory.mktemp("page") / "files")


@pytest.fixture(scope="module")
def browser(playwright):
    found = chromium(playwright)
    yield found
    found.close()


@pytest.fixture
def visit(folder, browser):
    with served(folder) as url:
        context = browser.new_context(accept_downloads=True)
        found = Visit(context, url)
        yield found
        context.close()
        assert found.problems == []
        assert all(each.startswith((url, f"blob:{url}")) for each in found.requests)


def sentences(sentiment, text):
    (found,) = sentences_of(sentiment, [text])
    return found


def names(visit):
    items = visit.page.locator(".thinstack-tree [role=treeitem]")
    return items.evaluate_all("all => all.map(g => String(g.getAttribute('aria-label')))")


def test_typing_shows_the_tree_and_the_verdict_of_python(visit, sentiment):
    page = visit.open()
    area = page.locator("textarea")
    area.fill("")
    area.press_sequentially(TEXT, delay=5)
    visit.until("document.querySelectorAll('[role=tree]').length === 2")
    found = sentences(sentiment, TEXT)
    assert names(visit) == drawn_names(thinstack.render(found))
    verdict = sentiment(TEXT)
    assert page.locator(".verdict strong").inner_text() == verdict.label
    share = int(100 * max(verdict.scores.values()) + 0.5)
    assert page.locator(".verdict .share").inner_text() == f"{share}%"
    assert page.locator("#status").inner_text() == f"{verdict.label}, {share}%"
    polarity = f"polarity {verdict.polarity:+.2f}".replace("-", "−")
    assert page.locator(".verdict .polarity").inner_text() == polarity
    signs = dict(zip(sentiment.labels, ("−−", "−", "0", "+", "++"), strict=True))
    highlights = [f"{signs[each.label]} {each.text}" for each in verdict.highlights()]
    assert page.locator(".highlights span span").all_inner_texts() == highlights
    visit.put("")
    assert page.locator(".verdict").is_hidden()
    assert page.locator("#status").inner_text() == "No words yet."


def test_a_phrase_that_is_clicked_says_its_words_and_probabilities(visit, sentiment):
    page = visit.open()
    visit.put(TEXT)
    found = sentences(sentiment, TEXT)[0]
    node = node_of(found, "a bad film")
    page.locator(f"[data-node='{node}'] > rect").first.click()
    assert page.locator("#phrase").inner_text() == "a bad film"
    shares = [f"{int(100 * score + 0.5)}%" for score in found.node_scores[node].tolist()]
    assert page.locator("#rows .percent").all_inner_texts() == shares
    assert page.locator("#rows .name").all_inner_texts() == list(found.labels)
    chosen = page.locator("[aria-selected=true]")
    assert chosen.get_attribute("data-node") == str(node)


def test_phrases_fold_by_pointer_button_and_keyboard(visit):
    page = visit.open()
    root = page.locator("[role=treeitem]").first
    folded = lambda: root.get_attribute("aria-expanded") == "false"  # noqa: E731
    root.locator("> rect").dblclick()
    assert folded()
    assert page.locator("#fold").inner_text() == "Unfold this phrase"
    page.click("#fold")
    assert not folded()
    root.press("Enter")
    assert folded()
    assert page.locator("[role=treeitem]").nth(1).is_hidden()
    root.press("ArrowRight")
    assert not folded()
    root.press("ArrowLeft")
    assert folded()


def test_what_is_said_of_terms_is_listed(visit, sentiment):
    page = visit.open()
    page.locator(".about input").fill("plot, acting")
    page.locator(".aspects li").nth(1).wait_for()
    lines = page.locator(".aspects li").all_inner_texts()
    said = sentiment(page.locator("textarea").input_value())
    about = said.about("plot", "acting")
    assert [line.split()[1] for line in lines] == [each.text for each in about]


def test_all_is_reached_by_keyboard_and_has_a_role(visit):
    page = visit.open()
    focused = "document.activeElement.getAttribute('aria-label')"
    page.locator("textarea").focus()
    for _ in range(5):  # the terms, three examples, then the tree
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "treeitem"
    order = names(visit)
    assert page.evaluate(focused) == order[0]
    places = {"ArrowDown": 1, "ArrowRight": 2, "ArrowUp": 1, "End": -1, "Home": 0}
    for key, place in places.items():
        page.keyboard.press(key)
        assert page.evaluate(focused) == order[place]
    page.keyboard.press("ArrowDown")
    assert page.locator("#phrase").inner_text() == order[1].split(": ", 1)[1]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "radio"
    # One stop of the tabulator in each tree, whatever its size.
    assert page.locator("[role=treeitem][tabindex='0']").count() == 1
    for role, name in (
        ("main", None), ("complementary", "The chosen phrase"), ("textbox", "Text"),
        ("tree", "Sentence 1 of 1"), ("group", "Label and probabilities"),
        ("button", "Compare"), ("status", None),
    ):  # fmt: skip
        assert page.get_by_role(role, name=name).count() >= 1, (role, name)
    assert page.locator(".bar").get_attribute("aria-label").startswith("very negative ")


def test_hostile_text_is_text(visit):
    page = visit.open()
    nasty = 'A <img src=x onerror="alert(1)"> film <script>alert(2)</script></svg> &amp; \u202e b'
    for text in [nasty, *hostile(12, seed=11)]:
        visit.put(text)
        page.locator("[data-view=text]").click()
        page.locator(".picture [role=treeitem]").first.click()
        if page.locator("[data-view=tree]").is_enabled():
            page.locator("[data-view=tree]").click()
            page.locator("[role=treeitem] > rect").first.click()
        if text == nasty:
            assert '<img src=x onerror="alert(1)">' in page.locator("#phrase").inner_text()
    active = page.locator("main img, main script, main style, main [onclick], main [onerror]")
    assert active.count() == 0


def test_ten_thousand_words_are_coloured_text(visit, sentiment):
    page = visit.open()
    text = "The acting is superb , but the plot is dull . " * 1000
    visit.put(text)
    visit.until("document.querySelector('.verdict .quiet').textContent.includes('11,000')")
    assert page.locator(".verdict strong").inner_text() == sentiment(text).label
    assert page.locator(".thinstack-text p").count() == 1000
    assert page.locator(".thinstack-tree").count() == 0
    assert page.locator("[data-view=tree]").is_disabled()
    assert "up to 60 words" in page.locator(".hint").inner_text()
    page.locator(".thinstack-text .t4").nth(500).click()
    assert page.locator("#phrase").inner_text()
    visit.put("Good.")
    assert page.locator(".thinstack-tree").count() == 1


def test_two_sentences_are_compared(visit, sentiment):
    page = visit.open()
    page.get_by_role("button", name="Compare").click()
    visit.until("document.querySelectorAll('.verdict:not([hidden])').length === 2")
    page.get_by_role("textbox", name="Text 2").fill("Awful.")
    visit.until("document.querySelectorAll('.verdict strong')[1].textContent === 'very negative'")
    assert sentences(sentiment, "Awful.")[0].label == "very negative"
    assert page.locator("#phrase").inner_text() == "Awful."
    page.locator(".thinstack-tree").first.locator("[role=treeitem] > rect").first.click()
    assert page.locator("[aria-selected]").count() == 1
    page.get_by_role("button", name="Compare").click()
    assert page.locator("textarea").count() == 1


def test_corrected_labels_are_saved_as_brackets(visit, sentiment):
    page = visit.open()
    visit.put(TEXT + " (Really!)")
    found = sentences(sentiment, TEXT + " (Really!)")
    node = node_of(found[0], "bad film")
    page.locator(f"[data-node='{node}'] > rect").first.click()
    page.get_by_role("radio", name="very positive").check()
    assert "The model predicted" in page.locator("#corrected").inner_text()
    assert page.locator(".corrected > .sign").text_content() == "++"
    with page.expect_download() as download:
        page.click("#save")
    lines = download.value.path().read_text("utf-8").splitlines()
    for number, (line, sentence) in enumerate(zip(lines, found, strict=True)):
        tree = thinstack.from_brackets(line)
        expected = sentence.tree
        labels = list(expected.labels)
        if not number:
            labels[node] = "4"
        assert (list(tree.words), list(tree.labels)) == (list(expected.words), labels)
        assert tree.transitions.tolist() == expected.transitions.tolist()
    page.get_by_role("button", name="Undo").click()
    assert page.locator(".corrected").count() == 0


def test_a_model_of_ones_own_by_address_and_folder(visit):
    page = visit.open("?model=words/")
    labels = list(thinstack.load(GOLDEN / "words", threads=1).labels)
    assert page.locator("#rows .name").all_inner_texts() == labels
    assert page.locator("#loaded").inner_text() == "Model: words"
    page.locator("#own").click()
    page.locator("#default").click()
    visit.until("document.querySelector('#loaded').textContent === 'Model: sentiment'")
    page.locator("#own").click()
    page.locator("input[type=file]").set_input_files(GOLDEN / "words")
    visit.until("document.querySelector('#loaded').textContent === 'Model: your folder'")
    visit.until(f"document.querySelectorAll('#rows .name').length === {len(labels)}")
    assert page.locator("#rows .name").all_inner_texts() == labels


def test_a_broken_model_is_told_in_words(visit, folder, tmp_path):
    page = visit.open("?model=damaged/")
    alert = page.get_by_role("alert")
    alert.wait_for()
    said = alert.inner_text()
    assert "damaged/onnx/model.onnx: its SHA-256 is not the one in the manifest" in said
    assert "The bundled model is used instead." in said
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("no bundle")
    for given, said in (
        (folder / "damaged", "the file is damaged"),
        (tmp_path / "notes", "expected the folder of a bundle"),
    ):
        page.locator("#own").click()
        page.locator("input[type=file]").set_input_files(given)
        page.locator("#alert", has_text=said).wait_for()
    visit.put("Good.")  # by the model before it
    assert page.locator("#rows .name").count() == 5
    assert alert.is_hidden()
    page.goto(f"{visit.url}?model=https://example.org/model/")
    page.get_by_text("this page uses no other server").wait_for()


def test_without_a_connection_it_goes_on(visit):
    page = visit.open()
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    visit.until("navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.goto(visit.url)
    page.wait_for_selector("[role=treeitem]")
    visit.put("Superb.")
    assert page.locator(".verdict strong").inner_text() == "very positive"


def test_without_simd_it_says_which_browsers_work(folder, playwright):
    # As on a processor that has none of it.
    missing = ("sse3", "ssse3", "sse4-1", "sse4-2", "avx", "avx2")
    bare = chromium(playwright, f"--js-flags={' '.join(f'--no-enable-{name}' for name in missing)}")
    with served(folder) as url:
        page = bare.new_page()
        page.goto(url)
        page.get_by_text("WebAssembly with SIMD is missing").wait_for()
        assert "Firefox 89" in page.get_by_role("alert").inner_text()
        assert page.locator("textarea").is_disabled()
    bare.close()
