// Elements: text goes in as text, never as HTML.

export const $ = (id) => document.getElementById(id);

export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child != null));
}

// Blanks that would not be seen, as signs.
export function visible(text) {
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(/^ | $/g, "·") || "∅";
}

export function fault(one) {
  return el("p", { class: "fault" }, el("code", {}, one.code), ` ${one.message}`, one.place ? ` (${one.place})` : "",
    one.hint ? el("span", {}, ` — ${one.hint}`) : null);
}
