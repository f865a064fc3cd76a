import { SyntagmaError, check, checkText, checkWhole } from "./errors.js";
import { Lasting, Raw, checkHandle } from "./instance.js";

// Texts of tokens that end a turn where none are given: those that xgrammar was found to use.
const STOPS = new Set([
  "</s>",
  "<eos>",
  "<|eos|>",
  "<|end_of_text|>",
  "<|eot_id|>",
  "<end_of_turn>",
  "<|endoftext|>",
  "<｜end▁of▁sentence｜>",
]);

const encoder = new TextEncoder();

// The bit of a token's length that says that it is bytes, not text.
const BYTES = 0x80000000;

/** Tokens as the module reads them: their number, and each behind its length. One buffer, since there are many. */
function packed(tokens) {
  // A character has three bytes at most, or four for two units of the string.
  const most = tokens.reduce((sum, token) => sum + 4 + 3 * token.length, 4);
  const bytes = new Uint8Array(most);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, tokens.length, true);
  let at = 4;
  for (const token of tokens) {
    const begin = at + 4;
    if (typeof token === "string") {
      const { written } = encoder.encodeInto(token, bytes.subarray(begin));
      view.setUint32(at, written, true);
      at = begin + written;
    } else {
      bytes.set(token, begin);
      view.setUint32(at, token.length + BYTES, true);
      at = begin + token.length;
    }
  }
  return bytes.subarray(0, at);
}

/** The added tokens of a `tokenizer.json` that are known to end a turn. */
function stopsOf(json) {
  let added;
  try {
    added = JSON.parse(json)?.added_tokens;
  } catch {
    // The reader says what is wrong with it.
    return [];
  }
  const ends = (Array.isArray(added) ? added : []).filter((token) => STOPS.has(token?.content));
  if (ends.length === 0) {
    throw new SyntagmaError({
      kind: "VocabularyError",
      code: "E-VOCAB-EOS",
      message: "the tokenizer has no token that is known to end a turn",
      hint: "name it: fromTokenizerJson(json, { stopTokenIds })",
    });
  }
  return ends.map(({ id }) => id).filter(Number.isInteger);
}

/** Token ids, which are given as one, as several or not at all. */
export function readIds(name, given) {
  if (given === undefined || given === null) {
    return undefined;
  }
  const list = typeof given === "number" ? [given] : given;
  check(name, given, Array.isArray(list), "a token id or an array of them");
  return list.map((id, at) => checkWhole(`${name}/${at}`, id));
}

export class TokenizerInfo {
  #make;
  #size;
  #byStops = new Map();

  /** @internal */
  constructor(handle) {
    this.handle = checkHandle("handle", handle);
  }

  /** `make(instance, ends, special)` makes the vocabulary with these ends of the turn and special tokens. */
  static async #of(make, stops, special = stops) {
    const info = new TokenizerInfo(await Lasting.of((instance) => make(instance, stops, special)));
    info.#make = make;
    info.#size = info.handle.now.call("vocabulary_size");
    info.stopTokenIds = stops;
    return info;
  }

  static async createTokenizerInfo(
    encodedVocab,
    vocabType = "raw",
    prependSpaceInTokenization = false,
    vocabSize = undefined,
    stopTokenIds = undefined,
  ) {
    check("encodedVocab", encodedVocab, Array.isArray(encodedVocab), "an array of tokens");
    check(
      "prependSpaceInTokenization",
      prependSpaceInTokenization,
      typeof prependSpaceInTokenization === "boolean",
      "true or false",
    );
    encodedVocab.forEach((token, id) => {
      if (!(token instanceof Uint8Array)) {
        checkText(`encodedVocab/${id}`, token);
      }
    });
    const stops = readIds("stopTokenIds", stopTokenIds);
    const detected = () => encodedVocab.flatMap((token, id) => (STOPS.has(token) ? [id] : []));
    const size = vocabSize === undefined ? encodedVocab.length : checkWhole("vocabSize", vocabSize);
    return TokenizerInfo.#of((instance, ends, special) => {
      instance.write(size, ends, special, special, `${vocabType}`, new Raw(packed(encodedVocab)));
      return instance.make("vocabulary");
    }, stops ?? detected());
  }

  static async fromTokens(tokens, options = {}) {
    const { vocabSize = tokens.length, stopTokenIds, specialTokenIds = [], addedTokenIds = [] } = options;
    check("tokens", tokens, Array.isArray(tokens) && tokens.every((token) => token instanceof Uint8Array), "bytes");
    checkWhole("vocabSize", vocabSize);
    const given = readIds("specialTokenIds", specialTokenIds);
    const added = readIds("addedTokenIds", addedTokenIds);
    return TokenizerInfo.#of(
      (instance, ends, special) => {
        instance.write(vocabSize, ends, [...given, ...special], added, "raw", new Raw(packed(tokens)));
        return instance.make("vocabulary");
      },
      readIds("stopTokenIds", stopTokenIds) ?? [],
    );
  }

  static async fromTokenizerJson(json, { vocabSize = 0, stopTokenIds = undefined } = {}) {
    checkText("json", json);
    const stops = readIds("stopTokenIds", stopTokenIds) ?? stopsOf(json);
    checkWhole("vocabSize", vocabSize);
    return TokenizerInfo.#of((instance, ends, special) => {
      instance.write(vocabSize, ends, special, json);
      return instance.make("vocabulary_of_tokenizer_json");
    }, stops);
  }

  getVocabSize() {
    return this.#size;
  }

  /** The bytes of a token. */
  tokenBytes(tokenID) {
    const { now } = this.handle;
    now.call("vocabulary_token", checkWhole("tokenID", tokenID));
    return now.owner.bytes();
  }

  /** @internal The same vocabulary with other ends of the turn; each is made once. */
  async withStops(stops) {
    const key = stops.join();
    if (key === this.stopTokenIds.join()) {
      return this;
    }
    if (!this.#byStops.has(key)) {
      // What ended a turn before is no text now.
      const special = [...new Set([...this.stopTokenIds, ...stops])];
      this.#byStops.set(key, await TokenizerInfo.#of(this.#make, stops, special));
    }
    return this.#byStops.get(key);
  }

  dispose() {
    for (const info of this.#byStops.values()) {
      info.dispose();
    }
    this.handle.dispose();
  }
}
