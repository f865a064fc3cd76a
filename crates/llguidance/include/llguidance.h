/*
 * What llama.cpp's adapter (common/llguidance.cpp, with LLAMA_USE_LLGUIDANCE) calls of llguidance, done by Syntagma.
 * The page is docs/c.md. The structures have the adapter's fields in its order; others of llguidance are not there.
 */
#ifndef LLGUIDANCE_H
#define LLGUIDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LlgTokenizer LlgTokenizer;
typedef struct LlgMatcher LlgMatcher;

typedef size_t (*LlgTokenizeFn)(const void *user_data, const uint8_t *bytes, size_t length, uint32_t *tokens, size_t room);

typedef struct {
    uint32_t vocab_size;
    uint32_t tok_eos;
    const uint32_t *token_lens;  /* bytes of each token */
    const uint8_t *token_bytes;  /* of all tokens; a special one begins with 0xff, which is no part of it */
    const char *tokenizer_json;  /* instead of the two, the text of a tokenizer.json; or NULL */
    bool tokenize_assumes_string; /* from here on nothing is looked at */
    LlgTokenizeFn tokenize_fn;
    bool use_approximate_greedy_tokenize_fn;
    const void *tokenize_user_data;
    const char *const *slices;
} LlgTokenizerInit;

typedef struct {
    const LlgTokenizer *tokenizer;
    uint32_t log_buffer_level; /* from here on nothing is looked at */
    uint32_t log_stderr_level;
    bool ff_tokens_ok;
    bool backtrack_ok;
} LlgConstraintInit;

/* NULL and a text in `error`, if it fails. Every clone is freed on its own. */
LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *init, char *error, size_t error_length);
LlgTokenizer *llg_clone_tokenizer(const LlgTokenizer *tokenizer);
void llg_free_tokenizer(LlgTokenizer *tokenizer);

void llg_constraint_init_set_defaults(LlgConstraintInit *init, const LlgTokenizer *tokenizer);

/* `kind` is `lark`, `json` or `regex`, or another notation of syntagma_grammar_read(). Never NULL: ask for the error. */
LlgMatcher *llg_new_matcher(const LlgConstraintInit *init, const char *kind, const char *data);
LlgMatcher *llg_clone_matcher(const LlgMatcher *matcher);
void llg_free_matcher(LlgMatcher *matcher);

/* NULL if there is none; a matcher that has one stays as it is until it is reset, one that was never made for good. */
const char *llg_matcher_get_error(const LlgMatcher *matcher);

/* 0, or -1 and an error. The mask is the matcher's, until a token is taken; NULL before it is computed. */
int32_t llg_matcher_compute_mask(LlgMatcher *matcher);
const uint32_t *llg_matcher_get_mask(const LlgMatcher *matcher);
size_t llg_matcher_get_mask_byte_size(const LlgMatcher *matcher);

int32_t llg_matcher_consume_token(LlgMatcher *matcher, uint32_t token);
int32_t llg_matcher_reset(LlgMatcher *matcher);

#ifdef __cplusplus
}
#endif

#endif
