// Answers of the server, as elements.

import { $, el, fault, fill, visible } from "./dom.js";

const ORIGINS = { template: "the template", system: "system", user: "user", assistant: "assistant", tool: "tools" };

export function showPrompt(prompt, problem) {
  if (!prompt) return fill($("prompt"), problem ? fault(problem) : "");
  fill($("legend"), ...Object.entries(ORIGINS).map(([name, title]) => el("li", { class: name }, title)),
    el("li", {}, el("span", { class: "special" }, "special token")));
  const reasoning = { possible: "reasoning is possible", open: "reasoning is open", done: "reasoning is over" }[prompt.reasoning];
  $("prompt-facts").textContent = `${prompt.tokens} tokens, ${reasoning}`;
  const pieces = [];
  let offset = 0;
  for (const [text, origin] of prompt.segments) {
    // Offsets are code points; a string of JavaScript counts UTF-16 units.
    const points = Array.from(text);
    const cuts = new Set([0, points.length]);
    for (const [start, end] of prompt.special) for (const at of [start, end]) if (at > offset && at < offset + points.length) cuts.add(at - offset);
    if (prompt.start > offset && prompt.start < offset + points.length) cuts.add(prompt.start - offset);
    const sorted = [...cuts].sort((a, b) => a - b);
    sorted.slice(0, -1).forEach((from, index) => {
      const at = offset + from;
      const special = prompt.special.some(([start, end]) => start <= at && at < end);
      const names = [origin, special && "special", at === prompt.start && "start"].filter(Boolean).join(" ");
      const title = (special ? "special token of " : "written by ") + ORIGINS[origin] + (at === prompt.start ? "; the assistant's turn begins here" : "");
      pieces.push(el("span", { class: names, title }, points.slice(from, sorted[index + 1]).join("")));
    });
    offset += points.length;
  }
  fill($("prompt"), ...pieces);
}

export function showFormat(format, problem, choose, chosen) {
  $("evidence").hidden = true;
  if (!format) {
    fill($("markers"), problem ? fault(problem) : null);
    fill($("certificate"));
    $("why-panel").hidden = $("defects-panel").hidden = true;
    $("toml").textContent = $("chosen").textContent = "";
    return;
  }
  const facts = Object.entries(format.facts).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value.replaceAll("_", " ")}`);
  $("chosen").textContent = `${format.chosen} — ${facts.join(", ")}`;
  $("toml").textContent = format.toml;
  fill($("certificate"), ...format.certificate.map((line, at) => el("li", { class: at ? "" : format.clean ? "clean" : "unclean" }, at ? line : `certificate: ${line}`)));
  fill($("why"), ...format.why.map((line) => el("li", {}, line)));
  $("why-panel").hidden = !format.why.length;
  fill($("defects"), ...format.defects.map((line) => el("li", {}, line)));
  $("defects-count").textContent = String(format.defects.length);
  $("defects-panel").hidden = !format.defects.length;
  fill($("markers"), ...Object.entries(format.markers).map(([name, text]) => el("button", {
    type: "button", class: "marker", "aria-pressed": String(name === chosen), "data-marker": name, on: { click: () => choose(name) },
  }, el("code", {}, visible(text)), el("span", {}, name.replaceAll("_", " ")))));
  if (chosen && format.markers[chosen]) showEvidence(format, chosen);
}

function marked(text, marker) {
  if (!marker || !text.includes(marker)) return [text];
  return text.split(marker).flatMap((part, at) => (at ? [el("mark", {}, marker), part] : [part]));
}

function showEvidence(format, name) {
  const marker = format.markers[name].trim();
  const proof = format.proof[name] ?? [];
  const shown = proof.slice(0, 3).map((at) => format.evidence[at]);
  $("evidence").hidden = false;
  fill($("evidence"), el("p", {}, shown.length
    ? `“${name.replaceAll("_", " ")}” in renders of the template that differ in one thing; the difference is coloured.`
    : format.evidence.length ? "No pair of renders shows this marker: it is in the prompt, or is whitespace." : "This is a named format, so there are no renders of a template."),
  ...shown.flatMap((pair) => [
    el("h3", {}, `${pair.step}: ${pair.question}`),
    el("div", { class: "beside" }, ...[["del", pair.first], ["ins", pair.second]].map(([kind, inside]) => el("pre", { class: "text", tabindex: "0" },
      ...marked(pair.before, marker), el(kind, {}, ...marked(inside, marker)), ...marked(pair.after, marker)))),
  ]));
  for (const box of $("evidence").querySelectorAll("pre")) {
    // What differs is seen at once, with some lines before it.
    box.scrollTop += box.querySelector("ins, del").getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
}

export function showGrammar(grammar, problem) {
  $("rules").textContent = grammar ? `${grammar.trim().split("\n").length} rules` : "";
  $("grammar").textContent = grammar ?? "";
  $("grammar").parentElement.hidden = !grammar;
  $("no-grammar").hidden = Boolean(grammar) || Boolean(problem);
  if (problem) {
    $("grammar").parentElement.hidden = false;
    fill($("grammar"), fault(problem));
  }
}

export function showTokens(seen, selected, choose) {
  const facts = [`${seen.tokens.length} tokens`];
  if (seen.tokens.some((one) => one.state === "out")) facts.push("the grammar does not allow it");
  else if (seen.may_end != null) facts.push(seen.may_end ? "may end here" : "may not end here");
  $("answer-facts").textContent = seen.faults.tokens ? "" : facts.join(", ");
  const words = { held: "allowed", out: "not allowed", behind: "after a token that is not allowed", free: "not constrained" };
  fill($("strip"), seen.faults.tokens ? fault(seen.faults.tokens) : null, ...seen.tokens.map((one, at) => el("div", {
    id: `token-${at}`, role: "option", class: `token ${one.state} ${one.special ? "special" : ""}`, "aria-selected": String(at === selected),
    "aria-label": `${visible(one.text)}, ${words[one.state]}${one.allowed == null ? "" : `, ${one.allowed} tokens were allowed`}`,
    title: `token ${one.id}, ${words[one.state]}${one.allowed == null ? "" : `; ${one.allowed} tokens were allowed`}`, on: { click: () => choose(at) },
  }, visible(one.text), el("span", { class: "small" }, one.allowed == null ? " " : String(one.allowed)))));
}

const percent = (share) => (share >= 0.0995 ? `${Math.round(share * 100)} %` : share >= 0.001 ? `${(share * 100).toFixed(1)} %` : share > 0 ? "< 0.1 %" : "0 %");

function candidate(one, ask) {
  const share = one.probability == null ? "" : percent(one.probability);
  return el("button", {
    type: "button", class: `candidate ${one.allowed ? "" : "no"}`, "data-token": one.id,
    "aria-label": `${visible(one.text)}, ${one.allowed ? "allowed" : "not allowed"}${share && `, ${share}`}`, on: { click: () => ask(one.text) },
  }, el("code", {}, visible(one.text)), share ? el("small", {}, share) : null);
}

export function showStep(step, token, ask, model) {
  const box = $("step");
  box.hidden = false;
  const parts = [el("h3", {}, token ? `Before token ${step.at + 1}: ${visible(token.text)}` : "After the last token")];
  if (step.why) parts.push(el("p", { class: "why" }, `Not allowed: ${step.why}${step.keyword ? ` (JSON Schema: ${step.keyword})` : ""}.`));
  if (step.place) parts.push(el("p", { class: "place" }, `${step.place[0].toUpperCase()}${step.place.slice(1)}.`));
  if (step.expected.length) parts.push(el("p", {}, "Allowed next:"), el("ul", {}, ...step.expected.map((one) => el("li", {}, el("code", {}, one)))));
  if (step.allowed != null) parts.push(el("p", {}, `${step.allowed} tokens are allowed${step.may_end ? ", and the answer may end here" : ""}.`));
  if (step.masked != null) {
    const filled = el("i");
    filled.style.width = `${step.masked * 100}%`;
    parts.push(el("p", {}, `The grammar masks ${percent(step.masked)} of the probability (${model}).`), el("div", { class: "bar", "aria-hidden": "true" }, filled));
  }
  for (const [title, fits] of [["Likeliest allowed tokens:", true], ["Likeliest tokens that are not allowed; choose one to see why:", false]]) {
    const these = step.candidates.filter((one) => one.allowed === fits);
    if (these.length) parts.push(el("p", {}, title), el("div", { class: "candidates" }, ...these.map((one) => candidate(one, ask))));
  }
  fill(box, ...parts);
}

// A button for a span of the answer: `choose` gets the span and the button.
function spanButton(span, what, choose) {
  const button = el("button", {
    type: "button", class: "span", "aria-pressed": "false", "data-span": span.join("-"),
    "aria-label": `Characters ${span[0]} to ${span[1]}, ${what}: mark their tokens`, on: { click: () => choose(span, button) },
  }, `${span[0]}–${span[1]}`);
  return button;
}

export function showEvents(seen, choose) {
  const rows = seen.events.map(({ token, event }) => {
    const text = event.text ?? event.arguments ?? event.message ?? event.name ?? event.finish_reason ?? "";
    const kind = event.type.replaceAll("_", " ");
    return el("tr", { "data-kind": event.type }, el("td", { class: "number" }, String(token)), el("td", {}, kind), el("td", {}, el("code", {}, String(text))),
      el("td", {}, spanButton(event.span, kind, choose)));
  });
  fill(document.querySelector("#events tbody"), ...rows);
  const diagnostics = seen.message?.diagnostics ?? [];
  fill($("diagnostics"), seen.faults.events ? el("li", {}, fault(seen.faults.events)) : null,
    ...diagnostics.map((one) => el("li", { class: "unclean" }, `${one.code}: ${one.message} `, one.span ? spanButton(one.span, one.code, choose) : null)));
  $("message").textContent = seen.message ? JSON.stringify(seen.message, null, 2) : "";
}

// A choice for each switch; `set` gets its name and value, undefined where the template decides.
export function showSwitches(switches, variables, set) {
  const box = $("switches");
  const names = Object.keys(switches);
  const known = JSON.stringify(switches);
  box.hidden = !names.length;
  // They stay as they are while somebody uses them: a new element would lose the focus.
  if (box.dataset.known !== known) {
    box.dataset.known = known;
    fill(box, box.querySelector("legend"), ...names.map((name) => {
      const select = el("select", { id: `switch-${name}`, "data-switch": name }, el("option", { value: "" }, "default of the template"),
        ...switches[name].map((value) => el("option", { value: JSON.stringify(value) }, JSON.stringify(value))));
      select.addEventListener("change", () => set(name, select.value ? JSON.parse(select.value) : undefined));
      return el("div", { class: "field" }, el("label", { for: select.id }, name), select);
    }));
  }
  for (const select of box.querySelectorAll("select")) {
    const value = variables[select.dataset.switch];
    select.value = value === undefined ? "" : JSON.stringify(value);
  }
}
