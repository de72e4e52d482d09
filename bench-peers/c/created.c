/* Requests made and written by nghttp2's session; a peer in memory answers each with 204, so that streams close. */
#include "measure.h"

#include <string.h>

struct session {
    nghttp2_session *session;
    nghttp2_nv *fields;
    size_t count;
    int answers;
};

static int closed(nghttp2_session *session, int32_t stream, uint32_t error, void *state)
{
    (void)session, (void)stream, (void)error;
    ((struct session *)state)->answers++;
    return 0;
}

/* Takes all that there is to send. */
static void take(nghttp2_session *session)
{
    const uint8_t *bytes;
    while (nghttp2_session_mem_send(session, &bytes) > 0) {
    }
}

static void give(nghttp2_session *session, const uint8_t *bytes, size_t length)
{
    require(nghttp2_session_mem_recv(session, bytes, length) == (ssize_t)length, "not valid frames");
}

static void create_all(void *state, uint64_t units)
{
    struct session *own = state;
    /* HEADERS with END_STREAM and END_HEADERS: `:status: 204` by its index. */
    uint8_t answer[] = { 0, 0, 1, 1, 5, 0, 0, 0, 0, 0x89 };
    for (uint64_t unit = 0; unit < units; unit++) {
        int32_t stream = nghttp2_submit_request(own->session, NULL, own->fields, own->count, NULL, NULL);
        require(stream > 0, "not a valid request");
        take(own->session);
        for (int at = 0; at < 4; at++)
            answer[5 + at] = (uint8_t)(stream >> (24 - 8 * at));
        own->answers = 0;
        give(own->session, answer, sizeof answer);
        require(own->answers == 1, "the answer does not close the stream");
    }
}

void created(const struct arguments *arguments)
{
    struct session own = { 0 };
    own.fields = load_fields(arguments->lists, "created", &own.count);
    nghttp2_session_callbacks *callbacks;
    require(nghttp2_session_callbacks_new(&callbacks) == 0, "no callbacks");
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    require(nghttp2_session_client_new(&own.session, callbacks, &own) == 0, "no session");
    require(nghttp2_submit_settings(own.session, NGHTTP2_FLAG_NONE, NULL, 0) == 0, "no settings");
    take(own.session);
    static const uint8_t settings_and_ack[] = { 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0 };
    give(own.session, settings_and_ack, sizeof settings_and_ack);
    take(own.session);
    measured(create_all, &own, 502, arguments->units);
}
