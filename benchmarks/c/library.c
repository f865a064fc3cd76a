/*
 * Compiles schemas and reads documents, by one library: library INPUT ROUNDS. With PEER, by llguidance.
 *
 * Writes a line for each schema and round: its number, and microseconds of CPU for compiling, the first mask, and, over all
 * documents, masks the first and the second time, and how many they are. A schema that is refused has only its number.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PEER
/* Of its header, what is used; the structure is longer than it is here. */
typedef struct LlgTokenizer LlgTokenizer;
typedef struct LlgMatcher LlgMatcher;
typedef struct {
    uint32_t vocab_size, tok_eos;
    const uint32_t *token_lens;
    const uint8_t *token_bytes;
    const char *tokenizer_json;
    bool tokenize_assumes_string;
    size_t (*tokenize_fn)(const void *, const uint8_t *, size_t, uint32_t *, size_t);
    bool use_approximate_greedy_tokenize_fn;
    const void *tokenize_user_data;
    const char *const *slices;
} LlgTokenizerInit;
typedef union { const LlgTokenizer *tokenizer; char room[1024]; } LlgConstraintInit;
LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *, char *, size_t);
void llg_constraint_init_set_defaults(LlgConstraintInit *, const LlgTokenizer *);
LlgMatcher *llg_new_matcher(const LlgConstraintInit *, const char *, const char *);
const char *llg_matcher_get_error(const LlgMatcher *);
void llg_free_matcher(LlgMatcher *);
int32_t llg_matcher_reset(LlgMatcher *);
int32_t llg_matcher_compute_mask(LlgMatcher *);
const uint32_t *llg_matcher_get_mask(const LlgMatcher *);
int32_t llg_matcher_consume_token(LlgMatcher *, uint32_t);

static LlgTokenizer *tokenizer;
static LlgMatcher *matcher;

static void prepare(uint32_t count, const uint32_t *lengths, const uint8_t *bytes, const uint8_t *special, uint32_t end) {
    size_t size = 0, from = 0;
    for (uint32_t i = 0; i < count; i++) size += lengths[i] + special[i];
    uint8_t *marked = malloc(size + 1), *at = marked;
    uint32_t *lens = malloc(count * sizeof *lens);
    for (uint32_t i = 0; i < count; i++) {
        if (special[i]) *at++ = 0xFF;
        memcpy(at, bytes + from, lengths[i]);
        at += lengths[i], from += lengths[i], lens[i] = lengths[i] + special[i];
    }
    LlgTokenizerInit init = {.vocab_size = count, .tok_eos = end, .token_lens = lens, .token_bytes = marked,
                             .use_approximate_greedy_tokenize_fn = true};
    char error[1000];
    tokenizer = llg_new_tokenizer(&init, error, sizeof error);
    if (!tokenizer) fprintf(stderr, "%s\n", error), exit(1);
}

static bool compile(const char *schema) {
    LlgConstraintInit init;
    llg_constraint_init_set_defaults(&init, tokenizer);
    memset(init.room + sizeof tokenizer, 0, 8); /* it logs nothing */
    matcher = llg_new_matcher(&init, "json", schema);
    return !llg_matcher_get_error(matcher);
}

static const int32_t *mask(void) {
    llg_matcher_compute_mask(matcher);
    return (const int32_t *)llg_matcher_get_mask(matcher);
}

static bool accept(uint32_t token) { return llg_matcher_consume_token(matcher, token) == 0; }
static void reset(void) { llg_matcher_reset(matcher); }
static void done(void) { llg_free_matcher(matcher); }
#else
#include "syntagma.h"

static SyntagmaCompiler *compiler;
static SyntagmaMatcher *matcher;
static int32_t *row;
static size_t words;

static void prepare(uint32_t count, const uint32_t *lengths, const uint8_t *bytes, const uint8_t *special, uint32_t end) {
    SyntagmaVocabulary *vocabulary;
    size_t *sizes = malloc(count * sizeof *sizes), specials = 0;
    uint32_t *ids = malloc(count * sizeof *ids);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = lengths[i];
        if (special[i]) ids[specials++] = i;
    }
    SyntagmaVocabularyParts parts = {.bytes = bytes, .lengths = sizes, .count = count, .eos_ids = &end, .eos_count = 1,
                                     .special_ids = ids, .special_count = specials};
    if (syntagma_vocabulary_new(&parts, &vocabulary) || syntagma_compiler_new(vocabulary, NULL, &compiler))
        fprintf(stderr, "%s\n", syntagma_error_text()), exit(1);
    words = syntagma_bitmask_words(count);
    row = malloc(words * sizeof *row);
}

static bool compile(const char *schema) {
    SyntagmaGrammar *grammar;
    SyntagmaCompiled *compiled = NULL;
    bool made = !syntagma_grammar_read("json_schema", schema, strlen(schema), NULL, &grammar) &&
                !syntagma_compiler_compile(compiler, grammar, &compiled) && !syntagma_matcher_new(compiled, &matcher);
    syntagma_grammar_free(grammar), syntagma_compiled_free(compiled);
    return made;
}

static const int32_t *mask(void) {
    syntagma_matcher_fill(matcher, row, words);
    return row;
}

static bool accept(uint32_t token) {
    bool taken = false;
    return !syntagma_matcher_accept_token(matcher, token, &taken) && taken;
}
static void reset(void) { syntagma_matcher_reset(matcher); }
static void done(void) { syntagma_matcher_free(matcher), syntagma_compiler_clear(compiler); }
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static const uint8_t *input;

static uint32_t number(void) {
    uint32_t found;
    memcpy(&found, input, 4);
    return input += 4, found;
}

/* Reads documents; microseconds of all masks but the first, which was asked for before. */
static double documents(const uint8_t *from, size_t *masks, bool *refused) {
    double spent = 0;
    input = from;
    for (uint32_t left = number(); left > 0; left--) {
        reset();
        uint32_t count = number();
        for (uint32_t i = 0; i < count; i++) {
            double start = now();
            const int32_t *found = mask();
            spent += now() - start;
            uint32_t token = number();
            if (*refused) continue;
            *refused = !found || !(found[token / 32] >> (token % 32) & 1) || !accept(token);
            *masks += 1;
        }
    }
    return spent;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    FILE *file = fopen(arguments[1], "rb");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *all = malloc(size);
    if (fread(all, 1, size, file) != size) return 2;
    input = all;
    uint32_t tokens = number(), end = number(), schemas = number(), bytes = number();
    const uint32_t *lengths = (const uint32_t *)(const void *)input;
    const uint8_t *special = input + tokens * 4, *texts = special + tokens;
    prepare(tokens, lengths, texts, special, end);
    for (int round = atoi(arguments[2]); round > 0; round--) {
        input = texts + bytes;
        for (uint32_t schema = 0; schema < schemas; schema++) {
            uint32_t length = number(), rest = number();
            const char *source = (const char *)input;
            const uint8_t *from = input + length, *next = from + rest;
            double start = now();
            bool made = compile(source), refused = false;
            double compiled = now();
            printf("%u", schema);
            if (made) {
                mask();
                double first = now() - compiled;
                size_t masks = 0, again = 0;
                double new_masks = documents(from, &masks, &refused), known = documents(from, &again, &refused);
                if (!refused) printf(" %f %f %f %f %zu", compiled - start, first, new_masks, known, masks);
                done();
            }
            puts("");
            input = next;
        }
    }
    return 0;
}
