#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "nghttp2-peer: %s\n", what);
    exit(1);
}

static uint64_t wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* User and system time of this process. */
static uint64_t cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    uint64_t micros = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return seconds * 1000000000 + micros * 1000;
}

void measured(run run, void *state, uint64_t warm_up, uint64_t units)
{
    run(state, warm_up);
    uint64_t start = wall(), cpu_start = cpu();
    run(state, units);
    uint64_t wall_taken = wall() - start, cpu_taken = cpu() - cpu_start;
    printf("%llu %llu\n", (unsigned long long)wall_taken, (unsigned long long)cpu_taken);
}

char *file_text(const char *folder, const char *name, size_t *length)
{
    char path[4096];
    require(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path, "the path is too long");
    FILE *file = fopen(path, "rb");
    require(file != NULL, path);
    require(fseek(file, 0, SEEK_END) == 0, path);
    long size = ftell(file);
    require(size >= 0 && fseek(file, 0, SEEK_SET) == 0, path);
    char *text = malloc((size_t)size + 1);
    require(text != NULL, "no memory");
    require(fread(text, 1, (size_t)size, file) == (size_t)size, path);
    text[size] = 0;
    fclose(file);
    *length = (size_t)size;
    return text;
}

nghttp2_nv *load_fields(const char *folder, const char *name, size_t *count)
{
    size_t length, lines = 0;
    char *text = file_text(folder, name, &length);
    for (size_t at = 0; at < length; at++)
        lines += text[at] == '\n';
    nghttp2_nv *fields = calloc(lines, sizeof *fields);
    require(fields != NULL, "no memory");
    char *line = text;
    for (size_t number = 0; number < lines; number++) {
        char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
        require(tab != NULL && end != NULL && tab < end, "a line without a tab");
        fields[number].name = (uint8_t *)line;
        fields[number].namelen = (size_t)(tab - line);
        fields[number].value = (uint8_t *)tab + 1;
        fields[number].valuelen = (size_t)(end - tab - 1);
        line = end + 1;
    }
    *count = lines;
    return fields;
}
