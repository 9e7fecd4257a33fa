/** The page in Firefox, for tests/browser/test_serve.py: `node firefox.mjs PROGRAM URL TEXT` prints what is shown as JSON. */
import puppeteer from "puppeteer-core";

const [executablePath, url, text] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.waitForSelector("[role=treeitem]");
  await page.$eval("textarea", (area) => area.select());
  await page.type("textarea", text);
  const names = () => page.$$eval("[role=treeitem]", (all) => all.map((each) => each.getAttribute("aria-label")));
  // What is typed last is asked last.
  for (let tries = 0; tries < 200 && !(await names())[0].endsWith(text); tries += 1) await new Promise((done) => setTimeout(done, 50));
  const drawn = await names();
  await page.click("[role=treeitem] > rect");
  await page.keyboard.press("ArrowDown");
  const phrase = await page.$eval("#phrase", (each) => each.textContent);
  await page.keyboard.press("Enter");
  const folded = await page.$$eval("[aria-expanded=false]", (all) => all.length);
  const version = await browser.version();
  process.stdout.write(JSON.stringify({ version, names: drawn, phrase, folded, problems }));
} finally {
  await browser.close();
}
