/* The JSON of conformance/hosts/cases.jsonl, read where it stands: a value is a pointer to its first byte. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *json_end(const char *at) {
    if (*at == '"') {
        for (at++; *at != '"'; at++) at += *at == '\\';
        return at + 1;
    }
    if (*at != '{' && *at != '[') return at + strcspn(at, ",]}\n");
    for (at++; *at != '}' && *at != ']';) {
        at = json_end(at);
        at += *at == ',' || *at == ':';
    }
    return at + 1;
}

/* The member of an object; NULL where there is none. */
static const char *json_member(const char *object, const char *name) {
    size_t length = strlen(name);
    for (const char *at = object + 1; *at != '}';) {
        bool found = !strncmp(at + 1, name, length) && at[length + 1] == '"';
        at = json_end(at) + 1;
        if (found) return at;
        at = json_end(at);
        at += *at == ',';
    }
    return NULL;
}

/* The next item of an array, begun with NULL; NULL behind the last. */
static const char *json_next(const char *array, const char *item) {
    const char *at = item ? json_end(item) : array + 1;
    at += *at == ',';
    return *at == ']' ? NULL : at;
}

static size_t json_put(char *to, unsigned code) {
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) return to[0] = (char)(0xC0 | code >> 6), to[1] = (char)(0x80 | (code & 63)), 2;
    to[0] = (char)(0xE0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 63)), to[2] = (char)(0x80 | (code & 63));
    return 3;
}

/* A string as text with a zero byte behind it, to be freed; NULL for no string. Characters beyond 16 bits are written
 * plainly in the file. */
static char *json_text(const char *at, size_t *length) {
    if (!at || *at != '"') return NULL;
    const char *end = json_end(at) - 1;
    char *text = malloc((size_t)(end - at) + 1);
    size_t size = 0;
    for (at++; at < end; at++) {
        if (*at != '\\') {
            text[size++] = *at;
            continue;
        }
        const char *found = strchr("b\bf\fn\nr\rt\t", *++at);
        char digits[5] = {0};
        if (*at == 'u') {
            memcpy(digits, at + 1, 4);
            size += json_put(text + size, (unsigned)strtoul(digits, NULL, 16));
            at += 4;
        } else {
            text[size++] = found ? found[1] : *at;
        }
    }
    text[size] = 0;
    if (length) *length = size;
    return text;
}

/* The numbers of an array, to be freed. */
static unsigned *json_numbers(const char *array, size_t *count) {
    unsigned *numbers = malloc(sizeof *numbers * strlen(array));
    *count = 0;
    for (const char *item = NULL; (item = json_next(array, item));) numbers[(*count)++] = (unsigned)atol(item);
    return numbers;
}

/* Bytes in hexadecimal, to be freed. */
static unsigned char *json_hex(const char *string, size_t *length) {
    *length = (size_t)(json_end(string) - string - 2) / 2;
    unsigned char *bytes = malloc(*length + 1);
    for (size_t i = 0; i < *length; i++) sscanf(string + 1 + 2 * i, "%2hhx", &bytes[i]);
    return bytes;
}

/* The whole of a file with a zero byte behind it, to be freed. */
static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), exit(2), NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    *length = fread(text, 1, (size_t)size, file);
    text[*length] = 0;
    fclose(file);
    return text;
}

#endif
