/* nghttp2's deflater and inflater. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 4096, WARM_UP = 502 };

/* Lists to encode, a power of two of them. */
struct encoding {
    nghttp2_hd_deflater *deflater;
    nghttp2_nv *fields;
    size_t fields_per_list, lists;
    uint64_t number;
    /* After so many blocks comes a new deflater. */
    uint64_t renew;
};

static void encode_all(void *state, uint64_t units)
{
    struct encoding *own = state;
    uint8_t out[2048];
    for (uint64_t unit = 0; unit < units; unit++, own->number++) {
        if (own->number % own->renew == 0) {
            if (own->deflater != NULL)
                nghttp2_hd_deflate_del(own->deflater);
            require(nghttp2_hd_deflate_new(&own->deflater, TABLE) == 0, "no deflater");
        }
        nghttp2_nv *list = own->fields + (own->number & (own->lists - 1)) * own->fields_per_list;
        require(nghttp2_hd_deflate_hd(own->deflater, out, sizeof out, list, own->fields_per_list) > 0, "no block");
    }
}

void encode(const struct arguments *arguments)
{
    const char *kind = arguments->work + strlen("encode-");
    int is_proxied = strcmp(kind, "proxied") == 0;
    char name[32];
    snprintf(name, sizeof name, "fields-%s", *kind == 'c' || *kind == 'd' ? "a" : kind);
    size_t count;
    struct encoding own = { .renew = *kind == 'c' ? 1 : *kind == 'd' ? 100 : UINT64_MAX };
    own.fields = load_fields(arguments->lists, name, &count);
    own.fields_per_list = is_proxied ? 15 : 12;
    own.lists = count / own.fields_per_list;
    measured(encode_all, &own, WARM_UP, arguments->units);
}

/* Blocks in a row, each behind its length; of a case whose blocks repeat there are two, and the second comes again. */
struct decoding {
    nghttp2_hd_inflater *inflater;
    uint8_t *blocks, *next, *end, *second;
    int repeats;
};

static void decode_all(void *state, uint64_t units)
{
    struct decoding *own = state;
    for (uint64_t unit = 0; unit < units; unit++) {
        require(own->next < own->end, "there are not so many blocks");
        size_t length = (size_t)own->next[0] << 8 | own->next[1];
        uint8_t *in = own->next + 2, *end = in + length;
        own->next = own->repeats ? own->second : end;
        for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
            nghttp2_nv field;
            flags = 0;
            ssize_t read = nghttp2_hd_inflate_hd2(own->inflater, &field, &flags, in, (size_t)(end - in), 1);
            require(read >= 0, "not a valid block");
            in += read;
        }
        nghttp2_hd_inflate_end_headers(own->inflater);
    }
}

void decode(const struct arguments *arguments)
{
    const char *kind = arguments->work + strlen("decode-");
    char name[32];
    snprintf(name, sizeof name, "blocks-%s", kind);
    size_t length;
    struct decoding own = { .repeats = *kind == 'a' || *kind == 'e' };
    own.blocks = (uint8_t *)file_text(arguments->lists, name, &length);
    own.next = own.blocks;
    own.end = own.blocks + length;
    own.second = own.blocks + 2 + ((size_t)own.blocks[0] << 8 | own.blocks[1]);
    require(nghttp2_hd_inflate_new(&own.inflater) == 0, "no inflater");
    measured(decode_all, &own, WARM_UP, arguments->units);
}
