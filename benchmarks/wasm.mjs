// The engine in node beside web-xgrammar, on schemas and a vocabulary of users: `python benchmarks/wasm.py` runs it.
//
//     node benchmarks/wasm.mjs INPUT.json [WEB_XGRAMMAR.cjs]
//
// INPUT has `vocabulary` (tokens as a byte-level tokenizer writes them), `type`, `stops`, and `schemas`, each with the
// `tokens` of a valid text. One line of JSON is printed for each engine, times in microseconds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [input, theirs] = process.argv.slice(2);
const given = JSON.parse(readFileSync(input, "utf8"));
const now = () => performance.now() * 1000;

async function measure(name, engine) {
  const begin = now();
  const info = await engine.TokenizerInfo.createTokenizerInfo(
    given.vocabulary,
    given.type,
    false,
    given.vocabulary.length,
    given.stops,
  );
  const vocabulary = now() - begin;
  const made = now();
  // No cache: every schema is compiled.
  const compiler = await engine.GrammarCompiler.createGrammarCompiler(info, false);
  const told = { name, setup: vocabulary + now() - made, schemas: [] };
  for (const { schema, tokens } of given.schemas) {
    const times = { masks: [], known: [], accept: [] };
    let whole = true;
    try {
      const start = now();
      const compiled = await compiler.compileJSONSchema(schema, true, 2, undefined, false);
      times.compile = [now() - start];
      const matcher = await engine.GrammarMatcher.createGrammarMatcher(compiled);
      for (const which of ["masks", "known"]) {
        matcher.reset();
        for (const token of whole ? tokens : []) {
          const asked = now();
          await matcher.getNextTokenBitmask();
          const answered = now();
          whole &&= matcher.acceptToken(token);
          times[which].push(answered - asked);
          times.accept.push(now() - answered);
        }
      }
      times.first = times.masks.slice(0, 1);
      matcher.dispose();
      compiled.dispose();
    } catch {
      whole = false;
    }
    told.schemas.push(whole ? times : null);
  }
  told.bytes = process.memoryUsage().rss;
  return told;
}

if (theirs) {
  const require = createRequire(import.meta.url);
  console.log(JSON.stringify(await measure("web-xgrammar", require(theirs))));
} else {
  console.log(JSON.stringify(await measure("syntagma", await import("../js/src/index.js"))));
}
