"""The npm package on WebGPU in Chromium, whose software adapter stands for a GPU."""

import pytest
from browser.demo import ROOT, chromium, served

TEXTS = ("The acting is strong, but the plot never comes alive.", "It is not a bad film.", "Good.")
PAGE = """<!doctype html><script type="importmap">{ "imports": {
  "thinstack": "/dist/web.js",
  "onnxruntime-web": "/ort/ort.wasm.bundle.min.mjs",
  "onnxruntime-web/webgpu": "/ort/ort.webgpu.bundle.min.mjs"
} }</script>"""
READ = """async ([device, texts]) => {
  const { load } = await import("thinstack");
  try {
    const model = await load("/sentiment/", { device });
    const results = await model.predict(texts);
    const sentences = results.map(({ sentences: [{ transitions, nodeScores }] }) =>
      ({ transitions, scores: nodeScores.map((row) => [...row]) }));
    return { device: model.device, sentences };
  } catch ({ name, message }) {
    return { name, message };
  }
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("webgpu")
    (folder / "index.html").write_text(PAGE)
    (folder / "dist").symlink_to(ROOT / "js" / "dist")
    (folder / "ort").symlink_to(ROOT / "js" / "node_modules" / "onnxruntime-web" / "dist")
    (folder / "sentiment").symlink_to(ROOT / "thinstack" / "bundle" / "bundled" / "sentiment")
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser(playwright):
    browser = chromium(playwright, "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
    yield browser
    browser.close()


@pytest.fixture
def page(browser, url):
    page = browser.new_page()
    page.goto(url)
    yield page
    page.close()


def test_three_sentences_as_by_webassembly(page):
    found, expected = (page.evaluate(READ, [device, TEXTS]) for device in ("webgpu", "cpu"))
    assert (found["device"], expected["device"]) == ("webgpu", "cpu")
    assert len(found["sentences"]) == len(TEXTS)
    for own, other in zip(found["sentences"], expected["sentences"], strict=True):
        assert own["transitions"] == other["transitions"]
        for row, wanted in zip(own["scores"], other["scores"], strict=True):
            assert row == pytest.approx(wanted, abs=5e-3)  # WebAssembly computes in 8 bits


def test_auto_takes_no_software_adapter(page):
    assert page.evaluate(READ, ["auto", TEXTS[2:]])["device"] == "cpu"


def test_without_an_adapter(playwright, url):
    browser = chromium(playwright, "--disable-gpu", "--disable-features=WebGPU")
    page = browser.new_page()
    page.goto(url)
    found = page.evaluate(READ, ["webgpu", TEXTS[2:]])
    device = page.evaluate(READ, ["auto", TEXTS[2:]])["device"]
    browser.close()
    assert found["name"] == "DeviceError"
    assert found["message"].startswith("device webgpu does not work here: [webgpu] Error: Failed ")
    assert device == "cpu"
