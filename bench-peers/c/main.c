/* nghttp2's library at the work of crates/bench: `nghttp2-peer WORK UNITS LISTS PORT`. `cargo xtask bench` builds and runs it.
 *
 * Build: cc -O2 -o nghttp2-peer *.c -lnghttp2
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

int main(int count, char **texts)
{
    require(count == 5, "usage: nghttp2-peer WORK UNITS LISTS PORT");
    struct arguments arguments = {
        .work = texts[1],
        .units = strtoull(texts[2], NULL, 10),
        .lists = texts[3],
        .port = (uint16_t)strtoul(texts[4], NULL, 10),
    };
    if (begins(arguments.work, "encode-"))
        encode(&arguments);
    else if (begins(arguments.work, "decode-"))
        decode(&arguments);
    else if (begins(arguments.work, "client"))
        client(&arguments);
    else if (strcmp(arguments.work, "created") == 0)
        created(&arguments);
    else
        require(0, "there is no such work");
    return 0;
}
