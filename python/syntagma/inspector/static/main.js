// The page: it sends a request when something was typed, and shows the answer.

import { $, el, fill } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { asked, fromLink, setVariable, show, toLink, typed } from "./state.js";
import { showEvents, showFormat, showGrammar, showPrompt, showStep, showSwitches, showTokens } from "./views.js";

const WAIT_MS = 250;
let model = "";
let seen = null;
let selected = null;
let marker = null;
let writing = false;
let latest = 0;
let waiting = null;
// For a server that asks for one. It stays in this page: a link or a store would reveal it.
let key = "";

const base = new URL("api/", document.baseURI);

async function ask(path, body) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const reply = await fetch(new URL(path, base), body === undefined ? { headers } : {
    method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body),
  });
  const told = await reply.json();
  if (reply.ok) return told;
  // What a server refuses before the page's own addresses has the form of its API.
  const error = told.error ?? told;
  throw Object.assign(new Error(error.message), error, { status: reply.status });
}

function status(text) {
  $("status").textContent = text;
}

function problem(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? `${error.code ? `${error.code}: ` : ""}${error.message}` : "";
  for (const name of ["messages", "tools", "response_format", "variables", "tool_choice"]) {
    $(name).toggleAttribute("aria-invalid", Boolean(error && error.field === name));
  }
}

async function look() {
  const number = ++latest;
  let request;
  try {
    request = asked();
    problem(null);
  } catch (error) {
    return problem(error);
  }
  status("looking …");
  try {
    const told = await ask("look", request);
    // Something was typed meanwhile: this answer is out of date.
    if (number !== latest) return;
    seen = told;
  } catch (error) {
    if (number === latest) {
      problem(error);
      status("");
    }
    return;
  }
  status("");
  if (selected != null && selected > seen.tokens.length) selected = null;
  showPrompt(seen.prompt, seen.faults.prompt ?? seen.faults.format);
  showFormat(seen.format, seen.faults.format, chooseMarker, marker);
  showGrammar(seen.grammar, seen.faults.grammar);
  showTokens(seen, selected, chooseToken);
  showEvents(seen, chooseSpan);
  showSwitches(seen.format?.switches ?? {}, request.variables, (name, value) => {
    setVariable(name, value);
    look();
  });
  history.replaceState(null, "", toLink(typed(), selected));
  if (selected != null) await chooseToken(selected);
  else $("step").hidden = true;
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(look, WAIT_MS);
}

function chooseMarker(name) {
  marker = marker === name ? null : name;
  showFormat(seen.format, null, chooseMarker, marker);
  document.querySelector(`[data-marker="${name}"]`)?.focus();
}

// Marks the tokens that a span of the answer was read from; the same button takes the marks away.
function chooseSpan([start, end], button) {
  const pressed = button.getAttribute("aria-pressed") !== "true";
  for (const one of document.querySelectorAll("[data-span]")) one.setAttribute("aria-pressed", String(one === button && pressed));
  // A place between two characters is shown by the token after it.
  const stop = Math.max(end, start + 1);
  let from = 0;
  const marked = [];
  seen.tokens.forEach((token, at) => {
    // A token that only begins a character ends where it starts.
    const holds = pressed && from < stop && Math.max(token.end, from + 1) > start;
    document.getElementById(`token-${at}`).classList.toggle("marked", holds);
    if (holds) marked.push(at + 1);
    from = token.end;
  });
  document.getElementById(`token-${marked[0] - 1}`)?.scrollIntoView({ block: "nearest" });
  status(!pressed ? "" : marked.length ? `tokens ${marked[0]} to ${marked.at(-1)} are marked` : "this is the end of the answer");
}

async function chooseToken(at, token = "") {
  selected = at;
  document.querySelectorAll(".token").forEach((one, index) => one.setAttribute("aria-selected", String(index === at)));
  $("strip").setAttribute("aria-activedescendant", at < seen.tokens.length ? `token-${at}` : "");
  document.getElementById(`token-${at}`)?.scrollIntoView({ block: "nearest" });
  history.replaceState(null, "", toLink(typed(), at));
  try {
    const step = await ask("step", { asked: asked(), at, token });
    if (selected !== at) return;
    showStep(step, seen.tokens[at], (text) => chooseToken(at, text), model);
  } catch (error) {
    problem(error);
  }
}

function move(event) {
  const last = seen ? seen.tokens.length : 0;
  const to = { ArrowRight: (selected ?? -1) + 1, ArrowLeft: (selected ?? last + 1) - 1, Home: 0, End: last }[event.key];
  if (to === undefined || !seen) return;
  event.preventDefault();
  chooseToken(Math.max(0, Math.min(last, to)));
}

async function write() {
  if (writing) {
    writing = false;
    return;
  }
  writing = true;
  $("write").textContent = "Stop";
  $("finished").checked = false;
  selected = null;
  const seed = Math.floor(Math.random() * 1e6);
  try {
    while (writing) {
      const more = await ask("continue", { asked: asked(), seed });
      if (!writing) break;
      $("answer").value += more.text;
      $("finished").checked = more.finished;
      await look();
      if (more.finished || !more.text) break;
    }
    problem(null);
  } catch (error) {
    problem(error);
  }
  writing = false;
  $("write").textContent = "Let the model write";
}

async function share() {
  const link = new URL(toLink(typed(), selected), location.href);
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link.href);
    status("the link is copied");
  } catch {
    status("the link is in the address bar");
  }
}

// The first request; if the server needs a key, the page asks for one until it is accepted.
async function begin() {
  for (;;) {
    try {
      const told = await ask("begin");
      $("key-form").hidden = true;
      problem(null);
      return told;
    } catch (error) {
      if (error.status !== 401) throw error;
      $("key-form").hidden = false;
      if (key) problem(error);
      $("key").focus();
      key = await new Promise((done) => $("key-form").addEventListener("submit", (event) => {
        event.preventDefault();
        done($("key").value.trim());
      }, { once: true }));
    }
  }
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
}

async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  fill($("example"), el("option", { value: "" }, "choose one"), ...EXAMPLES.map((one, at) => el("option", { value: String(at) }, one.name)));
  $("example").addEventListener("change", (event) => {
    const example = EXAMPLES[event.target.value];
    if (!example) return;
    selected = marker = null;
    show(example.state);
    look();
  });
  const told = await begin();
  model = told.model;
  $("model").textContent = `model: ${model}`;
  $("format").append(...told.formats.map((name) => el("option", { value: name }, name)));
  const linked = fromLink(location.hash);
  selected = Number.isInteger(linked?.token) ? linked.token : null;
  show(linked ?? EXAMPLES[0].state);
  for (const one of document.querySelectorAll(".asks input:not([type=file]), .asks textarea, .asks select:not(#example), #answer")) one.addEventListener("input", soon);
  $("finished").addEventListener("change", look);
  for (const [name, field] of [["template-file", "template"], ["format-file", "format_file"], ["grammar-file", "content_grammar"]]) {
    $(name).addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (!file) return;
      $(field).value = await file.text();
      look();
    });
  }
  $("clear").addEventListener("click", () => {
    $("answer").value = "";
    $("finished").checked = false;
    selected = null;
    look();
  });
  $("write").addEventListener("click", write);
  $("share").addEventListener("click", share);
  $("strip").addEventListener("keydown", move);
  window.addEventListener("hashchange", () => {
    const state = fromLink(location.hash);
    if (!state) return;
    selected = Number.isInteger(state.token) ? state.token : null;
    show(state);
    look();
  });
  await look();
}

start().catch((error) => problem(error));
