/* What the library promises beside masks: errors, NULL, ownership, threads, forks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syntagma.h"

static int failures;

#define CHECK(holds) \
    do { \
        if (!(holds)) failures++, printf("line %d: %s (%s)\n", __LINE__, #holds, syntagma_error_text()); \
    } while (0)

static const char ALPHABET[] = "abcdefghijklmnopqrstuvwxyz0123456789{}[]\":, \n<>-.";
enum { TOKENS = sizeof ALPHABET - 1, END = TOKENS, COUNT };

static SyntagmaVocabulary *characters(void) {
    size_t lengths[COUNT];
    unsigned char bytes[COUNT + 3];
    for (size_t i = 0; i < TOKENS; i++) lengths[i] = 1, bytes[i] = (unsigned char)ALPHABET[i];
    lengths[END] = 3;
    memcpy(bytes + END, "<e>", 3);
    uint32_t end = END;
    SyntagmaVocabularyParts parts = {.bytes = bytes, .lengths = lengths, .count = COUNT, .eos_ids = &end, .eos_count = 1};
    SyntagmaVocabulary *vocabulary;
    CHECK(syntagma_vocabulary_new(&parts, &vocabulary) == SYNTAGMA_OK);
    return vocabulary;
}

static uint32_t id(char letter) { return (uint32_t)(strchr(ALPHABET, letter) - ALPHABET); }

static SyntagmaGrammar *regex(const char *pattern) {
    SyntagmaGrammar *grammar;
    CHECK(syntagma_grammar_read("regex", pattern, strlen(pattern), NULL, &grammar) == SYNTAGMA_OK);
    return grammar;
}

static SyntagmaMatcher *matcher_of(const SyntagmaCompiler *compiler, const char *pattern) {
    SyntagmaCompiled *compiled;
    SyntagmaMatcher *matcher;
    SyntagmaGrammar *grammar = regex(pattern);
    CHECK(syntagma_compiler_compile(compiler, grammar, &compiled) == SYNTAGMA_OK);
    CHECK(syntagma_matcher_new(compiled, &matcher) == SYNTAGMA_OK);
    syntagma_compiled_free(compiled);
    syntagma_grammar_free(grammar);
    return matcher;
}

static bool fails(SyntagmaStatus done, SyntagmaStatus status, const char *code) {
    return done == status && !strcmp(syntagma_error_code(), code) && strstr(syntagma_error_json(), code) &&
           !strncmp(syntagma_error_text(), code, strlen(code));
}

static void errors(const SyntagmaVocabulary *vocabulary, const SyntagmaCompiler *compiler) {
    SyntagmaGrammar *grammar = (SyntagmaGrammar *)1;
    CHECK(fails(syntagma_grammar_read("gbnf", "root ::= (", 10, NULL, &grammar), SYNTAGMA_ERROR_GRAMMAR, "E-GRAMMAR-SYNTAX"));
    CHECK(grammar == NULL && strstr(syntagma_error_json(), "\"line\":1") && strchr(syntagma_error_text(), '^'));
    CHECK(fails(syntagma_grammar_read("json_schema", "{\"enum\": []}", 12, NULL, &grammar), SYNTAGMA_ERROR_SCHEMA, "E-SCHEMA-UNSATISFIABLE"));
    CHECK(fails(syntagma_grammar_read("regex", "aa", 2, "{\"limits\": {\"regex_bytes\": 1}}", &grammar), SYNTAGMA_ERROR_LIMIT, "E-LIMIT-REGEX-BYTES"));
    CHECK(fails(syntagma_grammar_read("regex", "\xff", 1, NULL, &grammar), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-TEXT"));
    CHECK(fails(syntagma_grammar_read(NULL, "a", 1, NULL, &grammar), SYNTAGMA_ERROR_ARGUMENT, "E-GRAMMAR-DIALECT"));
    CHECK(fails(syntagma_grammar_read("regex", "a", 1, "{", &grammar), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_grammar_read("regex", "a", 1, NULL, NULL), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_grammar_load((const uint8_t *)"SGHG?", 5, &grammar), SYNTAGMA_ERROR_ARGUMENT, "E-STATE-VERSION"));
    SyntagmaVocabulary *other = NULL;
    CHECK(fails(syntagma_vocabulary_from_tokenizer_json("{}", 2, NULL, 0, 0, &other), SYNTAGMA_ERROR_VOCABULARY, "E-VOCAB-MODEL"));
    uint32_t wrong = 7;
    SyntagmaVocabularyParts parts = {.special_ids = &wrong, .special_count = 1};
    CHECK(fails(syntagma_vocabulary_new(&parts, &other), SYNTAGMA_ERROR_VOCABULARY, "E-VOCAB-ID"));
    SyntagmaCompiler *second;
    CHECK(fails(syntagma_compiler_new(vocabulary, "{\"fast\": true}", &second), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    SyntagmaMatcher *matcher = matcher_of(compiler, "ab+");
    bool yes;
    int32_t row[8];
    size_t words = syntagma_bitmask_words(syntagma_vocabulary_size(vocabulary));
    SyntagmaBytes told;
    CHECK(syntagma_matcher_explain(matcher, id('b'), &told) == SYNTAGMA_OK);
    CHECK(strstr((char *)told.data, "\"token\":\"dies\",\"dies_at\":0") && strstr((char *)told.data, "\"rule\":\"start\""));
    syntagma_bytes_free(told);
    CHECK(syntagma_matcher_explain(matcher, UINT32_MAX, &told) == SYNTAGMA_OK && !strstr((char *)told.data, "token"));
    syntagma_bytes_free(told);
    CHECK(fails(syntagma_matcher_explain(matcher, 1000, &told), SYNTAGMA_ERROR_ARGUMENT, "E-TOKEN-ID"));
    CHECK(fails(syntagma_matcher_accept_token(matcher, 1000, &yes), SYNTAGMA_ERROR_ARGUMENT, "E-TOKEN-ID"));
    CHECK(fails(syntagma_matcher_fill(matcher, row, words - 1), SYNTAGMA_ERROR_ARGUMENT, "E-BITMASK-SIZE"));
    CHECK(fails(syntagma_matcher_fill(matcher, NULL, words), SYNTAGMA_ERROR_ARGUMENT, "E-BITMASK-SIZE"));
    CHECK(fails(syntagma_matcher_rollback(matcher, 1), SYNTAGMA_ERROR_ARGUMENT, "E-MATCHER-ROLLBACK"));
    SyntagmaMatcher *twice[] = {matcher, matcher}, *none[] = {NULL};
    uint32_t ids[] = {id('a'), id('a')};
    bool taken[2];
    CHECK(fails(syntagma_accept_tokens(twice, ids, 2, 1, taken), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_accept_tokens(none, ids, 1, 1, taken), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(syntagma_accept_tokens(twice, ids, 1, 1, taken) == SYNTAGMA_OK && taken[0]);
    CHECK(syntagma_matcher_accept_bytes(matcher, (const uint8_t *)"bb", 2, &yes) == SYNTAGMA_OK && yes);
    CHECK(syntagma_matcher_accept_bytes(matcher, (const uint8_t *)"a", 1, &yes) == SYNTAGMA_OK && !yes);
    CHECK(syntagma_matcher_accept_token(matcher, END, &yes) == SYNTAGMA_OK && yes);
    CHECK(syntagma_matcher_is_terminated(matcher, &yes) == SYNTAGMA_OK && yes);
    CHECK(syntagma_matcher_steps(matcher) == 3 && syntagma_matcher_reset(matcher) == SYNTAGMA_OK && syntagma_matcher_steps(matcher) == 0);
    /* A matcher that ran out of fuel stays failed until it is reset. */
    SyntagmaCompiler *poor;
    CHECK(syntagma_compiler_new(vocabulary, "{\"cache\": false, \"limits\": {\"step_fuel\": 1}}", &poor) == SYNTAGMA_OK);
    SyntagmaMatcher *tired = matcher_of(poor, "(a|b)*c{3}");
    SyntagmaStatus done = syntagma_matcher_accept_bytes(tired, (const uint8_t *)"abababab", 8, &yes);
    CHECK(fails(done, SYNTAGMA_ERROR_LIMIT, "E-LIMIT-STEP"));
    CHECK(syntagma_matcher_fill(tired, row, words) == SYNTAGMA_ERROR_LIMIT);
    syntagma_matcher_free(tired);
    syntagma_matcher_free(matcher);
    syntagma_compiler_free(poor);
}

static void nulls(void) {
    bool yes;
    size_t length;
    SyntagmaBytes bytes;
    SyntagmaMatcher *matcher;
    syntagma_vocabulary_free(NULL), syntagma_grammar_free(NULL), syntagma_compiler_free(NULL);
    syntagma_compiled_free(NULL), syntagma_matcher_free(NULL);
    syntagma_bytes_free((SyntagmaBytes){NULL, 0}), syntagma_tokens_free((SyntagmaTokens){NULL, 0});
    CHECK(syntagma_vocabulary_size(NULL) == 0 && syntagma_matcher_steps(NULL) == 0);
    CHECK(syntagma_vocabulary_token(NULL, 0, &length) == NULL && length == 0);
    CHECK(fails(syntagma_vocabulary_new(NULL, NULL), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_matcher_new(NULL, &matcher), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE") && !matcher);
    CHECK(fails(syntagma_matcher_is_accepting(NULL, &yes), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_matcher_save(NULL, &bytes), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(fails(syntagma_compiler_clear(NULL), SYNTAGMA_ERROR_ARGUMENT, "E-ARGUMENT-VALUE"));
    CHECK(syntagma_fill_bitmask(NULL, 0, NULL, 0, 1, NULL, 0) == SYNTAGMA_OK);
}

/* Each thread has its own last error, and all share a compiler and a compiled grammar. */
static SyntagmaCompiler *shared;
static SyntagmaCompiled *compiled;

static void *thread(void *argument) {
    size_t number = (size_t)argument;
    char pattern[32], json[64];
    SyntagmaGrammar *none;
    for (int round = 0; round < 50; round++) {
        snprintf(pattern, sizeof pattern, "(%zu", number * 1000);
        snprintf(json, sizeof json, "E-REGEX-SYNTAX");
        CHECK(fails(syntagma_grammar_read("regex", pattern, strlen(pattern), NULL, &none), SYNTAGMA_ERROR_GRAMMAR, json));
        CHECK(strstr(syntagma_error_text(), pattern) != NULL);
        SyntagmaMatcher *matcher;
        bool yes;
        int32_t row[2];
        CHECK(syntagma_matcher_new(compiled, &matcher) == SYNTAGMA_OK);
        const char *text = "{\"ab\":12}";
        for (const char *at = text; *at; at++) {
            CHECK(syntagma_matcher_fill(matcher, row, 2) == SYNTAGMA_OK);
            CHECK(row[id(*at) / 32] >> (id(*at) % 32) & 1);
            CHECK(syntagma_matcher_accept_token(matcher, id(*at), &yes) == SYNTAGMA_OK && yes);
        }
        syntagma_matcher_free(matcher);
        snprintf(pattern, sizeof pattern, "[ab]{%zu}", 1 + (number + (size_t)round) % 3);
        syntagma_matcher_free(matcher_of(shared, pattern));
    }
    return NULL;
}

static void threads(const SyntagmaVocabulary *vocabulary) {
    SyntagmaGrammar *grammar;
    const char *schema = "{\"type\": \"object\"}";
    CHECK(syntagma_compiler_new(vocabulary, NULL, &shared) == SYNTAGMA_OK);
    CHECK(syntagma_grammar_read("json_schema", schema, strlen(schema), NULL, &grammar) == SYNTAGMA_OK);
    CHECK(syntagma_compiler_compile(shared, grammar, &compiled) == SYNTAGMA_OK);
    pthread_t all[4];
    for (size_t i = 0; i < 4; i++) pthread_create(&all[i], NULL, thread, (void *)(i + 1));
    /* Forks meanwhile: the child goes on with everything. */
    for (int round = 0; round < 5; round++) {
        pid_t child = fork();
        if (child == 0) {
            failures = 0;
            thread((void *)9);
            /* Without an end of the program, at which leaks would be looked for. */
            if (!failures) execlp("true", "true", (char *)NULL);
            _exit(1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (size_t i = 0; i < 4; i++) pthread_join(all[i], NULL);
    SyntagmaCompilerStats stats;
    CHECK(syntagma_compiler_stats(shared, &stats) == SYNTAGMA_OK && stats.misses == 4 && stats.hits >= 190);
    CHECK(syntagma_compiler_clear(shared) == SYNTAGMA_OK);
    CHECK(syntagma_compiler_stats(shared, &stats) == SYNTAGMA_OK && stats.entries == 0);
    syntagma_compiled_free(compiled);
    syntagma_compiler_free(shared);
    syntagma_grammar_free(grammar);
}

/* Handles may be freed in any order. */
static void ownership(void) {
    SyntagmaVocabulary *vocabulary = characters();
    SyntagmaCompiler *compiler;
    CHECK(syntagma_compiler_new(vocabulary, NULL, &compiler) == SYNTAGMA_OK);
    SyntagmaMatcher *matcher = matcher_of(compiler, "a|bc");
    syntagma_vocabulary_free(vocabulary);
    syntagma_compiler_free(compiler);
    bool yes;
    SyntagmaBytes bytes;
    CHECK(syntagma_matcher_accept_token(matcher, id('b'), &yes) == SYNTAGMA_OK && yes);
    CHECK(syntagma_matcher_jump_forward(matcher, &bytes) == SYNTAGMA_OK);
    CHECK(!strcmp((char *)bytes.data, "c") && bytes.length == 1);
    syntagma_matcher_free(matcher);
    syntagma_bytes_free(bytes);
}

int main(void) {
    CHECK(!*syntagma_error_code() && !*syntagma_error_text() && !*syntagma_error_json());
    pthread_atfork(syntagma_before_fork, syntagma_after_fork_in_parent, syntagma_after_fork_in_child);
    SyntagmaVocabulary *vocabulary = characters();
    SyntagmaCompiler *compiler;
    CHECK(syntagma_compiler_new(vocabulary, "", &compiler) == SYNTAGMA_OK);
    errors(vocabulary, compiler);
    nulls();
    threads(vocabulary);
    ownership();
    syntagma_compiler_free(compiler);
    syntagma_vocabulary_free(vocabulary);
    printf("version %s, %d failures\n", syntagma_version(), failures);
    return failures > 0;
}
