/** A value in the engine, by which it is known there. */
export type Handle = object;

export type JSONSchemaValue = boolean | Record<string, unknown>;

export interface AnyTextFormat {
  type: "any_text";
  excludes?: string[];
}
export interface ConstStringFormat {
  type: "const_string";
  value: string;
}
export interface JSONSchemaFormat {
  type: "json_schema";
  json_schema: JSONSchemaValue;
  /** Another one than `json` is refused: styles need the formats of models, which Python has. */
  style?: "json";
  any_order?: boolean;
}
export interface GrammarFormat {
  type: "grammar";
  grammar: string;
}
export interface RegexFormat {
  type: "regex";
  pattern: string;
}
export interface SequenceFormat {
  type: "sequence";
  elements: StructuralTagFormat[];
}
export interface OrFormat {
  type: "or";
  elements: StructuralTagFormat[];
}
export interface RepeatedFormat {
  type: "optional" | "plus" | "star";
  content: StructuralTagFormat;
}
export interface RepeatFormat {
  type: "repeat";
  min: number;
  /** -1: no limit. */
  max: number;
  content: StructuralTagFormat;
}
export interface TagFormat {
  type: "tag";
  begin: string;
  content: StructuralTagFormat;
  end: string | string[];
}
export interface TriggeredTagsFormat {
  type: "triggered_tags";
  triggers: string[];
  tags: TagFormat[];
  excludes?: string[];
  at_least_one?: boolean;
  stop_after_first?: boolean;
}
export interface TagsWithSeparatorFormat {
  type: "tags_with_separator";
  tags: TagFormat[];
  separator: string;
  at_least_one?: boolean;
  stop_after_first?: boolean;
}
export type StructuralTagFormat =
  | AnyTextFormat
  | ConstStringFormat
  | JSONSchemaFormat
  | GrammarFormat
  | RegexFormat
  | SequenceFormat
  | OrFormat
  | RepeatedFormat
  | RepeatFormat
  | TagFormat
  | TriggeredTagsFormat
  | TagsWithSeparatorFormat;

export interface StructuralTag {
  type?: "structural_tag";
  format: StructuralTagFormat;
}
export type StructuralTagLike = StructuralTag | StructuralTagFormat | Record<string, unknown> | string;

/** A tag of the older form: what begins it, the schema inside, and what ends it. */
export declare class StructuralTagItem {
  begin: string;
  schema: string | JSONSchemaValue;
  end: string;
  constructor(begin: string, schema: string | JSONSchemaValue, end: string);
  getSchemaAsString(): string;
  getSchemaAsJSON(): JSONSchemaValue;
}

/** What is wrong, as Python says it: `name` is the name of Python's exception. */
export declare class SyntagmaError extends Error {
  /** Stable: `E-GRAMMAR-SYNTAX`. Python's list of errors explains each. */
  code: string;
  hint?: string;
  /** The place in a text, 1-based; `offset` is in bytes, 0-based. */
  line?: number;
  column?: number;
  offset?: number;
  /** The line with a caret under the place. */
  excerpt?: string;
  /** The place as a JSON pointer. */
  pointer?: string;
  /** For limits: its name, what was given if that is known, and what it allows. */
  limit?: string;
  given?: number;
  allowed?: number;
  /** For refused schemas: reasons by JSON pointer. */
  pointers?: Record<string, string>;
}

/** A warning about a source, with the fields of an error. */
export type Warning = Pick<
  SyntagmaError,
  "code" | "message" | "hint" | "line" | "column" | "offset" | "excerpt" | "pointer"
>;

/** How much of its schemas a grammar enforces. */
export interface Report {
  status: "exact" | "widened";
  /** What is not enforced: reasons by JSON pointer. */
  pointers: Record<string, string>;
  /** The schema, if the grammar was made from one alone. */
  schema: string | null;
  warnings: Warning[];
}

/** What a matcher expects. */
export interface Explanation {
  expected: { rule: string; symbol: string; begun: boolean }[];
  accepting: boolean;
  terminated: boolean;
  /** What becomes of the token that was asked about. */
  token?: "allowed" | "dies" | "not expected" | "unused" | "ended" | "spent";
  /** The byte of the token that cannot follow, 0-based. */
  dies_at?: number;
}

/** Limits by the names of Python's `Limits`. */
export type Limits = Record<string, number>;

/**
 * Says where `syntagma.wasm` is, before anything else is called. Without it, the module is looked for in `dist` of this
 * package.
 */
export declare function useWasm(source: URL | string | Response | BufferSource | WebAssembly.Module): void;

/** A vocabulary. */
export declare class TokenizerInfo {
  handle: Handle;
  /** Tokens that end a turn. */
  readonly stopTokenIds: number[];
  private constructor();
  /**
   * A vocabulary of tokens as a tokenizer writes them, ordered by id.
   *
   * `vocabType` says how text stands for bytes: `raw` as it is, `byte_fallback` (`<0x0A>` is one byte, `▁` a space) or
   * `byte_level` (every character is one byte of GPT-2's alphabet). `vocabSize` is the width of the logits. Without
   * `stopTokenIds`, tokens with the text of a known stop token end a turn. `prependSpaceInTokenization` has no effect.
   */
  static createTokenizerInfo(
    encodedVocab: (string | Uint8Array)[],
    vocabType?: string,
    prependSpaceInTokenization?: boolean,
    vocabSize?: number,
    stopTokenIds?: number[] | number,
  ): Promise<TokenizerInfo>;
  /** A vocabulary of bytes. Special tokens never match text; a marker means the added token of exactly its text. */
  static fromTokens(
    tokens: Uint8Array[],
    options?: {
      vocabSize?: number;
      stopTokenIds?: number[] | number;
      specialTokenIds?: number[];
      addedTokenIds?: number[];
    },
  ): Promise<TokenizerInfo>;
  /** A vocabulary of the text of Hugging Face's `tokenizer.json`. */
  static fromTokenizerJson(
    json: string,
    options?: { vocabSize?: number; stopTokenIds?: number[] | number },
  ): Promise<TokenizerInfo>;
  getVocabSize(): number;
  /** The bytes of a token; none for ids that are never allowed. */
  tokenBytes(tokenID: number): Uint8Array;
  dispose(): void;
}

/** A grammar. */
export declare class Grammar {
  handle: Handle;
  private constructor();
  /**
   * Reads a text in a notation: `ebnf`, `gbnf`, `json_schema`, `lark`, `regex`, `structural_tag` or `xgrammar`. Options are
   * Python's, `limits` among them.
   */
  static read(notation: string, text: string, options?: Record<string, unknown>): Promise<Grammar>;
  /** A grammar in xgrammar's language. */
  static fromEBNF(ebnfString: string, rootRule?: string): Promise<Grammar>;
  /** Any JSON object or array. */
  static builtinJSONGrammar(): Promise<Grammar>;
  /**
   * The JSON documents of a schema. `indent` and `separators` hold where `anyWhitespace` is false; an indent of -1 is one
   * line. In strict mode, objects have only the properties that they declare, and tuples no further items.
   */
  static fromJSONSchema(
    schema: string,
    anyWhitespace?: boolean,
    indent?: number,
    separators?: [string, string],
    strictMode?: boolean,
    maxWhitespaceCnt?: number,
  ): Promise<Grammar>;
  static fromStructuralTag(structuralTag: StructuralTagLike): Promise<Grammar>;
  static fromStructuralTag(tags: StructuralTagItem[], triggers: string[]): Promise<Grammar>;
  /** The texts that a regular expression (ECMA-262) matches as a whole. */
  static fromRegex(pattern: string): Promise<Grammar>;
  /** A grammar in Lark. `imports` has the texts of `%import`, by name. */
  static fromLark(
    text: string,
    options?: { start?: string; imports?: Record<string, string>; limits?: Limits },
  ): Promise<Grammar>;
  /** A grammar in llama.cpp's GBNF. */
  static fromGBNF(text: string, rootRule?: string): Promise<Grammar>;
  /** What `toBytes` wrote, here or in another host: Python saves grammars of tools and of model formats so. */
  static fromBytes(bytes: Uint8Array): Promise<Grammar>;
  /** How much of its schemas it enforces. */
  report(): Report;
  /** The grammar in the library's EBNF. */
  toString(): string;
  toBytes(): Uint8Array;
  dispose(): void;
}

/** A grammar compiled for a vocabulary. */
export declare class CompiledGrammar {
  handle: Handle;
  private constructor();
  grammar(): Grammar;
  tokenizerInfo(): TokenizerInfo;
  dispose(): void;
}

/** Compiles grammars for one vocabulary, and remembers them. */
export declare class GrammarCompiler {
  handle: Handle;
  private constructor();
  static createGrammarCompiler(
    tokenizerInfo: TokenizerInfo,
    cacheEnabled?: boolean,
    options?: { verify?: boolean; limits?: Limits },
  ): Promise<GrammarCompiler>;
  /** As `Grammar.fromJSONSchema`, compiled. */
  compileJSONSchema(
    schema: string,
    anyWhitespace?: boolean,
    indent?: number,
    separators?: [string, string],
    strictMode?: boolean,
    maxWhitespaceCnt?: number,
  ): Promise<CompiledGrammar>;
  compileBuiltinJSONGrammar(): Promise<CompiledGrammar>;
  compileGrammar(grammar: Grammar): Promise<CompiledGrammar>;
  /** As `Grammar.fromEBNF`, compiled. */
  compileGrammar(grammar: string, rootRule?: string): Promise<CompiledGrammar>;
  compileStructuralTag(structuralTag: StructuralTagLike): Promise<CompiledGrammar>;
  compileStructuralTag(tags: StructuralTagItem[], triggers: string[]): Promise<CompiledGrammar>;
  dispose(): void;
}

/** Follows one text through a compiled grammar. */
export declare class GrammarMatcher {
  private constructor();
  /**
   * A matcher at the start of a text. With `terminateWithoutStopToken` the text ends as soon as it is complete, and stop
   * tokens are not accepted. Every step can be rolled back, whatever `maxRollbackTokens` says.
   */
  static createGrammarMatcher(
    compiledGrammar: CompiledGrammar,
    overrideStopTokens?: number[] | number,
    terminateWithoutStopToken?: boolean,
    maxRollbackTokens?: number,
  ): Promise<GrammarMatcher>;
  /** A matcher where another one, of an equal grammar and vocabulary, was saved by `toBytes`. */
  static fromBytes(compiledGrammar: CompiledGrammar, bytes: Uint8Array): Promise<GrammarMatcher>;
  /** -1: every step can be rolled back. */
  getMaxRollbackTokens(): number;
  getVocabSize(): number;
  /** Accepts a token. If it is not allowed next or outside of the vocabulary: false, and nothing changes. */
  acceptToken(tokenID: number, verbose?: boolean): boolean;
  /** Accepts text, all of it or nothing. It is one step for `rollBack`. */
  acceptText(text: string | Uint8Array): boolean;
  /** How many of the tokens could be accepted in this order; nothing changes. */
  validateTokens(tokenIDs: number[]): number;
  /** `acceptText`. */
  _acceptString(inputStr: string, verbose?: boolean): boolean;
  /**
   * The tokens that may come next, as `ceil(vocabSize / 32)` words: bit `i` of word `w` is token `32 w + i`, 1 is allowed.
   * The array is the caller's.
   */
  getNextTokenBitmask(): Promise<Int32Array>;
  /** `getNextTokenBitmask` without a promise. */
  nextTokenBitmask(): Int32Array;
  /** The ids of the tokens that may come next, ascending. */
  allowedTokens(): Int32Array;
  /** Whether the text has ended. */
  isTerminated(): boolean;
  /** Whether the text may end here. */
  isCompleted(): boolean;
  reset(): void;
  /** The text that must come next. */
  findJumpForwardString(): string;
  rollBack(numTokens: number): void;
  /** A second matcher at the same place. */
  fork(): GrammarMatcher;
  /** The labelled parts of the text: for each label `[start, end]` in bytes. */
  captures(): Record<string, [number, number][]>;
  /** The fewest tokens that end the text; null where `budget` of them are not enough. */
  shortestClose(budget?: number): number[] | null;
  /** What is expected here and, for a token, what becomes of it. */
  explain(tokenID?: number): Explanation;
  /** Where it stands, for `fromBytes`. */
  toBytes(): Uint8Array;
  dispose(): void;
}

/** What tests ask for; nothing here is fast. */
export declare class Testings {
  /** The ids that row `index` of a bitmask denies. */
  static debugGetMaskedTokensFromBitmask(bitmask: Int32Array, vocabSize: number, index?: number): Promise<Int32Array>;
}

declare const syntagma: {
  CompiledGrammar: typeof CompiledGrammar;
  Grammar: typeof Grammar;
  GrammarCompiler: typeof GrammarCompiler;
  GrammarMatcher: typeof GrammarMatcher;
  StructuralTagItem: typeof StructuralTagItem;
  Testings: typeof Testings;
  TokenizerInfo: typeof TokenizerInfo;
};
export default syntagma;
