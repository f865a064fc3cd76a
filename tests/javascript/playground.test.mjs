// The playground in Chromium, from a server of the repository's files.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { ROOT } from "./support.mjs";

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
const skip = CHROMIUM === undefined && "there is no Chromium";
const TYPES = { html: "text/html", js: "text/javascript", json: "application/json", wasm: "application/wasm" };

let server;
let browser;
let withEngine = true;

/** Chromium, asked through a pipe by the DevTools protocol. */
function started() {
  const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"];
  const running = spawn(CHROMIUM, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const [, , , to, from] = running.stdio;
  const waiting = new Map();
  let rest = "";
  from.on("data", (data) => {
    const messages = (rest + data).split("\0");
    rest = messages.pop();
    for (const { id, result } of messages.map((one) => JSON.parse(one))) {
      waiting.get(id)?.(result);
    }
  });
  const ask = (method, params, sessionId) =>
    new Promise((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  return { ask, stop: () => running.kill() };
}

before(async () => {
  server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://host").pathname;
    const missing = path.endsWith(".wasm") && !withEngine;
    const file = missing ? undefined : await readFile(new URL(`.${path}`, ROOT)).catch(() => undefined);
    response.writeHead(file ? 200 : 404, { "content-type": TYPES[path.split(".").at(-1)] ?? "text/plain" });
    response.end(file);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = skip ? undefined : started();
});
after(() => {
  browser?.stop();
  server.close();
});

/** What each part of the page says once it has run. */
async function opened(state) {
  const hash = state ? `#${encodeURIComponent(JSON.stringify(state))}` : "";
  const url = `http://127.0.0.1:${server.address().port}/docs/playground/index.html${hash}`;
  const { targetId } = await browser.ask("Target.createTarget", { url });
  const { sessionId } = await browser.ask("Target.attachToTarget", { targetId, flatten: true });
  const expression = `document.body?.dataset.state === "done" && JSON.stringify({
    ...Object.fromEntries(["cost", "verdict", "place", "count"].map((id) => [id, document.getElementById(id).textContent])),
    tokens: Array.from(document.querySelectorAll("#tokens button"), (button) => button.textContent),
  })`;
  let told;
  // Until the page is there, what is evaluated elsewhere fails.
  while (!told) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const answer = await browser.ask("Runtime.evaluate", { expression }, sessionId);
    told = answer?.result.value;
  }
  await browser.ask("Target.closeTarget", { targetId });
  return JSON.parse(told);
}

test("a text that breaks: the place, the reason, the tokens, and what the grammar costs", { skip }, async () => {
  const told = await opened();
  assert.match(told.cost, /^read in [\d.]+ ms, compiled in [\d.]+ ms, first mask in [\d.]+ ms\nall of it is enforced/);
  assert.match(told.verdict, /^breaks in line 1, column 27; may come instead:\n/);
  assert.equal(told.place, '{"city": "Oslo", "days": 15}');
  assert.ok(told.tokens.includes("4") && !told.tokens.includes("5"), told.tokens.join());
  assert.match(told.count, /^\(\d+ of \d+\)$/);
});

test("a text that may end, a grammar with a mistake, and a site without the engine", { skip }, async () => {
  const whole = await opened({ notation: "regex", grammar: "[a-c]+", text: "abc" });
  assert.match(whole.verdict, /may end here/);
  assert.ok(whole.tokens.includes("the end"));
  const wrong = await opened({ notation: "gbnf", grammar: 'root ::= "a', text: "a" });
  assert.match(wrong.cost, /^E-GRAMMAR-SYNTAX in line 1, column \d+/);
  withEngine = false;
  const without = await opened();
  withEngine = true;
  assert.match(without.cost, /The engine is not part of this site/);
});
