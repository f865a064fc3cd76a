import { CompiledGrammar, GrammarCompiler } from "./compiler.js";
import { Grammar } from "./grammar.js";
import { GrammarMatcher } from "./matcher.js";
import { StructuralTagItem } from "./structural_tag.js";
import { Testings } from "./testings.js";
import { TokenizerInfo } from "./tokenizer.js";

export { SyntagmaError } from "./errors.js";
export { useWasm } from "./instance.js";
export { CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, StructuralTagItem, Testings, TokenizerInfo };

export default {
  CompiledGrammar,
  Grammar,
  GrammarCompiler,
  GrammarMatcher,
  StructuralTagItem,
  Testings,
  TokenizerInfo,
};
