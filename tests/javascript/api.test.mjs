// What the package promises beside the masks: lifetimes, errors, vocabularies, what web-xgrammar's methods do.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import {
  Grammar,
  GrammarCompiler,
  GrammarMatcher,
  StructuralTagItem,
  SyntagmaError,
  Testings,
  TokenizerInfo,
  useWasm,
} from "../../js/src/index.js";
import { instance } from "../../js/src/instance.js";
import { ROOT, bytesAndWords, matcherOf } from "./support.mjs";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { name: { type: "string", maxLength: 3 }, ok: { type: "boolean" } },
  required: ["name", "ok"],
});
const text = (bytes) => new TextDecoder().decode(bytes);
const allows = async (matcher, tail) => {
  const fork = matcher.fork();
  const taken = fork.acceptText(tail);
  fork.dispose();
  return taken;
};

/** The error that a promise or a function gives. */
async function errorOf(work) {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => assert.fail("no error"),
      (given) => given,
    );
  assert.ok(error instanceof SyntagmaError, String(error?.stack));
  return error;
}

test("a decode loop writes what the schema allows, and the bits of a mask are the tokens that are taken", async () => {
  const info = await bytesAndWords();
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const compiled = await compiler.compileJSONSchema(SCHEMA);
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
  compiled.dispose();
  const written = [];
  while (!matcher.isTerminated()) {
    const row = await matcher.getNextTokenBitmask();
    assert.equal(row.length, Math.ceil(info.getVocabSize() / 32));
    const allowed = new Set(matcher.allowedTokens());
    const denied = await Testings.debugGetMaskedTokensFromBitmask(row, info.getVocabSize());
    assert.equal(allowed.size + denied.length, info.getVocabSize());
    for (let token = 0; token < info.getVocabSize(); token++) {
      assert.equal(matcher.acceptToken(token), allowed.has(token), `token ${token}`);
      if (allowed.has(token)) {
        matcher.rollBack(1);
      }
    }
    const [next] = matcher.shortestClose();
    const token = next ?? info.stopTokenIds[0];
    assert.ok(allowed.has(token));
    assert.ok(matcher.acceptToken(token));
    written.push(...info.tokenBytes(token));
  }
  const value = JSON.parse(text(Uint8Array.from(written.slice(0, -"</s>".length))));
  assert.deepEqual(Object.keys(value), ["name", "ok"]);
  const ended = await errorOf(() => matcher.getNextTokenBitmask());
  assert.equal(ended.code, "E-ARGUMENT-FINISHED");
  assert.equal(matcher.acceptToken(0), false);
  matcher.reset();
  assert.ok(!matcher.isTerminated());
});

test("vocabularies are spelled as web-xgrammar has it", async () => {
  const expected = [" a", "\n", "é", "</s>"];
  const spelled = {
    raw: expected,
    byte_fallback: ["▁a", "<0x0A>", "é", "</s>"],
    byte_level: ["Ġa", "Ċ", "Ã©", "</s>"],
  };
  for (const [type, tokens] of Object.entries(spelled)) {
    const info = await TokenizerInfo.createTokenizerInfo(tokens, type, false, 40);
    assert.deepEqual(
      expected.map((_, id) => text(info.tokenBytes(id))),
      expected,
      type,
    );
    assert.equal(info.getVocabSize(), 40);
    assert.deepEqual(info.stopTokenIds, [3]);
    info.dispose();
  }
  const error = await errorOf(() => TokenizerInfo.createTokenizerInfo(["a"], "bytes"));
  assert.equal(error.pointer, "/vocabType");
  assert.equal((await errorOf(() => TokenizerInfo.createTokenizerInfo(["a", 1]))).pointer, "/encodedVocab/1");
  assert.equal((await errorOf(() => TokenizerInfo.createTokenizerInfo(["a"], "raw", false, 1, 7))).code, "E-VOCAB-ID");
});

test("a tokenizer.json is read as Python reads it", async () => {
  const added = [{ id: 2, content: "</s>", special: true }];
  const file = { model: { type: "BPE", vocab: { Ġa: 0, Ċ: 1 } }, decoder: { type: "ByteLevel" }, added_tokens: added };
  const info = await TokenizerInfo.fromTokenizerJson(JSON.stringify(file), { vocabSize: 8 });
  assert.deepEqual(
    [0, 1, 2].map((id) => text(info.tokenBytes(id))),
    [" a", "\n", "</s>"],
  );
  assert.deepEqual([info.getVocabSize(), info.stopTokenIds], [8, [2]]);
  const unread = [
    ["{", "E-VOCAB-FILE"],
    ["{}", "E-VOCAB-EOS"],
    [JSON.stringify({ added_tokens: added }), "E-VOCAB-MODEL"],
  ];
  for (const [json, code] of unread) {
    assert.equal((await errorOf(() => TokenizerInfo.fromTokenizerJson(json))).code, code);
  }
});

test("stop tokens may be others, or none", async () => {
  const info = await TokenizerInfo.createTokenizerInfo(["a", "b", "</s>", "<end>"]);
  const make = (compiler) => compiler.compileGrammar('root ::= "a" "b"?');
  const other = await matcherOf(make, info, [3]);
  assert.ok(other.acceptToken(0));
  assert.deepEqual([...other.allowedTokens()], [1, 3]);
  assert.ok(other.acceptToken(3) && other.isTerminated());
  const without = await matcherOf(make, info, undefined, true);
  assert.ok(!without.isTerminated() && without.acceptToken(0) && without.isTerminated());
  assert.ok(!without.acceptToken(2));
});

test("rollback, fork, saved places and jumps", async () => {
  const make = (compiler) => compiler.compileGrammar('root ::= "hello " ("world" | "wörld") "!"');
  const info = await bytesAndWords();
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const compiled = await make(compiler);
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
  assert.equal(matcher.findJumpForwardString(), "hello w");
  assert.ok(matcher.acceptText("hello w"));
  const fork = matcher.fork();
  assert.ok(fork._acceptString("ö") && fork.findJumpForwardString() === "rld!");
  assert.ok(matcher.acceptText("orld!") && matcher.isCompleted());
  const saved = await GrammarMatcher.fromBytes(compiled, matcher.toBytes());
  assert.deepEqual(saved.allowedTokens(), matcher.allowedTokens());
  matcher.rollBack(1);
  assert.ok(!matcher.isCompleted());
  const ids = (word) => [...new TextEncoder().encode(word)];
  assert.deepEqual(
    [ids("orld!x"), ids("x"), []].map((one) => matcher.validateTokens(one)),
    [5, 0, 0],
  );
  assert.equal((await errorOf(() => matcher.rollBack(9))).code, "E-MATCHER-ROLLBACK");
  assert.equal(matcher.getMaxRollbackTokens(), -1);
});

test("errors have a code, a place and a hint", async () => {
  const syntax = await errorOf(() => Grammar.fromEBNF('root ::= (\n"a" ]'));
  assert.deepEqual([syntax.name, syntax.code, syntax.line], ["GrammarError", "E-GRAMMAR-SYNTAX", 2]);
  assert.match(syntax.excerpt, /\^/);
  assert.match(String(syntax), /E-GRAMMAR-SYNTAX at line 2/);
  const schema = await errorOf(() => Grammar.fromJSONSchema('{"properties": {"a": {"type": "strng"}}}'));
  assert.ok(Object.keys(schema.pointers ?? { [schema.pointer]: "" })[0].startsWith("/properties/a"), String(schema));
  const limit = await errorOf(() => Grammar.read("regex", "a{9}", { limits: { regex_bytes: 2 } }));
  assert.deepEqual([limit.name, limit.limit, limit.allowed], ["LimitError", "regex_bytes", 2]);
  assert.equal((await errorOf(() => Grammar.fromJSONSchema({}))).code, "E-ARGUMENT-TYPE");
  assert.equal((await errorOf(() => Grammar.read("bnf", ""))).code, "E-GRAMMAR-DIALECT");
  assert.equal((await errorOf(() => new Grammar("no handle"))).code, "E-ARGUMENT-TYPE");
  const surrogates = [() => Grammar.fromRegex("\ud800"), () => TokenizerInfo.createTokenizerInfo(["a", "\udfff"])];
  for (const half of surrogates) {
    assert.equal((await errorOf(half)).code, "E-ARGUMENT-TEXT");
  }
});

test("every notation, and what is not enforced is reported", async () => {
  const made = [
    await Grammar.fromRegex("[a-z]{2}"),
    await Grammar.fromLark("start: /[a-z]{2}/"),
    await Grammar.fromGBNF("root ::= [a-z] [a-z]"),
    await Grammar.fromEBNF("top ::= [a-z] [a-z]", "top"),
    await Grammar.read("ebnf", 'start ::= @word(#"[a-z]{2}");'),
  ];
  const compiler = await GrammarCompiler.createGrammarCompiler(await bytesAndWords());
  for (const grammar of [...made, await Grammar.fromBytes(made[0].toBytes())]) {
    const matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
    assert.ok(matcher.acceptText("xy") && matcher.isCompleted() && !matcher.acceptText("z"), String(grammar));
    assert.deepEqual(matcher.captures(), String(grammar).includes("@word") ? { word: [[0, 2]] } : {});
    assert.equal(grammar.report().status, "exact");
  }
  const wide = await Grammar.read("json_schema", '{"not": {"pattern": "(?=a)b|c(?!d)"}}', {
    allow_widened: true,
  }).catch(() => null);
  assert.ok(wide === null || wide.report().status);
  const explained = (await matcherOf((one) => one.compileGrammar("root ::= [0-9]+"))).explain(0x61);
  assert.deepEqual([explained.token, explained.dies_at, explained.accepting], ["dies", 0, false]);
});

test("whitespace and strict mode of schemas", async () => {
  const schema = '{"properties": {"a": {"type": "integer"}}, "required": ["a"]}';
  const takes = async (value, ...options) => {
    const matcher = await matcherOf((compiler) => compiler.compileJSONSchema(schema, ...options));
    return matcher.acceptText(value) && matcher.isCompleted();
  };
  assert.ok(await takes('{ "a"  : 1 }'));
  assert.ok(!(await takes('{"a": 1, "b": 2}')));
  assert.ok(await takes('{"a": 1, "b": 2}', true, 2, undefined, false));
  assert.ok(await takes('{\n  "a": 1\n}', false));
  assert.ok(await takes('{"a": 1}', false, -1));
  assert.ok(await takes('{"a":1}', false, -1, [",", ":"]));
  assert.ok(!(await takes('{"a": 1}', false, -1, [",", ":"])));
  assert.ok(!(await takes('{   "a": 1}', true, 2, undefined, true, 2)));
  assert.equal((await errorOf(() => takes("", false, 2, [",", ":"]))).pointer, "/separators");
  // Keys that look like numbers stay in the order in which they are written.
  const numbers = '{"properties": {"b": {}, "2": {}, "1": {}}, "required": ["b", "2", "1"]}';
  const matcher = await matcherOf((compiler) => compiler.compileJSONSchema(numbers));
  assert.ok(matcher.acceptText('{"b": 0, "2": 0, "1": 0}'));
});

test("structural tags in all forms", async () => {
  const item = new StructuralTagItem("<f=a>", { properties: { x: { type: "integer" } } }, "</f>");
  assert.deepEqual(item.getSchemaAsJSON(), JSON.parse(item.getSchemaAsString()));
  const tag = {
    type: "structural_tag",
    format: {
      type: "triggered_tags",
      triggers: ["<f="],
      tags: [{ begin: "<f=a>", content: { type: "json_schema", json_schema: item.schema }, end: "</f>" }],
    },
  };
  const forms = [[tag], [tag.format], [JSON.stringify(tag)], [[item], ["<f="]]];
  for (const form of forms) {
    const matcher = await matcherOf((compiler) => compiler.compileStructuralTag(...form));
    assert.ok(await allows(matcher, 'I call <f=a>{"x": 1}</f> and <f=a>{}</f>.'));
    assert.ok(!(await allows(matcher, "I call <f=b>")));
    assert.ok(!(await allows(matcher, '<f=a>{"x": "y"}')));
  }
  const style = await errorOf(() =>
    Grammar.fromStructuralTag({
      type: "sequence",
      elements: [{ type: "json_schema", json_schema: {}, style: "qwen_xml" }],
    }),
  );
  assert.deepEqual([style.code, style.pointer], ["E-GRAMMAR-UNSUPPORTED", "/elements/0/style"]);
  const named = await errorOf(() => Grammar.fromStructuralTag({ type: "qwen_xml_parameter", json_schema: {} }));
  assert.deepEqual([named.code, named.pointer], ["E-GRAMMAR-UNSUPPORTED", "/type"]);
  const inner = await errorOf(() => Grammar.fromStructuralTag({ format: { type: "regex", pattern: "(" } }));
  assert.equal(inner.pointer, "/format/pattern");
});

test("what is disposed is not used any more; disposing twice is nothing", async () => {
  const info = await bytesAndWords();
  const grammar = await Grammar.fromRegex("a");
  for (const thing of [grammar, info]) {
    thing.dispose();
    thing.dispose();
  }
  assert.equal((await errorOf(() => grammar.report())).code, "E-ARGUMENT-FINISHED");
  assert.equal((await errorOf(() => GrammarCompiler.createGrammarCompiler(info))).code, "E-ARGUMENT-FINISHED");
});

test("after a panic, vocabularies, compilers and grammars are made again, and what cannot be says so", async () => {
  const info = await bytesAndWords();
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const grammar = await Grammar.fromRegex("ab");
  const lost = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  const before = await instance();
  const panic = await errorOf(() => before.call("input", 0xffffffff));
  assert.equal(panic.code, "E-ENGINE-PANIC");
  assert.match(panic.message, /a panic: [^]*capacity overflow/);
  assert.equal((await errorOf(() => lost.allowedTokens())).code, "E-ENGINE-PANIC");
  lost.dispose();
  // All who ask at once get the same new instance.
  const [next, again] = await Promise.all([instance(), instance(), compiler.compileGrammar(grammar)]);
  assert.equal(next, again);
  const matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  assert.notEqual(await instance(), before);
  assert.ok(matcher.acceptText("ab") && matcher.isCompleted());
});

test("the module imports nothing, and each instance draws a seed of its own", async () => {
  const bytes = await readFile(new URL("js/dist/syntagma.wasm", ROOT));
  assert.deepEqual(WebAssembly.Module.imports(await WebAssembly.compile(bytes)), []);
  const compiler = await GrammarCompiler.createGrammarCompiler(await bytesAndWords());
  const grammar = await Grammar.fromRegex("a");
  const drawn = [];
  const draw = crypto.getRandomValues;
  crypto.getRandomValues = (numbers) => {
    draw.call(crypto, numbers);
    drawn.push(numbers.join());
    return numbers;
  };
  try {
    for (const source of [bytes, new Uint8Array(bytes).buffer, await WebAssembly.compile(bytes)]) {
      useWasm(source);
      await Grammar.fromRegex("a");
    }
  } finally {
    crypto.getRandomValues = draw;
  }
  assert.equal(new Set(drawn).size, 3);
  useWasm(new URL("js/dist/no-such-file.wasm", ROOT));
  await assert.rejects(Grammar.fromRegex("a"));
  useWasm(new URL("js/dist/syntagma.wasm", ROOT));
  // What was made before goes on in the instance of today.
  const matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  assert.ok(matcher.acceptText("a") && matcher.isCompleted());
});

test("a stack that is too deep ends the instance, not the page", async () => {
  const [info, grammar] = [await bytesAndWords(), await Grammar.fromJSONSchema(SCHEMA)];
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  let ended;
  const deeper = () => {
    try {
      deeper();
    } catch (error) {
      ended ??= error instanceof SyntagmaError ? error : undefined;
    }
    if (ended === undefined) {
      try {
        matcher.reset();
        matcher.acceptText('{"name": "a');
        matcher.allowedTokens();
      } catch (error) {
        ended = error instanceof SyntagmaError ? error : undefined;
      }
    }
  };
  deeper();
  if (ended !== undefined) {
    assert.equal(ended.code, "E-ENGINE-PANIC");
  }
  const again = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  assert.ok(again.acceptText('{"name": "a'));
});

test("the deepest sources that are read fit into the stack of a page", async () => {
  const nested = (begin, inner, end) => (deep) => begin.repeat(deep) + inner + end.repeat(deep);
  const tags = '{"type": "triggered_tags", "triggers": ["<a>"], "tags": [{"begin": "<a>", "end": "</a>", "content": ';
  const sources = [
    ["json_schema", nested('{"items": ', "{}", "}")],
    ["json_schema", nested('{"properties": {"a": ', "{}", "}}")],
    ["json_schema", nested('{"not": ', '{"type": "string"}', "}")],
    ["json_schema", nested('{"anyOf": [{"type": "null"}, ', "{}", "]}")],
    ["gbnf", (deep) => `root ::= ${nested('("b" | ', '"a"', ")*")(deep)}`],
    ["ebnf", (deep) => `start ::= ${nested("~(", '"a"', ")")(deep)};`],
    ["lark", (deep) => `start: ${nested('("b" | ', '"a"', ")*")(deep)}`],
    ["regex", nested("(a|", "b", ")")],
    ["regex", nested("(a|", "b", ")*")],
    ["structural_tag", nested('{"type": "optional", "content": ', '{"type": "any_text"}', "}")],
    ["structural_tag", nested(tags, '{"type": "any_text"}', "}]}")],
  ];
  const compiler = await GrammarCompiler.createGrammarCompiler(await bytesAndWords());
  const first = await instance();
  for (const [notation, source] of sources) {
    const told = [];
    for (const deep of [40, 90, 126, 200, 255, 20_000]) {
      try {
        const options = notation === "json_schema" ? { strict: true } : {};
        const compiled = await compiler.compileGrammar(await Grammar.read(notation, source(deep), options));
        const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
        matcher.acceptText("[".repeat(deep));
        matcher.allowedTokens();
        matcher.shortestClose(60);
        matcher.explain();
        told.push("read");
      } catch (error) {
        told.push(error.code);
      }
    }
    assert.equal(told[0], "read", `${notation}: ${told}`);
    assert.match(told.join(), /^(read,?)*(E-(LIMIT|GRAMMAR)[A-Z-]*,?)+$/, `${notation}: ${told}`);
  }
  assert.equal(await instance(), first);
});
