import { check, checkText, checkWhole, wrongValue } from "./errors.js";
import { Lasting, checkHandle } from "./instance.js";
import { structuralTagText } from "./structural_tag.js";

export class Grammar {
  /** @internal */
  constructor(handle) {
    this.handle = checkHandle("handle", handle);
  }

  /** Reads a text in a notation: `ebnf`, `gbnf`, `json_schema`, `lark`, `regex`, `structural_tag` or `xgrammar`. */
  static async read(notation, text, options = {}) {
    checkText("notation", notation);
    checkText("text", text);
    const given = JSON.stringify(options);
    return new Grammar(
      await Lasting.of((instance) => {
        instance.write(notation, text, given);
        return instance.make("grammar");
      }),
    );
  }

  static async fromEBNF(ebnfString, rootRule = "root") {
    return Grammar.read("xgrammar", ebnfString, { start: checkText("rootRule", rootRule) });
  }

  static async builtinJSONGrammar() {
    return Grammar.read("json_schema", '{"type": ["object", "array"]}');
  }

  static async fromJSONSchema(
    schema,
    anyWhitespace = true,
    indent = 2,
    separators = undefined,
    strictMode = true,
    maxWhitespaceCnt = undefined,
  ) {
    checkText("schema", schema);
    check("strictMode", strictMode, typeof strictMode === "boolean", "true or false");
    const whitespace = whitespaceOptions(anyWhitespace, indent, separators, maxWhitespaceCnt);
    return Grammar.read("json_schema", schema, { strict: strictMode, ...whitespace });
  }

  static async fromRegex(pattern) {
    return Grammar.read("regex", pattern, { dialect: "ecma" });
  }

  static async fromLark(text, options = {}) {
    return Grammar.read("lark", text, options);
  }

  static async fromGBNF(text, rootRule = "root") {
    return Grammar.read("gbnf", text, { start: checkText("rootRule", rootRule) });
  }

  static async fromStructuralTag(structuralTagOrTags, triggers = undefined) {
    return Grammar.read("structural_tag", structuralTagText(structuralTagOrTags, triggers));
  }

  static async fromBytes(bytes) {
    check("bytes", bytes, bytes instanceof Uint8Array, "bytes");
    return new Grammar(
      await Lasting.of((instance) => {
        instance.write(bytes);
        return instance.make("grammar_of_bytes");
      }),
    );
  }

  #told(what) {
    const { now } = this.handle;
    now.call(what);
    return now.owner;
  }

  /** How much of its schemas it enforces. */
  report() {
    return JSON.parse(this.#told("grammar_report").text());
  }

  toString() {
    return this.#told("grammar_ebnf").text();
  }

  toBytes() {
    return this.#told("grammar_bytes").bytes();
  }

  dispose() {
    this.handle.dispose();
  }
}

function whitespaceOptions(anyWhitespace, indent, separators, most) {
  check("anyWhitespace", anyWhitespace, typeof anyWhitespace === "boolean", "true or false");
  check("indent", indent, Number.isInteger(indent), "a whole number, -1 for one line");
  const limits = most === undefined ? {} : { limits: { json_whitespace: checkWhole("maxWhitespaceCnt", most, 1) } };
  if (anyWhitespace) {
    return limits;
  }
  if (indent === -1) {
    return { ...limits, separators: separators ?? [", ", ": "] };
  }
  if (separators !== undefined && separators.join() !== [",", ": "].join()) {
    throw wrongValue("separators", 'with an indent the separators are "," and ": "', "indent -1 is one line");
  }
  return { ...limits, indent };
}
