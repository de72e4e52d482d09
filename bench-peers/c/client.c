/* A blocking client on nghttp2's session, with one request or many in flight on one connection. */
#include "measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WINDOW = 16 * 1024 * 1024 };

struct connection {
    nghttp2_session *session;
    nghttp2_nv *fields;
    size_t count;
    /* Of requests that vary: path, request id and trace of each. */
    nghttp2_nv *varied;
    size_t requests, number;
    int socket;
    /* As many as may be in flight, and as many as ended; those that were answered with 200. */
    uint64_t in_flight, closed, answered;
};

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *state)
{
    (void)session, (void)stream;
    require(error == NGHTTP2_NO_ERROR, "a stream ended with an error");
    ((struct connection *)state)->closed++;
    return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                    const uint8_t *value, size_t value_length, uint8_t flags, void *state)
{
    (void)session, (void)frame, (void)flags;
    if (name_length == 7 && memcmp(name, ":status", 7) == 0)
        ((struct connection *)state)->answered += value_length == 3 && memcmp(value, "200", 3) == 0;
    return 0;
}

/* All that there is to send, in as few writes as it takes. */
static void flush(struct connection *own)
{
    static uint8_t out[65536];
    const uint8_t *bytes;
    size_t filled = 0;
    ssize_t length;
    while ((length = nghttp2_session_mem_send(own->session, &bytes)) > 0) {
        require((size_t)length <= sizeof out - filled, "more to send than expected");
        memcpy(out + filled, bytes, (size_t)length);
        filled += (size_t)length;
    }
    require(length == 0, "nothing can be sent");
    if (filled > 0)
        require(write(own->socket, out, filled) == (ssize_t)filled, "the server takes no more");
}

/* Puts the next path, request id and trace into the request. */
static void vary(struct connection *own)
{
    static const size_t places[] = { 3, 4 + 7, 4 + 8 };
    const nghttp2_nv *next = own->varied + own->number++ % own->requests * 3;
    for (int at = 0; at < 3; at++)
        own->fields[places[at]] = next[at];
}

static void request_all(void *state, uint64_t units)
{
    struct connection *own = state;
    static uint8_t input[65536];
    own->closed = own->answered = 0;
    for (uint64_t asked = 0; own->closed < units;) {
        for (; asked < units && asked - own->closed < own->in_flight; asked++) {
            if (own->varied != NULL)
                vary(own);
            require(nghttp2_submit_request(own->session, NULL, own->fields, own->count, NULL, NULL) > 0, "no request");
        }
        flush(own);
        ssize_t length = read(own->socket, input, sizeof input);
        require(length > 0, "the server went away");
        require(nghttp2_session_mem_recv(own->session, input, (size_t)length) == length, "not valid frames");
        if (own->closed == units)
            flush(own);
    }
    require(own->answered == units, "not 200");
}

static int connected(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    require(made >= 0, "no socket");
    require(connect(made, (struct sockaddr *)&address, sizeof address) == 0, "the server does not listen");
    require(setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "no TCP_NODELAY");
    return made;
}

/* The pseudo-fields in front of the fields of the file. */
static void load_request(struct connection *own, const char *lists, uint16_t port)
{
    static char authority[32];
    static nghttp2_nv all[32];
    size_t count;
    snprintf(authority, sizeof authority, "127.0.0.1:%u", port);
    const char *pseudo[][2] = {
        { ":method", "GET" }, { ":scheme", "http" }, { ":authority", authority }, { ":path", "/static/app" },
    };
    for (int at = 0; at < 4; at++) {
        const char *name = pseudo[at][0], *value = pseudo[at][1];
        all[at] = (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0 };
    }
    nghttp2_nv *fields = load_fields(lists, "request", &count);
    require(count <= 28, "more fields than expected");
    memcpy(all + 4, fields, count * sizeof *fields);
    own->fields = all;
    own->count = count + 4;
}

void client(const struct arguments *arguments)
{
    int is_many = strcmp(arguments->work, "client-m64") == 0;
    struct connection own = { .socket = connected(arguments->port), .in_flight = is_many ? 64 : 1 };
    load_request(&own, arguments->lists, arguments->port);
    if (strstr(arguments->work, "varied") != NULL) {
        own.varied = load_fields(arguments->lists, "varied", &own.requests);
        own.requests /= 3;
    }
    nghttp2_session_callbacks *callbacks;
    require(nghttp2_session_callbacks_new(&callbacks) == 0, "no callbacks");
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
    require(nghttp2_session_client_new(&own.session, callbacks, &own) == 0, "no session");
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW };
    require(nghttp2_submit_settings(own.session, NGHTTP2_FLAG_NONE, &window, 1) == 0, "no settings");
    require(nghttp2_session_set_local_window_size(own.session, NGHTTP2_FLAG_NONE, 0, WINDOW) == 0, "no window");
    measured(request_all, &own, is_many ? 612 : 102, arguments->units);
}
