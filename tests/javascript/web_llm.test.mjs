// What WebLLM's decode loop does with web-xgrammar, as a document prints it, done with this package instead.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import * as syntagma from "../../js/src/index.js";
import { ROOT } from "./support.mjs";

const SEEDS = new URL("../shared/seeds/", ROOT);
const found = existsSync(SEEDS) ? readdirSync(SEEDS).filter((name) => name.startsWith("004_")) : [];
const skip = found.length === 0 && "the document is not here";

/** What stands between two texts of the document, without its types. */
function place(document, first, end) {
  const from = document.indexOf(first);
  const code = document.slice(from, document.indexOf(end, from));
  assert.ok(from >= 0 && code.length > 100, first);
  const types = /: (Promise<void> \| undefined|xgr\.CompiledGrammar|Int32Array)(?= =)/g;
  return code.replaceAll(types, "").replaceAll(/!(?=[.,;)])/g, "");
}

const AsyncFunction = (async () => {}).constructor;

/** A pipeline with the document's three places, and all around them made up. */
class Pipeline {
  tvm = {
    beginScope() {},
    endScope() {},
    empty: (shape, type) => ({ copyFrom: (values) => ({ shape, type, values: Array.from(values) }) }),
  };
  curRoundGrammarInitTotalTime = 0;
  curRoundGrammarPerTokenTotalTime = 0;
  token_postproc_method = "byte_level";
  prepend_space_in_encode = false;
  made = 0;

  constructor(document, table, random) {
    this.tokenizer = table;
    this.fullVocabSize = table.length + 29;
    this.bitmaskSize = Math.ceil(this.fullVocabSize / 32);
    this.stopTokens = [table.indexOf("<|end|>")];
    const scope = ["xgr", "log", "getTokenTableFromTokenizer"];
    const given = [syntagma, { info: () => {} }, (tokenizer) => ((this.made += 1), tokenizer)];
    const first = place(document, "// -1. Instantiate", "\nBitmask Application");
    const second = place(document, "const grammarConstrained =", "\nToken Acceptance");
    const third = place(document, "// 6. Update", "\nI/O Contract");
    this.prefill = new AsyncFunction(...scope, "genConfig", `${first}; await grammarMatcherInitPromise;`).bind(
      this,
      ...given,
    );
    this.step = new AsyncFunction(
      "response_format",
      "logitsOnGPU",
      `${second}; const sampledToken = this.sample(logitsOnGPU.values); ${third}; return sampledToken;`,
    ).bind(this);
    this.random = random;
  }

  getResponseFormatKey(format) {
    return JSON.stringify(format);
  }

  fapplyBitmask({ values, width }, { values: [row] }, { shape, values: words }) {
    assert.deepEqual([shape, width, row], [[1, this.bitmaskSize], this.fullVocabSize, 0]);
    values.forEach((_, id) => {
      if (((words[id >> 5] >>> (id & 31)) & 1) === 0) {
        values[id] = -Infinity;
      }
    });
  }

  sample(logits) {
    return logits.indexOf(Math.max(...logits));
  }

  async answer(responseFormat, prefer) {
    await this.prefill({ response_format: responseFormat });
    let text = "";
    for (let steps = 0; steps < 400; steps += 1) {
      const values = Array.from(
        { length: this.fullVocabSize },
        (_, id) => this.random() + prefer(this.tokenizer[id], text),
      );
      const logits = { values, view: ([rows, width]) => ({ values, width, rows }) };
      const token = await this.step(responseFormat, logits);
      if (this.stopTokens.includes(token)) {
        return text;
      }
      text += this.tokenizer[token].replaceAll("Ġ", " ").replaceAll("Ċ", "\n");
    }
    return assert.fail(`it does not end: ${text}`);
  }
}

test("the document's three places run as they are printed", { skip }, async () => {
  const document = readFileSync(new URL(found[0], SEEDS), "utf8");
  const characters = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at));
  const words = ["Ġ", "Ċ", "true", '{"', '":', "Ġ{", "name", "Gry", "ff", "indor", "<f>", "</f>", "<|end|>"];
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 0x7fffffff) / 0x7fffffff;
  const pipeline = new Pipeline(document, [...characters, ...words], random);
  const schema = JSON.stringify({
    type: "object",
    properties: {
      name: { type: "string", maxLength: 9 },
      house: { enum: ["Gryffindor", "Slytherin"] },
      alive: { type: "boolean" },
    },
    required: ["name", "house", "alive"],
  });
  const noBlanks = (token) => (token === "Ġ" || token === "Ċ" ? -1 : 0);
  const json = { type: "json_object", schema };
  for (const again of [false, true]) {
    const before = pipeline.grammarMatcher;
    const value = JSON.parse(await pipeline.answer(json, noBlanks));
    assert.deepEqual(Object.keys(value), ["name", "house", "alive"]);
    // The same format again resets the matcher that there is.
    assert.equal(pipeline.grammarMatcher === before, again);
  }
  const grammar = { type: "grammar", grammar: 'root ::= ("ab" | "cd"){2,4}' };
  assert.match(await pipeline.answer(grammar, () => 0), /^((ab|cd){2,4})$/);
  const tag = {
    type: "structural_tag",
    structural_tag: {
      type: "structural_tag",
      format: {
        type: "triggered_tags",
        triggers: ["<f>"],
        tags: [{ begin: "<f>", content: { type: "regex", pattern: "[0-9]{3}" }, end: "</f>" }],
        at_least_one: true,
      },
    },
  };
  assert.match(await pipeline.answer(tag, (token) => (token === "<|end|>" ? 2 : 0)), /^<f>[0-9]{3}<\/f>/);
  assert.equal(pipeline.made, 1);
});
