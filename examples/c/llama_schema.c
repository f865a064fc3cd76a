/*
 * A decode loop over llama.cpp whose answer follows a JSON Schema:
 *
 *     cc llama_schema.c $(pkg-config --cflags --libs syntagma) -I…/llama.cpp/include -I…/llama.cpp/ggml/include -lllama
 *     ./a.out model.gguf '{"type": "object"}' 'Describe Oslo as JSON: '
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llama.h"
#include "syntagma.h"

/* Ends the program where a call failed, with what the library says about it. */
static void check(SyntagmaStatus done) {
    if (done == SYNTAGMA_OK) return;
    fprintf(stderr, "%s\n", syntagma_error_text());
    exit(1);
}

/* The model's tokens as bytes. */
static SyntagmaVocabulary *vocabulary_of(const struct llama_vocab *vocab) {
    size_t count = (size_t)llama_vocab_n_tokens(vocab), size = 0, specials = 0, ends = 0;
    unsigned char *bytes = malloc(count * 1024);
    size_t *lengths = malloc(count * sizeof *lengths);
    uint32_t *special_ids = malloc(count * sizeof *special_ids), *eos_ids = malloc(count * sizeof *eos_ids);
    for (uint32_t id = 0; id < count; id++) {
        int length = llama_token_to_piece(vocab, (llama_token)id, (char *)bytes + size, 1024, 0, true);
        lengths[id] = length > 0 ? (size_t)length : 0;
        size += lengths[id];
        if (llama_vocab_is_eog(vocab, (llama_token)id)) eos_ids[ends++] = id;
        else if (llama_vocab_is_control(vocab, (llama_token)id)) special_ids[specials++] = id;
    }
    SyntagmaVocabularyParts parts = {.bytes = bytes, .lengths = lengths, .count = count, .eos_ids = eos_ids,
                                     .eos_count = ends, .special_ids = special_ids, .special_count = specials};
    SyntagmaVocabulary *vocabulary;
    check(syntagma_vocabulary_new(&parts, &vocabulary));
    free(bytes), free(lengths), free(special_ids), free(eos_ids);
    return vocabulary;
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: %s MODEL SCHEMA PROMPT\n", arguments[0]), 2;
    const char *schema = arguments[2], *prompt = arguments[3];
    struct llama_model *model = llama_model_load_from_file(arguments[1], llama_model_default_params());
    if (!model) return 1;
    struct llama_context *context = llama_init_from_model(model, llama_context_default_params());
    const struct llama_vocab *vocab = llama_model_get_vocab(model);

    SyntagmaVocabulary *vocabulary = vocabulary_of(vocab);
    SyntagmaCompiler *compiler;
    SyntagmaGrammar *grammar;
    SyntagmaCompiled *compiled;
    SyntagmaMatcher *matcher;
    check(syntagma_compiler_new(vocabulary, NULL, &compiler));
    check(syntagma_grammar_read("json_schema", schema, strlen(schema), "{\"whitespace\": \"compact\"}", &grammar));
    check(syntagma_compiler_compile(compiler, grammar, &compiled));
    check(syntagma_matcher_new(compiled, &matcher));

    llama_token tokens[512];
    int length = llama_tokenize(vocab, prompt, (int)strlen(prompt), tokens, 512, true, false);
    size_t size = syntagma_vocabulary_size(vocabulary), words = syntagma_bitmask_words(size);
    int32_t *row = malloc(words * sizeof *row);
    for (int steps = 0; length > 0 && steps < 256; steps++) {
        if (llama_decode(context, llama_batch_get_one(tokens, length))) break;
        const float *logits = llama_get_logits_ith(context, -1);
        check(syntagma_matcher_fill(matcher, row, words));
        llama_token best = -1;
        for (size_t id = 0; id < size; id++) {
            bool allowed = (uint32_t)row[id / 32] >> id % 32 & 1;
            if (allowed && (best < 0 || logits[id] > logits[best])) best = (llama_token)id;
        }
        bool taken, ended;
        check(syntagma_matcher_accept_token(matcher, (uint32_t)best, &taken));
        check(syntagma_matcher_is_terminated(matcher, &ended));
        if (!taken || ended) break;
        char piece[1024];
        fwrite(piece, 1, (size_t)llama_token_to_piece(vocab, best, piece, sizeof piece, 0, true), stdout);
        tokens[0] = best, length = 1;
    }
    puts("");

    free(row);
    syntagma_matcher_free(matcher), syntagma_compiled_free(compiled), syntagma_grammar_free(grammar);
    syntagma_compiler_free(compiler), syntagma_vocabulary_free(vocabulary);
    llama_free(context);
    llama_model_free(model);
    return 0;
}
