/*
 * Syntagma: which tokens may come next. The guide is docs/c.md.
 *
 * - Texts are UTF-8 and have their length in bytes beside them; notations and options end with a zero byte, and options may
 *   be NULL.
 * - A function that can fail returns a SyntagmaStatus; what it makes is behind its last arguments. After a failure a handle
 *   there is NULL, any other result is as it was, and syntagma_error_json() and its sisters say why, in the same thread.
 * - Every handle is freed by the function of its name, in any order: a matcher keeps what it needs. Bytes and tokens that a
 *   function gives are freed by syntagma_bytes_free() and syntagma_tokens_free(). Freeing NULL does nothing.
 * - Vocabularies, grammars, compilers and compiled grammars may be used by many threads at once. So may a matcher by
 *   functions that take it as const; a function that takes it otherwise needs it alone.
 * - No panic of the library crosses: it is the error E-ENGINE-PANIC.
 */

#ifndef SYNTAGMA_H
#define SYNTAGMA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 What became of a call. Anything but SYNTAGMA_OK is a failure.
 */
typedef enum {
  /*
   It was done.
   */
  SYNTAGMA_OK = 0,
  /*
   An argument can never be valid.
   */
  SYNTAGMA_ERROR_ARGUMENT = 1,
  /*
   An input is beyond a limit.
   */
  SYNTAGMA_ERROR_LIMIT = 2,
  /*
   A grammar cannot be read, or means nothing, or nothing with the vocabulary.
   */
  SYNTAGMA_ERROR_GRAMMAR = 3,
  /*
   A JSON Schema is refused.
   */
  SYNTAGMA_ERROR_SCHEMA = 4,
  /*
   A vocabulary cannot be understood.
   */
  SYNTAGMA_ERROR_VOCABULARY = 5,
  /*
   A matcher failed and stays failed until it is reset, or the library made a mistake.
   */
  SYNTAGMA_ERROR_MATCHER = 6,
} SyntagmaStatus;

/*
 A grammar compiled for a vocabulary. Its masks are found when they are first needed, once for all matchers.
 */
typedef struct SyntagmaCompiled SyntagmaCompiled;

/*
 Compiles grammars for one vocabulary and caches them.
 */
typedef struct SyntagmaCompiler SyntagmaCompiler;

/*
 What may be written. Immutable.
 */
typedef struct SyntagmaGrammar SyntagmaGrammar;

/*
 Follows one text through a compiled grammar.
 */
typedef struct SyntagmaMatcher SyntagmaMatcher;

/*
 The tokens of a model. Immutable.
 */
typedef struct SyntagmaVocabulary SyntagmaVocabulary;

/*
 How the cache of a compiler fares.
 */
typedef struct {
  /*
   Requests that were answered from the cache.
   */
  uint64_t hits;
  /*
   Requests that compiled.
   */
  uint64_t misses;
  /*
   Compiled grammars in the cache.
   */
  uint64_t entries;
  /*
   Their approximate size, in bytes.
   */
  uint64_t bytes;
} SyntagmaCompilerStats;

/*
 Bytes of the caller, to be freed by syntagma_bytes_free(). A zero byte follows them, which `length` does not count.
 */
typedef struct {
  /*
   The bytes.
   */
  uint8_t *data;
  /*
   How many there are.
   */
  size_t length;
} SyntagmaBytes;

/*
 Token ids of the caller, to be freed by syntagma_tokens_free().
 */
typedef struct {
  /*
   The ids.
   */
  uint32_t *data;
  /*
   How many there are.
   */
  size_t length;
} SyntagmaTokens;

/*
 What a vocabulary is made from; it is read during the call only. A list that is NULL is empty.
 */
typedef struct {
  /*
   The bytes of all tokens, one behind the other in the order of their ids. A token without bytes is never allowed.
   */
  const uint8_t *bytes;
  /*
   The length of each token, in bytes.
   */
  const size_t *lengths;
  /*
   How many tokens there are.
   */
  size_t count;
  /*
   The tokens that end a turn. Text never matches them.
   */
  const uint32_t *eos_ids;
  /*
   How many they are.
   */
  size_t eos_count;
  /*
   Further tokens that text never matches.
   */
  const uint32_t *special_ids;
  /*
   How many they are.
   */
  size_t special_count;
  /*
   Tokens that replace a marker with exactly their text, beside the special ones.
   */
  const uint32_t *added_ids;
  /*
   How many they are.
   */
  size_t added_count;
  /*
   The width of the logits, where it is more than the tokens; else 0.
   */
  size_t vocab_size;
} SyntagmaVocabularyParts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The stable code of the last failure in this thread, `E-AREA-WHAT`; empty before the first one. The library keeps it until
 the next failure in this thread.
 */
const char *syntagma_error_code(void);

/*
 The last failure in this thread for people: code, message, place, line with a caret, and hint. The library keeps it until
 the next failure in this thread.
 */
const char *syntagma_error_text(void);

/*
 The last failure in this thread as a JSON object: `kind`, `code`, `message`, and what is known of `hint`, `line`, `column`,
 `offset`, `excerpt`, `pointer`, `pointers`, `limit`, `given`, `allowed`. The library keeps it until the next failure in this
 thread.
 */
const char *syntagma_error_json(void);

/*
 The version of the library, `MAJOR.MINOR.PATCH`. It is never freed.
 */
const char *syntagma_version(void);

/*
 Makes a compiler. The first one of a large vocabulary takes some milliseconds.

 `options` is NULL or a JSON object: `cache`, whether it remembers compiled grammars (true); `verify`, whether a second
 recogniser checks every mask and token, which is very slow (false); `limits`, an object of bounds, see
 docs/reference/limits.md. Fails with E-ARGUMENT-TYPE or E-ARGUMENT-VALUE. `*out` is freed by syntagma_compiler_free().
 */
SyntagmaStatus syntagma_compiler_new(const SyntagmaVocabulary *vocabulary, const char *options, SyntagmaCompiler **out);

/*
 Compiles a grammar, or takes it from the cache. Threads that ask for the same grammar at the same time share one
 compilation.

 Fails with E-GRAMMAR-EMPTY, no text matches; E-VOCAB-TOKEN, the vocabulary lacks a token of the grammar; E-LIMIT-…. `*out`
 is freed by syntagma_compiled_free().
 */
SyntagmaStatus syntagma_compiler_compile(const SyntagmaCompiler *compiler,
                                         const SyntagmaGrammar *grammar,
                                         SyntagmaCompiled **out);

/*
 Empties the cache. Grammars in use stay valid.
 */
SyntagmaStatus syntagma_compiler_clear(const SyntagmaCompiler *compiler);

/*
 How the cache fares so far.
 */
SyntagmaStatus syntagma_compiler_stats(const SyntagmaCompiler *compiler, SyntagmaCompilerStats *out);

/*
 Frees a compiler. What it compiled lives on.
 */
void syntagma_compiler_free(SyntagmaCompiler *compiler);

/*
 Frees a compiled grammar. Its matchers live on.
 */
void syntagma_compiled_free(SyntagmaCompiled *compiled);

/*
 How many 32-bit words a bitmask row of `vocab_size` tokens has.
 */
size_t syntagma_bitmask_words(size_t vocab_size);

/*
 Waits until no thread is at work in the library, and keeps others out. A process that forks and goes on using the library
 calls it in the thread that forks; `pthread_atfork(syntagma_before_fork, syntagma_after_fork_in_parent,
 syntagma_after_fork_in_child)` has it done for every fork.
 */
void syntagma_before_fork(void);

/*
 Lets threads in again.
 */
void syntagma_after_fork_in_parent(void);

/*
 Makes the library usable in the child, with all handles and all that they know.
 */
void syntagma_after_fork_in_child(void);

/*
 Reads a grammar from a text in a notation: `ebnf`, `gbnf`, `json_schema`, `lark`, `regex`, `structural_tag` or `xgrammar`.

 `options` is NULL or a JSON object. `limits` is an object of bounds, see docs/reference/limits.md; `start` is the start
 rule (`root` in gbnf and xgrammar, else `start`); `imports` holds the texts that lark imports, by name; `dialect` of a regex
 is `rust` or `ecma`. Those of a schema are `allow_widened`, `whitespace`, `whitespace_pattern`, `separators`, `indent`,
 `order`, `draft`, `notation` and `resources`, as docs/reference/json-schema.md says, and `strict`: objects hold only what they
 declare. In a structural tag, formats that need a
 vocabulary or a style of calls are refused: syntagma_grammar_load() takes them from Python. Fails with E-GRAMMAR-DIALECT, an
 unknown notation; E-ARGUMENT-TYPE, E-ARGUMENT-VALUE or E-SCHEMA-OPTION, an option; E-ARGUMENT-TEXT, a text is not UTF-8;
 E-GRAMMAR-…, E-REGEX-…, E-SCHEMA-… or E-LIMIT-…, the text. `*out` is freed by syntagma_grammar_free().
 */
SyntagmaStatus syntagma_grammar_read(const char *notation,
                                     const char *source,
                                     size_t length,
                                     const char *options,
                                     SyntagmaGrammar **out);

/*
 Reads a grammar that syntagma_grammar_save() wrote, or Python's `Grammar.to_bytes`.

 Fails with E-STATE-FORMAT, these are no such bytes, or damaged; E-STATE-VERSION, of another version. `*out` is freed by
 syntagma_grammar_free().
 */
SyntagmaStatus syntagma_grammar_load(const uint8_t *data, size_t length, SyntagmaGrammar **out);

/*
 The grammar as bytes, for another process or for Python's `Grammar.from_bytes`. `*out` is freed by syntagma_bytes_free().
 */
SyntagmaStatus syntagma_grammar_save(const SyntagmaGrammar *grammar,
                                     SyntagmaBytes *out);

/*
 How much of its schemas the grammar enforces, as a JSON object: `status`, `exact` or `widened`; `pointers`, the reason by the
 JSON pointer of each keyword that is not enforced; `schema`; `warnings` about the source. `*out` is freed by
 syntagma_bytes_free().
 */
SyntagmaStatus syntagma_grammar_report(const SyntagmaGrammar *grammar,
                                       SyntagmaBytes *out);

/*
 Frees a grammar.
 */
void syntagma_grammar_free(SyntagmaGrammar *grammar);

/*
 Fills one row for each of `count` matchers, on up to `threads` threads (0 and 1: this one).

 Row `indices[i]`, or `i` where `indices` is NULL, of a bitmask of `rows` rows of `stride` 32-bit words is that of matcher
 `i`; other rows stay. Fails with E-BITMASK-INDEX, a row is missing or named twice; E-BITMASK-SIZE, rows are too short; of
 the matchers' failures with the first one's.
 */
SyntagmaStatus syntagma_fill_bitmask(const SyntagmaMatcher *const *matchers,
                                     size_t count,
                                     int32_t *bitmask,
                                     size_t rows,
                                     size_t stride,
                                     const size_t *indices,
                                     size_t threads);

/*
 Fills `count + 1` rows of `stride` 32-bit words: row 0 for the present place, row `i + 1` for the place behind draft token
 `ids[i]`. Behind a token that may not come, nothing may: its row and those of its followers are zero. The matcher does not
 move.

 Token `i` follows token `parents[i]`, or the present place where that is -1; where `parents` is NULL, each token follows
 the one before it. Whether token `i` may come is written to `accepted[i]`, unless `accepted` is NULL. Fails with
 E-DRAFT-PARENT, a parent that does not come before its child; E-BITMASK-SIZE, rows are too short; E-TOKEN-ID; E-LIMIT-STEP.
 */
SyntagmaStatus syntagma_matcher_fill_draft(const SyntagmaMatcher *matcher,
                                           const uint32_t *ids,
                                           const int64_t *parents,
                                           size_t count,
                                           int32_t *bitmask,
                                           size_t stride,
                                           bool *accepted);

/*
 Accepts one token on each of `count` matchers, on up to `threads` threads (0 and 1: this one); whether it may come next is
 written to `accepted`, of which there are as many. Every matcher is tried.

 Fails with E-ARGUMENT-VALUE, a matcher is given twice; of the matchers' failures with the first one's.
 */
SyntagmaStatus syntagma_accept_tokens(SyntagmaMatcher *const *matchers,
                                      const uint32_t *ids,
                                      size_t count,
                                      size_t threads,
                                      bool *accepted);

/*
 A matcher at the start of a text.

 Fails with E-BUDGET-… for bounds that the grammar brings along and cannot keep, and E-LIMIT-…. `*out` is freed by
 syntagma_matcher_free().
 */
SyntagmaStatus syntagma_matcher_new(const SyntagmaCompiled *compiled, SyntagmaMatcher **out);

/*
 A second matcher at the same place with the same past. `*out` is freed by syntagma_matcher_free().
 */
SyntagmaStatus syntagma_matcher_fork(const SyntagmaMatcher *matcher, SyntagmaMatcher **out);

/*
 Writes which tokens may come next into a row of `words` 32-bit words: bit `i` of word `w` is token `32 w + i`, 1 is allowed.
 Words beyond the vocabulary become 0. Once the text has ended, all bits are 1.

 Fails with E-BITMASK-SIZE, the row is shorter than syntagma_bitmask_words() says; E-LIMIT-STEP.
 */
SyntagmaStatus syntagma_matcher_fill(const SyntagmaMatcher *matcher,
                                     int32_t *row,
                                     size_t words);

/*
 Takes a token if it may come next; whether it may is written to `accepted`. Where not, nothing changes.

 Fails with E-TOKEN-ID, the vocabulary has no such token; E-LIMIT-STEP.
 */
SyntagmaStatus syntagma_matcher_accept_token(SyntagmaMatcher *matcher, uint32_t id, bool *accepted);

/*
 Takes text, whole or not at all. It counts as one step, and as one token.
 */
SyntagmaStatus syntagma_matcher_accept_bytes(SyntagmaMatcher *matcher,
                                             const uint8_t *data,
                                             size_t length,
                                             bool *accepted);

/*
 Whether a token may come next. Nothing changes.
 */
SyntagmaStatus syntagma_matcher_accepts(const SyntagmaMatcher *matcher, uint32_t id, bool *accepts);

/*
 How many of the tokens, from the first on, could be accepted in this order. Nothing changes.
 */
SyntagmaStatus syntagma_matcher_validate(const SyntagmaMatcher *matcher,
                                         const uint32_t *ids,
                                         size_t count,
                                         size_t *valid);

/*
 Takes back the last steps.

 Fails with E-MATCHER-ROLLBACK, there were fewer; nothing changes then.
 */
SyntagmaStatus syntagma_matcher_rollback(SyntagmaMatcher *matcher, size_t steps);

/*
 Goes back to the start of the text, and forgets a failure.
 */
SyntagmaStatus syntagma_matcher_reset(SyntagmaMatcher *matcher);

/*
 How many steps were accepted since the start; 0 for NULL.
 */
size_t syntagma_matcher_steps(const SyntagmaMatcher *matcher);

/*
 Whether the text may end here.
 */
SyntagmaStatus syntagma_matcher_is_accepting(const SyntagmaMatcher *matcher, bool *accepting);

/*
 Whether the text has ended: a token that ends the turn was taken.
 */
SyntagmaStatus syntagma_matcher_is_terminated(const SyntagmaMatcher *matcher, bool *terminated);

/*
 The bytes that must come next, which may be none and may end inside a character. `*out` is freed by syntagma_bytes_free().
 */
SyntagmaStatus syntagma_matcher_jump_forward(const SyntagmaMatcher *matcher,
                                             SyntagmaBytes *out);

/*
 The tokens of a shortest way to a place where the text may end, without one that ends the turn; `closes` says whether there
 is a way of at most `budget` tokens (SIZE_MAX: any). `*out` is freed by syntagma_tokens_free(); without a way it is empty.
 */
SyntagmaStatus syntagma_matcher_shortest_close(const SyntagmaMatcher *matcher,
                                               size_t budget,
                                               bool *closes,
                                               SyntagmaTokens *out);

/*
 Where the labelled parts of the text lie, as a JSON object: for each label an array of `[start, end]`, in bytes. `*out` is
 freed by syntagma_bytes_free().
 */
SyntagmaStatus syntagma_matcher_captures(const SyntagmaMatcher *matcher,
                                         SyntagmaBytes *out);

/*
 What may come next, and why a token may not, as a JSON object: `expected`, an array of `rule`, `symbol` and `begun`;
 `accepting`; `terminated`; and, unless `token` is UINT32_MAX, `token`: `allowed`, `dies` (at the byte `dies_at`), `not expected`,
 `unused`, `ended` or `spent`. `*out` is freed by syntagma_bytes_free().

 Fails with E-TOKEN-ID, the vocabulary has no such token; E-LIMIT-STEP.
 */
SyntagmaStatus syntagma_matcher_explain(const SyntagmaMatcher *matcher,
                                        uint32_t token,
                                        SyntagmaBytes *out);

/*
 The matcher as bytes, for syntagma_matcher_load() in this process or another, or Python's
 `GrammarMatcher.from_state_bytes`. `*out` is freed by syntagma_bytes_free().
 */
SyntagmaStatus syntagma_matcher_save(const SyntagmaMatcher *matcher, SyntagmaBytes *out);

/*
 A matcher as it was when it was saved, with the same grammar and the same vocabulary.

 Fails with E-STATE-FORMAT, these are no such bytes, or damaged; E-STATE-VERSION; E-STATE-GRAMMAR or E-STATE-VOCABULARY, it was
 saved with another one; E-LIMIT-…. `*out` is freed by syntagma_matcher_free().
 */
SyntagmaStatus syntagma_matcher_load(const SyntagmaCompiled *compiled,
                                     const uint8_t *data,
                                     size_t length,
                                     SyntagmaMatcher **out);

/*
 Frees a matcher.
 */
void syntagma_matcher_free(SyntagmaMatcher *matcher);

/*
 Frees bytes that the library gave.
 */
void syntagma_bytes_free(SyntagmaBytes bytes);

/*
 Frees tokens that the library gave.
 */
void syntagma_tokens_free(SyntagmaTokens tokens);

/*
 Makes a vocabulary from the bytes of its tokens.

 Fails with E-VOCAB-ID, an id is outside of the tokens; E-VOCAB-SIZE, `vocab_size` is too small; E-VOCAB-LENGTH, a token of
 more than 65,535 bytes. `*out` is freed by syntagma_vocabulary_free().
 */
SyntagmaStatus syntagma_vocabulary_new(const SyntagmaVocabularyParts *parts,
                                       SyntagmaVocabulary **out);

/*
 Makes a vocabulary from the text of Hugging Face's `tokenizer.json`: byte-level, byte-fallback or metaspace.

 `eos_ids` are the tokens that end a turn, which the file does not say; `vocab_size` is the width of the logits, where it is
 more than the tokens, else 0. Fails with E-VOCAB-FILE, the text is no JSON object; E-VOCAB-MODEL, its model is not
 supported; E-VOCAB-TOKEN or E-VOCAB-ROUNDTRIP, it contradicts itself; and as syntagma_vocabulary_new(). `*out` is freed by
 syntagma_vocabulary_free().
 */
SyntagmaStatus syntagma_vocabulary_from_tokenizer_json(const char *text,
                                                       size_t length,
                                                       const uint32_t *eos_ids,
                                                       size_t eos_count,
                                                       size_t vocab_size,
                                                       SyntagmaVocabulary **out);

/*
 The width of the logits, in tokens; 0 for NULL.
 */
size_t syntagma_vocabulary_size(const SyntagmaVocabulary *vocabulary);

/*
 The bytes of a token, which belong to the vocabulary; how many they are is written to `length`. NULL for an id that is
 never allowed as text.
 */
const uint8_t *syntagma_vocabulary_token(const SyntagmaVocabulary *vocabulary, uint32_t id, size_t *length);

/*
 Frees a vocabulary.
 */
void syntagma_vocabulary_free(SyntagmaVocabulary *vocabulary);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SYNTAGMA_H */
