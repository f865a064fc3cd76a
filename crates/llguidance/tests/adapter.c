/* Calls in the order in which llama.cpp's adapter makes them. */
#include <stdio.h>
#include <string.h>

#include "llguidance.h"

static int failures;

#define CHECK(holds) \
    do { \
        if (!(holds)) failures++, printf("line %d: %s\n", __LINE__, #holds); \
    } while (0)

enum { A, B, BRACE, CLOSE, AB, CALL, EMPTY, END, COUNT };

static LlgTokenizer *tokenizer_of(const unsigned *lengths, char *error, size_t size) {
    LlgTokenizerInit init = {
        .vocab_size = COUNT,
        .tok_eos = END,
        .token_lens = lengths,
        .token_bytes = (const unsigned char *)"ab{}ab\xff<call>\xff</s>",
        .tokenize_assumes_string = true,
    };
    return llg_new_tokenizer(&init, error, size);
}

static LlgMatcher *matcher_of(const LlgTokenizer *tokenizer, const char *kind, const char *data) {
    LlgConstraintInit init;
    llg_constraint_init_set_defaults(&init, tokenizer);
    init.log_stderr_level = 3;
    return llg_new_matcher(&init, kind, data);
}

static unsigned mask_of(LlgMatcher *matcher) {
    if (!llg_matcher_get_mask(matcher)) CHECK(llg_matcher_compute_mask(matcher) == 0);
    return *llg_matcher_get_mask(matcher);
}

int main(void) {
    const unsigned lengths[COUNT] = {1, 1, 1, 1, 2, 7, 0, 5};
    char error[64];
    LlgTokenizer *first = tokenizer_of(lengths, error, sizeof error);
    LlgTokenizer *tokenizer = llg_clone_tokenizer(first);
    llg_free_tokenizer(first);

    LlgMatcher *matcher = matcher_of(tokenizer, "lark", "%llguidance {}\nstart: \"a\" \"b\"* <call>");
    CHECK(!llg_matcher_get_error(matcher));
    CHECK(llg_matcher_get_mask_byte_size(matcher) == 4 && !llg_matcher_get_mask(matcher));
    CHECK(mask_of(matcher) == (1u << A | 1u << AB));
    CHECK(llg_matcher_consume_token(matcher, AB) == 0 && !llg_matcher_get_mask(matcher));
    CHECK(mask_of(matcher) == (1u << B | 1u << CALL));
    LlgMatcher *other = llg_clone_matcher(matcher);
    CHECK(llg_matcher_consume_token(matcher, CALL) == 0 && mask_of(matcher) == 1u << END);
    CHECK(llg_matcher_consume_token(matcher, END) == 0 && mask_of(matcher) == 1u << END);
    CHECK(llg_matcher_consume_token(matcher, END) == 0);
    /* A token that may not come is an error until the matcher is reset. */
    CHECK(mask_of(other) == (1u << B | 1u << CALL) && llg_matcher_consume_token(other, BRACE) == -1);
    CHECK(strstr(llg_matcher_get_error(other), "token 2 may not come next"));
    CHECK(!llg_matcher_get_mask(other) && llg_matcher_compute_mask(other) == -1);
    CHECK(llg_matcher_reset(other) == 0 && !llg_matcher_get_error(other) && mask_of(other) == (1u << A | 1u << AB));
    llg_free_matcher(matcher);
    llg_free_matcher(other);

    matcher = matcher_of(tokenizer, "json", "{\"type\": \"object\", \"additionalProperties\": false}");
    CHECK(!llg_matcher_get_error(matcher) && mask_of(matcher) == 1u << BRACE);
    llg_free_matcher(matcher);
    matcher = matcher_of(tokenizer, "regex", "(ab)+");
    CHECK(mask_of(matcher) == (1u << A | 1u << AB));
    llg_free_matcher(matcher);

    matcher = matcher_of(tokenizer, "lark", "start: /(/");
    CHECK(strstr(llg_matcher_get_error(matcher), "E-REGEX-SYNTAX") && llg_matcher_compute_mask(matcher) == -1);
    CHECK(llg_matcher_reset(matcher) == -1 && llg_matcher_get_error(matcher));
    llg_free_matcher(matcher);
    matcher = matcher_of(tokenizer, "llguidance", "{}");
    CHECK(strstr(llg_matcher_get_error(matcher), "E-GRAMMAR-DIALECT"));
    llg_free_matcher(matcher);
    matcher = matcher_of(NULL, "regex", "a");
    CHECK(llg_matcher_get_error(matcher));
    llg_free_matcher(matcher);
    llg_free_tokenizer(tokenizer);

    memset(error, 'x', sizeof error);
    LlgTokenizerInit wrong = {.vocab_size = 1, .tok_eos = 5, .token_lens = lengths, .token_bytes = (const unsigned char *)"a"};
    CHECK(!llg_new_tokenizer(&wrong, error, 12) && !strcmp(error, "E-VOCAB-ID:"));
    CHECK(!llg_new_tokenizer(NULL, NULL, 0));
    llg_free_tokenizer(NULL);
    llg_free_matcher(NULL);
    CHECK(llg_matcher_compute_mask(NULL) == -1 && !llg_matcher_get_mask(NULL) && !llg_clone_matcher(NULL));
    printf("%d failures\n", failures);
    return failures > 0;
}
