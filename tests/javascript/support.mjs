// What the tests in JavaScript share.
import { readFileSync } from "node:fs";

import { GrammarCompiler, GrammarMatcher, TokenizerInfo } from "../../js/src/index.js";

export const ROOT = new URL("../../", import.meta.url);
export const read = (path) => readFileSync(new URL(path, ROOT), "utf8");
export const lines = (path) =>
  read(path)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A vocabulary of every byte, some words, and a stop token that comes last. */
export async function bytesAndWords(words = ["true", "null", '{"', '":', "name", "ab", "abc"]) {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const tokens = [...bytes, ...words.map((word) => new TextEncoder().encode(word)), "</s>"];
  return TokenizerInfo.createTokenizerInfo(tokens);
}

/** A matcher of a grammar that `make(compiler)` compiles. */
export async function matcherOf(make, info, ...options) {
  const compiler = await GrammarCompiler.createGrammarCompiler(info ?? (await bytesAndWords()));
  return GrammarMatcher.createGrammarMatcher(await make(compiler), ...options);
}

/** FNV-1a, 32 bits, of the bytes of a row, as 8 digits. */
export function fnv(row) {
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(row.buffer, row.byteOffset, row.byteLength)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
