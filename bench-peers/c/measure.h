/* What every program of the C peers shares: work that is done N times, and the lists of fields it is done with. */
#ifndef ALULA_MEASURE_H
#define ALULA_MEASURE_H

#include <nghttp2/nghttp2.h>
#include <stddef.h>
#include <stdint.h>

/* Work that is set up: does so many units. */
typedef void (*run)(void *state, uint64_t units);

/* The arguments after the program's name. */
struct arguments {
    const char *work;
    uint64_t units;
    const char *lists;
    uint16_t port;
};

/* Does a warm-up and the units; prints nanoseconds, those of the CPU, and `-`: allocations are counted from outside. */
void measured(run run, void *state, uint64_t warm_up, uint64_t units);

/* A whole file, with its length. */
char *file_text(const char *folder, const char *name, size_t *length);

/* A file with a field per line, name and value with a tab between, as many as there are. Never freed. */
nghttp2_nv *load_fields(const char *folder, const char *name, size_t *count);

/* Ends the program with a message unless the condition holds. */
void require(int condition, const char *what);

void encode(const struct arguments *arguments);
void decode(const struct arguments *arguments);
void created(const struct arguments *arguments);
void client(const struct arguments *arguments);

#endif
