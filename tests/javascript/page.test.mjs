// The page about the package: its example prints what the page says, and its table has what the types have.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

import * as syntagma from "../../js/src/index.js";
import { ROOT, read } from "./support.mjs";

const PAGE = read("docs/javascript.md");
const TYPES = read("js/index.d.ts");

test("the examples print what the page says", async () => {
  const package_ = new URL("js/src/index.js", ROOT).href;
  const examples = [...PAGE.matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)];
  assert.equal(examples.length, PAGE.match(/^```js$/gm).length);
  const log = console.log;
  for (const [, code, output] of examples) {
    assert.ok(code.split("\n").length <= 21);
    const printed = [];
    console.log = (...words) => printed.push(words.join(" "));
    try {
      await import(`data:text/javascript,${encodeURIComponent(code.replace("@syntagma/grammar", package_))}`);
    } finally {
      console.log = log;
    }
    assert.equal(`${printed.join("\n")}\n`, output);
  }
});

/** The classes of the types, each with its public methods. */
function declared() {
  const classes = new Map();
  for (const [, name, body] of TYPES.matchAll(/export declare class (\w+)[^{]*\{\n(.*?)\n\}/gs)) {
    const methods = [...body.matchAll(/^ {2}(?:static )?(\w+)\(/gm)].map(([, method]) => method);
    classes.set(name, new Set(methods.filter((method) => method !== "constructor")));
  }
  return classes;
}

test("types, classes and the table of the page have the same methods", () => {
  const classes = declared();
  assert.ok(classes.size >= 8);
  const rows = [...PAGE.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].filter(([, name]) => classes.has(name));
  assert.deepEqual(rows.map(([, name]) => name).sort(), [...classes.keys()].sort());
  for (const [, name, row] of rows) {
    const own = syntagma[name];
    const ours = [own, own.prototype].flatMap((owner) =>
      Object.getOwnPropertyNames(owner).filter(
        (key) => typeof owner[key] === "function" && key !== "constructor" && key !== "prototype",
      ),
    );
    const inner = { TokenizerInfo: ["withStops"], SyntagmaError: ["toString"] }[name] ?? [];
    const listed = [...row.matchAll(/`(\w+)`/g)].map(([, method]) => method);
    assert.deepEqual(listed.toSorted(), [...classes.get(name)].toSorted(), name);
    assert.deepEqual(ours.filter((method) => !inner.includes(method)).toSorted(), listed.toSorted(), name);
  }
  const values = [...TYPES.matchAll(/export declare (?:class|function) (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(
    Object.keys(syntagma)
      .filter((name) => name !== "default")
      .sort(),
    values.sort(),
  );
});

test("the package imports nothing but itself, so every bundler takes it", () => {
  for (const name of readdirSync(new URL("js/src/", ROOT))) {
    const source = read(`js/src/${name}`);
    const imported = [...source.matchAll(/^(?:import|export)[^;]*?from "([^"]+)"|import\(([^)]*)\)/gms)];
    assert.ok(
      imported.every(([, from]) => from?.startsWith("./")),
      name,
    );
  }
  assert.equal(JSON.parse(read("js/package.json")).sideEffects, false);
});

test("what the page says of notations and formats is what is read", async () => {
  const spans = new Set([...PAGE.matchAll(/`([\w.]+)`/g)].map(([, span]) => span));
  const notations = (await syntagma.Grammar.read("", "").catch((error) => error.hint)).replace(/.*one of /, "");
  const formats = (await syntagma.Grammar.fromStructuralTag({ type: "?" }).catch((error) => error.hint)).replace(
    /known are: |;.*/g,
    "",
  );
  for (const name of [...notations.split(", "), ...formats.split(", ")]) {
    assert.ok(spans.has(name), name);
  }
  const { default: all, ...named } = syntagma;
  assert.ok(Object.keys(all).every((name) => named[name] === all[name]));
});
