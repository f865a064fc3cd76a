// The fields of the page, to and from a request and a link.

import { $ } from "./dom.js";

const JSON_FIELDS = ["messages", "tools", "response_format", "variables"];
const TEXT_FIELDS = ["template", "format", "format_file", "reasoning", "tool_choice", "answer", "content_grammar", ...JSON_FIELDS];

// The fields as they are typed in.
export function typed() {
  const state = Object.fromEntries(TEXT_FIELDS.map((name) => [name, $(name).value]));
  return { ...state, finished: $("finished").checked };
}

export function show(state) {
  for (const name of TEXT_FIELDS) $(name).value = state[name] ?? (name === "tool_choice" || name === "reasoning" ? "auto" : "");
  $("finished").checked = Boolean(state.finished);
}

// The request that the fields ask for; throws an Error whose `field` names the one that is no JSON.
export function asked() {
  const state = typed();
  const read = {};
  for (const name of JSON_FIELDS) {
    if (!state[name].trim()) continue;
    try {
      read[name] = JSON.parse(state[name]);
    } catch (error) {
      throw Object.assign(new Error(`${name.replace("_", " ")}: ${error.message}`), { field: name });
    }
  }
  let choice = state.tool_choice.trim() || "auto";
  if (choice.startsWith("{")) {
    try {
      choice = JSON.parse(choice);
    } catch (error) {
      throw Object.assign(new Error(`tool choice: ${error.message}`), { field: "tool_choice" });
    }
  }
  return {
    template: state.template,
    format: state.format,
    format_file: state.format_file,
    messages: read.messages ?? [],
    tools: read.tools ?? null,
    tool_choice: choice,
    response_format: read.response_format ?? null,
    grammar: state.content_grammar,
    variables: read.variables ?? {},
    reasoning: state.reasoning,
    answer: state.answer,
    finished: state.finished,
  };
}

// Sets a template variable; undefined takes it away. Variables that are no JSON are left as they are typed.
export function setVariable(name, value) {
  let variables;
  try {
    variables = JSON.parse($("variables").value.trim() || "{}");
  } catch {
    return;
  }
  const { [name]: _, ...others } = variables;
  const now = value === undefined ? others : { ...others, [name]: value };
  $("variables").value = Object.keys(now).length ? JSON.stringify(now) : "";
}

// A fragment that holds the state, and the token that is looked at.
export function toLink(state, token) {
  const kept = Object.fromEntries(Object.entries({ ...state, token }).filter(([, value]) => value !== "" && value !== false && value != null));
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return "#" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function fromLink(fragment) {
  if (fragment.length < 2) return null;
  try {
    const text = atob(fragment.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const state = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
    return state && typeof state === "object" ? state : null;
  } catch {
    return null;
  }
}
