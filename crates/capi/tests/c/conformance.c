/* Runs conformance/hosts/cases.jsonl: conformance CASES TOKENIZER_JSON */
#include "json.h"
#include "syntagma.h"

static int failures;
static const char *name = "";

static void check(bool holds, const char *what) {
    if (holds) return;
    failures++;
    printf("%s: %s (%s)\n", name, what, syntagma_error_text());
}

static unsigned fnv(const int32_t *row, size_t words) {
    unsigned hash = 0x811C9DC5;
    for (size_t word = 0; word < words; word++) {
        for (int byte = 0; byte < 4; byte++) hash = (hash ^ ((uint32_t)row[word] >> 8 * byte & 255)) * 0x01000193;
    }
    return hash;
}

static SyntagmaVocabulary *vocabulary_of(const char *line, const char *path) {
    SyntagmaVocabulary *vocabulary = NULL;
    size_t eos_count, size = (size_t)atol(json_member(line, "vocab_size"));
    unsigned *eos = json_numbers(json_member(line, "eos_ids"), &eos_count);
    const char *tokens = json_member(line, "tokens");
    if (tokens) {
        size_t room = (size_t)(json_end(tokens) - tokens), special_count, added_count;
        unsigned char *bytes = malloc(room);
        size_t *lengths = malloc(room * sizeof *lengths), count = 0, total = 0;
        for (const char *item = NULL; (item = json_next(tokens, item)); count++) {
            unsigned char *token = json_hex(item, &lengths[count]);
            memcpy(bytes + total, token, lengths[count]);
            total += lengths[count];
            free(token);
        }
        unsigned *special = json_numbers(json_member(line, "special_ids"), &special_count);
        unsigned *added = json_numbers(json_member(line, "added_ids"), &added_count);
        SyntagmaVocabularyParts parts = {bytes,   lengths,       count, eos,         eos_count,
                                         special, special_count, added, added_count, size};
        check(syntagma_vocabulary_new(&parts, &vocabulary) == SYNTAGMA_OK, "the vocabulary is refused");
        size_t length;
        const unsigned char *token = syntagma_vocabulary_token(vocabulary, 'a', &length);
        check(length == 1 && *token == 'a', "token a");
        free(bytes), free(lengths), free(special), free(added);
    } else {
        size_t length;
        char *text = read_file(path, &length);
        SyntagmaStatus done =
            syntagma_vocabulary_from_tokenizer_json(text, length, eos, eos_count, size, &vocabulary);
        check(done == SYNTAGMA_OK, "tokenizer.json is refused");
        free(text);
    }
    free(eos);
    return vocabulary;
}

static void check_report(const char *line, const SyntagmaGrammar *grammar) {
    const char *expected = json_member(line, "report");
    size_t length = (size_t)(json_end(expected) - expected) - 1; /* without the last brace: more follows here */
    SyntagmaBytes report;
    check(syntagma_grammar_report(grammar, &report) == SYNTAGMA_OK, "report");
    check(!strncmp((char *)report.data, expected, length), "another report");
    syntagma_bytes_free(report);
}

static void check_close(const char *close, const SyntagmaMatcher *matcher) {
    bool closes;
    SyntagmaTokens way;
    check(syntagma_matcher_shortest_close(matcher, SIZE_MAX, &closes, &way) == SYNTAGMA_OK, "close");
    const char *expected = json_member(close, "tokens");
    check(closes == (*expected == '['), "another answer to whether it closes");
    if (closes) {
        size_t count;
        unsigned *ids = json_numbers(expected, &count);
        check(count == way.length && !memcmp(ids, way.data, count * sizeof *ids), "another way to the end");
        free(ids);
    }
    syntagma_tokens_free(way);
}

/* Whether a matcher that was saved, or forked, goes on like this one. */
static void check_saved(const SyntagmaCompiled *compiled, const SyntagmaMatcher *matcher, int32_t *row, size_t words) {
    SyntagmaBytes state;
    SyntagmaMatcher *again = NULL, *fork = NULL;
    unsigned hash = fnv(row, words);
    check(syntagma_matcher_save(matcher, &state) == SYNTAGMA_OK, "save");
    check(syntagma_matcher_load(compiled, state.data, state.length, &again) == SYNTAGMA_OK, "load");
    check(syntagma_matcher_fork(matcher, &fork) == SYNTAGMA_OK, "fork");
    const SyntagmaMatcher *both[] = {again, fork};
    int32_t *rows = calloc(2 * words, sizeof *rows);
    check(syntagma_fill_bitmask(both, 2, rows, 2, words, NULL, 2) == SYNTAGMA_OK, "fill many");
    check(fnv(rows, words) == hash && fnv(rows + words, words) == hash, "another mask after saving");
    free(rows);
    syntagma_bytes_free(state);
    syntagma_matcher_free(again);
    syntagma_matcher_free(fork);
}

/* Whether the masks of a draft are those that come one by one; behind a token that is refused, here the child of the first
   place, nothing may come. */
static void check_draft(const SyntagmaMatcher *matcher, const unsigned *tokens, size_t count, unsigned refused,
                        const char *masks, size_t words) {
    int32_t *rows = calloc((count + 2) * words, sizeof *rows);
    unsigned *ids = calloc(count + 1, sizeof *ids);
    int64_t *parents = calloc(count + 1, sizeof *parents);
    bool *accepted = calloc(count + 1, sizeof *accepted);
    const char *mask = NULL;
    for (size_t i = 0; i < count; i++) ids[i] = tokens[i], parents[i] = (int64_t)i - 1;
    ids[count] = refused, parents[count] = -1;
    size_t asked = refused == (unsigned)-1 ? count : count + 1;
    check(syntagma_matcher_fill_draft(matcher, ids, parents, asked, rows, words, accepted) == SYNTAGMA_OK, "a draft");
    for (size_t i = 0; i <= count; i++) {
        mask = json_next(masks, mask);
        check(fnv(rows + i * words, words) == strtoul(mask + 1, NULL, 16), "another mask in a draft");
        check(i == count || accepted[i], "a token of a draft is not taken");
    }
    for (size_t i = 0; asked > count && i < words; i++) check(!rows[(count + 1) * words + i], "more behind a refused token");
    check(asked == count || !accepted[count], "a refused token is taken");
    free(rows), free(ids), free(parents), free(accepted);
}

static void walk(const char *line, const SyntagmaVocabulary *vocabulary, const SyntagmaCompiled *compiled) {
    SyntagmaMatcher *matcher = NULL;
    size_t words = syntagma_bitmask_words(syntagma_vocabulary_size(vocabulary)), count, length, place;
    int32_t *row = malloc(words * sizeof *row);
    unsigned *tokens = json_numbers(json_member(line, "tokens"), &count);
    unsigned *refused = json_numbers(json_member(line, "refused"), &length);
    const char *mask = NULL, *masks = json_member(line, "masks"), *ends = json_member(line, "ends") + 1;
    const char *close = json_member(line, "close");
    SyntagmaBytes jump, captures;
    bool yes;

    check(syntagma_matcher_new(compiled, &matcher) == SYNTAGMA_OK, "a matcher");
    check(syntagma_matcher_validate(matcher, tokens, count, &length) == SYNTAGMA_OK && length == count, "validate");
    check_draft(matcher, tokens, count, count ? refused[0] : (unsigned)-1, masks, words);
    unsigned char *expected = json_hex(json_member(line, "jump"), &length);
    check(syntagma_matcher_jump_forward(matcher, &jump) == SYNTAGMA_OK, "jump");
    check(jump.length == length && !memcmp(jump.data, expected, length), "another jump");
    for (place = 0; place <= count; place++) {
        mask = json_next(masks, mask);
        check(syntagma_matcher_fill(matcher, row, words) == SYNTAGMA_OK, "fill");
        check(fnv(row, words) == strtoul(mask + 1, NULL, 16), "another mask");
        check(syntagma_matcher_is_accepting(matcher, &yes) == SYNTAGMA_OK, "is accepting");
        check(yes == (ends[place] == '1'), "another answer to whether the text may end");
        if (place == (size_t)atol(json_member(close, "at"))) check_close(close, matcher);
        if (place == count / 2) check_saved(compiled, matcher, row, words);
        if (place == count) break;
        if (refused[place] != (unsigned)-1) {
            check(syntagma_matcher_accept_token(matcher, refused[place], &yes) == SYNTAGMA_OK && !yes, "not refused");
        }
        check(syntagma_matcher_accepts(matcher, tokens[place], &yes) == SYNTAGMA_OK && yes, "accepts");
        check(syntagma_matcher_accept_token(matcher, tokens[place], &yes) == SYNTAGMA_OK && yes, "not taken");
    }
    check(syntagma_matcher_captures(matcher, &captures) == SYNTAGMA_OK, "captures");
    char *spans = json_text(json_member(line, "captures"), NULL);
    check(!strcmp((char *)captures.data, spans), "other captures");
    check(syntagma_matcher_steps(matcher) == count, "steps");
    check(syntagma_matcher_rollback(matcher, count) == SYNTAGMA_OK, "rollback");
    check(syntagma_matcher_fill(matcher, row, words) == SYNTAGMA_OK, "fill");
    check(fnv(row, words) == strtoul(json_next(masks, NULL) + 1, NULL, 16), "another mask after rolling back");
    syntagma_bytes_free(jump);
    syntagma_bytes_free(captures);
    syntagma_matcher_free(matcher);
    free(row), free(tokens), free(refused), free(expected), free(spans);
}

static void run(const char *line, const SyntagmaVocabulary *vocabulary, const SyntagmaCompiler *compiler) {
    SyntagmaGrammar *grammar = NULL;
    SyntagmaCompiled *compiled = NULL;
    size_t length = 0;
    char *source = json_text(json_member(line, "source"), &length);
    char *notation = json_text(json_member(line, "notation"), NULL);
    char *options = json_text(json_member(line, "options"), NULL);
    char *error = json_text(json_member(line, "error"), NULL);
    const char *saved = json_member(line, "saved");
    SyntagmaStatus done;
    if (saved) {
        unsigned char *bytes = json_hex(saved, &length);
        done = syntagma_grammar_load(bytes, length, &grammar);
        free(bytes);
    } else {
        done = syntagma_grammar_read(notation, source, length, options, &grammar);
    }
    if (done == SYNTAGMA_OK) done = syntagma_compiler_compile(compiler, grammar, &compiled);
    if (error) {
        check(done != SYNTAGMA_OK && !compiled, "not refused");
        check(!strcmp(syntagma_error_code(), error), error);
    } else if (done == SYNTAGMA_OK) {
        check_report(line, grammar);
        syntagma_grammar_free(grammar);
        grammar = NULL;
        walk(line, vocabulary, compiled);
    } else {
        check(false, "refused");
    }
    syntagma_grammar_free(grammar);
    syntagma_compiled_free(compiled);
    free(source), free(notation), free(options), free(error);
}

int main(int count, char **arguments) {
    size_t length, cases = 0, known = 0;
    if (count != 3) return fputs("usage: conformance CASES TOKENIZER_JSON\n", stderr), 2;
    char *text = read_file(arguments[1], &length), *names[8];
    SyntagmaVocabulary *vocabularies[8];
    SyntagmaCompiler *compilers[8];
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        char *given = json_text(json_member(line, "name"), NULL);
        char *vocabulary = json_text(json_member(line, "vocabulary"), NULL);
        if (!given) {
            names[known] = vocabulary;
            vocabularies[known] = vocabulary_of(line, arguments[2]);
            check(!syntagma_compiler_new(vocabularies[known], NULL, &compilers[known]), "a compiler");
            known++;
            continue;
        }
        size_t which = 0;
        while (strcmp(names[which], vocabulary)) which++;
        name = given;
        run(line, vocabularies[which], compilers[which]);
        cases++;
        free(given), free(vocabulary);
    }
    for (size_t i = 0; i < known; i++) {
        syntagma_compiler_free(compilers[i]);
        syntagma_vocabulary_free(vocabularies[i]);
        free(names[i]);
    }
    free(text);
    printf("%zu cases, %d failures\n", cases, failures);
    return failures > 0;
}
