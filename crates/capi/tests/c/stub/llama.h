/* What examples/c/llama_schema.c calls of llama.cpp, over a model that likes late letters and long texts. */
#ifndef LLAMA_H
#define LLAMA_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LETTERS = 128, CONTROL = LETTERS, END, COUNT };

typedef int32_t llama_token;
struct llama_vocab { char nothing; };
struct llama_model { struct llama_vocab vocab; };
struct llama_context { float logits[COUNT]; };
struct llama_model_params { int nothing; };
struct llama_context_params { int nothing; };
struct llama_batch { llama_token *tokens; int count; };

static struct llama_model llama_the_model;
static struct llama_context llama_the_context;

static struct llama_model_params llama_model_default_params(void) { return (struct llama_model_params){0}; }
static struct llama_context_params llama_context_default_params(void) { return (struct llama_context_params){0}; }
static struct llama_model *llama_model_load_from_file(const char *path, struct llama_model_params params) {
    return params.nothing == 0 && !strcmp(path, "model.gguf") ? &llama_the_model : NULL;
}
static struct llama_context *llama_init_from_model(struct llama_model *model, struct llama_context_params params) {
    return model && params.nothing == 0 ? &llama_the_context : NULL;
}
static const struct llama_vocab *llama_model_get_vocab(const struct llama_model *model) { return &model->vocab; }
static int llama_vocab_n_tokens(const struct llama_vocab *vocab) { return vocab ? COUNT : 0; }
static bool llama_vocab_is_eog(const struct llama_vocab *vocab, llama_token token) { return vocab && token == END; }
static bool llama_vocab_is_control(const struct llama_vocab *vocab, llama_token token) { return vocab && token >= CONTROL; }
static int llama_token_to_piece(const struct llama_vocab *vocab, llama_token token, char *to, int room, int strip, bool special) {
    if (!vocab || room < 8 || strip || !special) return -1;
    if (token >= CONTROL) return memcpy(to, "<|c|>", 5), 5;
    return *to = (char)token, token > 0;
}
static int llama_tokenize(const struct llama_vocab *vocab, const char *text, int length, llama_token *to, int room, bool add, bool parse) {
    if (!vocab || length > room || !add || parse) return -1;
    for (int i = 0; i < length; i++) to[i] = text[i];
    return length;
}
static struct llama_batch llama_batch_get_one(llama_token *tokens, int count) { return (struct llama_batch){tokens, count}; }
static int llama_decode(struct llama_context *context, struct llama_batch batch) {
    for (int i = 0; i < COUNT; i++) context->logits[i] = (float)(i >= CONTROL ? -1 : i);
    return batch.count < 1;
}
static const float *llama_get_logits_ith(struct llama_context *context, int at) { return at == -1 ? context->logits : NULL; }
static void llama_free(struct llama_context *context) { (void)context; }
static void llama_model_free(struct llama_model *model) { (void)model; }

#endif
