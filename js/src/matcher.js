import { allowedTokens } from "./bitmask.js";
import { CompiledGrammar, GrammarCompiler } from "./compiler.js";
import { SyntagmaError, check, checkText, checkWhole } from "./errors.js";
import { checkHandle } from "./instance.js";
import { readIds } from "./tokenizer.js";

const encoder = new TextEncoder();

const checkCompiled = (given) => check("compiledGrammar", given, given instanceof CompiledGrammar, "a CompiledGrammar");

export class GrammarMatcher {
  #withoutStop;
  #size;
  #words;

  /** @internal */
  constructor(handle, size, withoutStop) {
    this.handle = checkHandle("handle", handle);
    this.#size = size;
    this.#words = Math.ceil(size / 32);
    this.#withoutStop = withoutStop;
  }

  static async #compiledFor(compiled, overrideStopTokens) {
    const stops = readIds("overrideStopTokens", overrideStopTokens);
    const info = compiled.tokenizerInfo();
    if (stops === undefined || stops.join() === info.stopTokenIds.join()) {
      return compiled;
    }
    // Ends of the turn belong to the vocabulary here.
    const compiler = await GrammarCompiler.createGrammarCompiler(await info.withStops(stops));
    return compiler.compileGrammar(compiled.grammar());
  }

  static async createGrammarMatcher(
    compiledGrammar,
    overrideStopTokens = undefined,
    terminateWithoutStopToken = false,
    maxRollbackTokens = -1,
  ) {
    checkCompiled(compiledGrammar);
    const withoutStop = terminateWithoutStopToken;
    check("terminateWithoutStopToken", withoutStop, typeof withoutStop === "boolean", "true or false");
    checkWhole("maxRollbackTokens", maxRollbackTokens, -1);
    const compiled = await GrammarMatcher.#compiledFor(compiledGrammar, overrideStopTokens);
    const { handle } = compiled;
    const made = handle.owner.make("matcher", handle.id());
    return new GrammarMatcher(made, compiled.tokenizerInfo().getVocabSize(), withoutStop);
  }

  /** A matcher where another one, of an equal grammar and vocabulary, was saved by `toBytes`. */
  static async fromBytes(compiledGrammar, bytes) {
    const { handle } = checkCompiled(compiledGrammar);
    check("bytes", bytes, bytes instanceof Uint8Array, "bytes");
    handle.owner.write(bytes);
    const made = handle.owner.make("matcher_of_bytes", handle.id());
    return new GrammarMatcher(made, compiledGrammar.tokenizerInfo().getVocabSize(), false);
  }

  getMaxRollbackTokens() {
    return -1;
  }

  getVocabSize() {
    return this.#size;
  }

  acceptToken(tokenID) {
    check("tokenID", tokenID, Number.isInteger(tokenID), "a whole number");
    if (tokenID < 0 || tokenID >= this.#size) {
      return false;
    }
    const accepted = this.handle.call("matcher_accept", tokenID) === 1;
    if (accepted && this.#withoutStop && this.handle.call("matcher_is_terminated") === 1) {
      this.rollBack(1);
      return false;
    }
    return accepted;
  }

  /** Accepts text, all of it or nothing. It is one step for `rollBack`. */
  acceptText(text) {
    const bytes = typeof text === "string" ? encoder.encode(checkText("text", text)) : text;
    check("text", text, bytes instanceof Uint8Array, "a string or bytes");
    this.handle.owner.write(bytes);
    return this.handle.call("matcher_accept_bytes") === 1;
  }

  _acceptString(inputStr) {
    return this.acceptText(inputStr);
  }

  /** How many of the tokens could be accepted in this order; nothing changes. */
  validateTokens(tokenIDs) {
    check("tokenIDs", tokenIDs, Array.isArray(tokenIDs), "an array of token ids");
    this.handle.owner.write(readIds("tokenIDs", tokenIDs));
    return this.handle.call("matcher_validate");
  }

  async getNextTokenBitmask() {
    return this.nextTokenBitmask();
  }

  /** `getNextTokenBitmask` without a promise. */
  nextTokenBitmask() {
    this.#checkOpen("no token comes next");
    const at = this.handle.call("matcher_mask");
    if (at === 0) {
      throw this.handle.owner.error();
    }
    return this.handle.owner.words(at, this.#words);
  }

  /** The ids of the tokens that may come next, ascending. */
  allowedTokens() {
    return allowedTokens(this.nextTokenBitmask(), this.#size);
  }

  isTerminated() {
    const ended = this.handle.call("matcher_is_terminated") === 1;
    return ended || (this.#withoutStop && this.isCompleted());
  }

  /** Whether the text may end here. */
  isCompleted() {
    return this.handle.call("matcher_is_accepting") === 1;
  }

  reset() {
    this.handle.call("matcher_reset");
  }

  findJumpForwardString() {
    this.#checkOpen("nothing comes next");
    // It may end inside of a character, which is left to the tokens.
    return new TextDecoder().decode(this.#told("matcher_jump_forward").bytes(), { stream: true });
  }

  rollBack(numTokens) {
    this.handle.call("matcher_rollback", checkWhole("numTokens", numTokens));
  }

  /** A second matcher at the same place. */
  fork() {
    const { owner } = this.handle;
    return new GrammarMatcher(owner.make("matcher_fork", this.handle.id()), this.#size, this.#withoutStop);
  }

  /** The labelled parts of the text: for each label `[start, end]` in bytes. */
  captures() {
    return JSON.parse(this.#told("matcher_captures").text());
  }

  /** The fewest tokens that end the text; `null` where `budget` of them are not enough. */
  shortestClose(budget = -1) {
    check("budget", budget, Number.isInteger(budget), "a whole number");
    const count = this.handle.call("matcher_shortest_close", budget);
    return count < 0 ? null : [...new Uint32Array(this.handle.owner.bytes().buffer)];
  }

  /** What is expected here and, for a token, what becomes of it. */
  explain(tokenID = -1) {
    check("tokenID", tokenID, Number.isInteger(tokenID), "a whole number");
    return JSON.parse(this.#told("matcher_explain", tokenID).text());
  }

  /** Where it stands, for `fromBytes`. */
  toBytes() {
    return this.#told("matcher_bytes").bytes();
  }

  dispose() {
    this.handle.dispose();
  }

  #told(what, ...numbers) {
    this.handle.call(what, ...numbers);
    return this.handle.owner;
  }

  #checkOpen(consequence) {
    if (this.handle.call("matcher_is_terminated") === 1) {
      const message = `the text has ended: ${consequence}`;
      throw new SyntagmaError({ kind: "MatcherError", code: "E-ARGUMENT-FINISHED", message });
    }
  }
}
