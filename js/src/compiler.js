import { check } from "./errors.js";
import { Grammar } from "./grammar.js";
import { Lasting, checkHandle } from "./instance.js";
import { TokenizerInfo } from "./tokenizer.js";

export class CompiledGrammar {
  #grammar;
  #tokenizerInfo;

  /** @internal */
  constructor(handle, grammar, tokenizerInfo) {
    this.handle = checkHandle("handle", handle);
    this.#grammar = grammar;
    this.#tokenizerInfo = tokenizerInfo;
  }

  grammar() {
    return this.#grammar;
  }

  tokenizerInfo() {
    return this.#tokenizerInfo;
  }

  dispose() {
    this.handle.dispose();
  }
}

export class GrammarCompiler {
  #tokenizerInfo;

  /** @internal */
  constructor(handle) {
    this.handle = checkHandle("handle", handle);
  }

  static async createGrammarCompiler(tokenizerInfo, cacheEnabled = true, options = {}) {
    check("tokenizerInfo", tokenizerInfo, tokenizerInfo instanceof TokenizerInfo, "a TokenizerInfo");
    check("cacheEnabled", cacheEnabled, typeof cacheEnabled === "boolean", "true or false");
    const given = JSON.stringify({ cache: cacheEnabled, ...options });
    const handle = await Lasting.of(async () => {
      const vocabulary = await tokenizerInfo.handle.get();
      vocabulary.owner.write(given);
      return vocabulary.owner.make("compiler", vocabulary.id());
    });
    const compiler = new GrammarCompiler(handle);
    compiler.#tokenizerInfo = tokenizerInfo;
    return compiler;
  }

  async compileJSONSchema(schema, anyWhitespace, indent, separators, strictMode, maxWhitespaceCnt) {
    return this.compileGrammar(
      await Grammar.fromJSONSchema(schema, anyWhitespace, indent, separators, strictMode, maxWhitespaceCnt),
    );
  }

  async compileBuiltinJSONGrammar() {
    return this.compileGrammar(await Grammar.builtinJSONGrammar());
  }

  async compileGrammar(grammar, rootRule = "root") {
    const read = typeof grammar === "string" ? await Grammar.fromEBNF(grammar, rootRule) : grammar;
    check("grammar", read, read instanceof Grammar, "a Grammar or a string");
    const compiler = await this.handle.get();
    const source = await read.handle.get();
    const compiled = compiler.owner.make("compile", compiler.id(), source.id());
    return new CompiledGrammar(compiled, read, this.#tokenizerInfo);
  }

  async compileStructuralTag(structuralTagOrTags, triggers = undefined) {
    return this.compileGrammar(await Grammar.fromStructuralTag(structuralTagOrTags, triggers));
  }

  dispose() {
    this.handle.dispose();
  }
}
