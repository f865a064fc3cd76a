// The cases that every host runs: conformance/hosts/README.md.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } from "../../js/src/index.js";
import { fnv, lines, read } from "./support.mjs";

const TOKENIZER = "python/syntagma/embedded/data/tokenizer.json";
const cases = lines("conformance/hosts/cases.jsonl");
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const hex = (given) => Array.from(given, (byte) => byte.toString(16).padStart(2, "0")).join("");

async function compilerOf(parts) {
  const options = {
    stopTokenIds: parts.eos_ids,
    specialTokenIds: parts.special_ids,
    addedTokenIds: parts.added_ids,
  };
  const info = parts.tokens
    ? await TokenizerInfo.fromTokens(parts.tokens.map(bytes), { ...options, vocabSize: parts.vocab_size })
    : await TokenizerInfo.fromTokenizerJson(read(TOKENIZER), { stopTokenIds: parts.eos_ids });
  return GrammarCompiler.createGrammarCompiler(info);
}

async function run(given, compiler) {
  const told = {};
  let matcher;
  try {
    const grammar = given.saved
      ? await Grammar.fromBytes(bytes(given.saved))
      : await Grammar.read(given.notation, given.source, JSON.parse(given.options ?? "{}"));
    const { status, pointers } = grammar.report();
    told.report = { status, pointers };
    matcher = await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar(grammar));
  } catch (error) {
    return { error: error.code };
  }
  const { now } = { now: matcher.handle };
  now.call("matcher_jump_forward");
  told.jump = hex(now.owner.bytes());
  Object.assign(told, { masks: [], ends: "" });
  for (const [at, token] of [...given.tokens, undefined].entries()) {
    // Once the text has ended, any token may follow: Python's matcher says so, web-xgrammar's refuses to answer.
    const ended = matcher.isTerminated();
    told.masks.push(
      fnv(ended ? new Int32Array(Math.ceil(matcher.getVocabSize() / 32)).fill(-1) : matcher.nextTokenBitmask()),
    );
    told.ends += matcher.isCompleted() ? "1" : "0";
    if (at === given.close.at) {
      told.close = { at, tokens: matcher.shortestClose() };
    }
    if (token !== undefined) {
      const refused = given.refused[at];
      assert.ok(refused < 0 || !matcher.acceptToken(refused), `${given.name}: ${refused} is taken at ${at}`);
      assert.ok(matcher.acceptToken(token), `${given.name}: ${token} is refused at ${at}`);
    }
  }
  told.captures = matcher.captures();
  return told;
}

test("grammars, masks, ends and captures are those of Python", async () => {
  const compilers = new Map();
  for (const parts of cases.filter((one) => !one.name)) {
    compilers.set(parts.vocabulary, await compilerOf(parts));
  }
  let masks = 0;
  for (const given of cases.filter((one) => one.name)) {
    const told = await run(given, compilers.get(given.vocabulary));
    if (given.error) {
      assert.deepEqual(told, { error: given.error }, given.name);
      continue;
    }
    assert.equal(told.error, undefined, given.name);
    const { report, jump, ends, close, captures } = given;
    assert.deepEqual(
      { ...told, masks: told.masks.join() },
      {
        report,
        jump,
        masks: given.masks.join(),
        ends,
        close,
        captures: JSON.parse(captures),
      },
      given.name,
    );
    masks += told.masks.length;
  }
  assert.ok(masks > 1000, `${masks} masks`);
});
