//! Every row of the table of attacks on a server, over a real socket; `docs/limits.md` has the same rows.
//!
//! Run with `--nocapture --test-threads 1` the tests print the table: row, what the attacker got, the most
//! memory the server held for it, and what 99 of 100 requests of a well-behaved client beside it were faster
//! than.

use alula::Limits;
use alula::h2::ErrorCode;
use alula_conformance::attack::{Answer, Attack, Attacker, Attacks as _, MEMORY_MAX, NEVER, SOON};
use alula_conformance::frames::{self, flag, kind};

/// More than any limit lets pass, and few enough to be quick.
const MANY: usize = 5000;

fn no_glitches(limits: &mut Limits) {
    limits.glitch_burst = u32::MAX;
    limits.queued_acks = u32::MAX;
}

/// Streams beyond the limit of those that run are refused, which costs glitches as well.
fn no_resets(limits: &mut Limits) {
    limits.reset_burst = u32::MAX;
    no_glitches(limits);
}

fn request(stream: u32, path: &str) -> Vec<u8> {
    frames::headers(stream, &frames::path_block("GET", path), true)
}

/// Begins a request whose content may follow, and returns its stream.
fn upload(attacker: &mut Attacker) -> u32 {
    let stream = attacker.stream();
    attacker.send(&frames::headers(stream, &frames::path_block("POST", "/never"), false));
    stream
}

fn word(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frames::frame(kind, flag::NONE, stream, &value.to_be_bytes())
}

/// A flood of one thing, answered with ENHANCE_YOUR_CALM by the bucket of glitches.
fn glitches(row: &'static str, play: fn(&mut Attacker)) {
    Attack::over_http2(row, Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM)).lift(no_glitches).check(play);
}

/// A flood of requests that are reset, answered with ENHANCE_YOUR_CALM by their bucket.
fn resets(row: &'static str, play: fn(&mut Attacker)) {
    Attack::over_http2(row, Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM)).lift(no_resets).check(play);
}

/// What a rule of the protocol answers, whatever the limits are.
fn rule(row: &'static str, answer: Answer, play: fn(&mut Attacker)) {
    Attack::over_http2(row, answer).check(play);
}

#[test]
fn rapid_reset() {
    resets("rapid reset", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            [request(stream, "/never"), frames::reset(stream, 8)].concat()
        });
    });
}

#[test]
fn rapid_reset_beside_requests_that_end_well() {
    resets("rapid reset beside requests that end well", |attacker| {
        let mut answers = 0;
        attacker.flood(MANY, |attacker| {
            attacker.wait_for_answers(answers);
            answers += 1;
            let (lost, good) = (attacker.stream(), attacker.stream());
            [request(lost, "/never"), frames::reset(lost, 8), request(good, "/")].concat()
        });
    });
}

#[test]
fn made_you_reset() {
    glitches("made you reset: WINDOW_UPDATE of 0", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            [request(stream, "/never"), word(kind::WINDOW_UPDATE, stream, 0)].concat()
        });
    });
    glitches("made you reset: DATA after the end", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            [request(stream, "/never"), frames::data(stream, b"x", true)].concat()
        });
    });
    glitches("made you reset: window overflow", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            [request(stream, "/never"), word(kind::WINDOW_UPDATE, stream, 0x7fff_ffff)].concat()
        });
    });
    glitches("made you reset: a stream that depends on itself", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            let own = [&stream.to_be_bytes()[..], &[0]].concat();
            [request(stream, "/never"), frames::frame(kind::PRIORITY, 0, stream, &own)].concat()
        });
    });
    glitches("made you reset: content-length that does not hold", |attacker| {
        attacker.flood(MANY, |attacker| {
            let stream = attacker.stream();
            let block = [frames::path_block("POST", "/never"), frames::content_length(5)].concat();
            [frames::headers(stream, &block, false), frames::data(stream, b"no", true)].concat()
        });
    });
}

#[test]
fn malformed_request_flood() {
    glitches("malformed requests", |attacker| {
        attacker.flood(MANY, |attacker| {
            let block = [frames::path_block("GET", "/"), frames::field("Upper", "case")].concat();
            frames::headers(attacker.stream(), &block, true)
        });
    });
}

#[test]
fn stream_flood() {
    Attack::over_http2("more streams than allowed", Answer::Reset(ErrorCode::REFUSED_STREAM))
        .lift(|limits| limits.streams = 1000)
        .check(|attacker| {
            for _ in 0..101 {
                let stream = attacker.stream();
                attacker.send(&request(stream, "/never"));
            }
        });
}

#[test]
fn continuation_flood() {
    Attack::over_http2("CONTINUATION flood", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .lift(|limits| limits.continuation_frames = u32::MAX)
        .check(|attacker| {
            let stream = attacker.stream();
            let start = frames::path_block("GET", "/small");
            attacker.send(&frames::frame(kind::HEADERS, flag::END_STREAM, stream, &start));
            attacker.flood(20, |_| frames::frame(kind::CONTINUATION, 0, stream, &frames::field("a", "b")));
            attacker.send(&frames::frame(kind::CONTINUATION, flag::END_HEADERS, stream, &[]));
        });
}

#[test]
fn empty_continuation_flood() {
    rule("empty CONTINUATION", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM), |attacker| {
        let stream = attacker.stream();
        let start = frames::path_block("GET", "/small");
        attacker.send(&frames::frame(kind::HEADERS, flag::END_STREAM, stream, &start));
        attacker.flood(MANY, |_| frames::frame(kind::CONTINUATION, 0, stream, &[]));
    });
}

/// A field of 4,000 bytes that enters the table (RFC 7541 §6.2.1), and so many references to it.
fn bomb(references: usize) -> Vec<u8> {
    let value = [b'x'; 4000];
    let length = [0x7f, 0xa1, 0x1e];
    let entry = [&[0x40, 1, b'b'], &length[..], &value].concat();
    [frames::path_block("GET", "/small"), entry, vec![0xbe; references]].concat()
}

#[test]
fn hpack_bomb() {
    Attack::over_http2("HPACK bomb: a large value, named often", Answer::Status(431))
        .lift(|limits| limits.field_section_bytes = 1024 * 1024)
        .check(|attacker| {
            attacker.ask(&bomb(5));
        });
    Attack::over_http2("HPACK bomb: four times the limit", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .lift(|limits| {
            limits.field_section_bytes = 8 * 1024 * 1024;
            limits.field_section_expansion = u32::MAX;
        })
        .check(|attacker| {
            attacker.ask(&bomb(1000));
        });
}

#[test]
fn tiny_fields() {
    Attack::over_http2("many tiny fields", Answer::Status(431)).lift(|limits| limits.fields = 10_000).check(
        |attacker| {
            let stream = attacker.stream();
            let block = [frames::path_block("GET", "/small"), frames::field("a", "").repeat(150)].concat();
            attacker.send(&frames::headers(stream, &block, true));
        },
    );
}

#[test]
fn cookie_crumbs() {
    Attack::over_http2("many cookie crumbs", Answer::Status(431))
        .lift(|limits| limits.cookie_crumbs = 10_000)
        .check(|attacker| {
            let stream = attacker.stream();
            let block =
                [frames::path_block("GET", "/small"), frames::field("cookie", "a").repeat(151)].concat();
            attacker.send(&frames::headers(stream, &block, true));
        });
}

#[test]
fn hpack_integers_and_huffman_code() {
    rule("an HPACK integer without end", Answer::GoAway(ErrorCode::COMPRESSION_ERROR), |attacker| {
        attacker.ask(&[&[0xff][..], &[0x80; 20]].concat());
    });
    rule("an index beyond the table", Answer::GoAway(ErrorCode::COMPRESSION_ERROR), |attacker| {
        attacker.ask(&[0xfe]);
    });
    rule(
        "Huffman padding of more than seven bits",
        Answer::GoAway(ErrorCode::COMPRESSION_ERROR),
        |attacker| {
            attacker.ask(&[0x44, 0x82, 0xff, 0xff]);
        },
    );
}

#[test]
fn table_size_updates() {
    rule("three table size updates in a block", Answer::GoAway(ErrorCode::COMPRESSION_ERROR), |attacker| {
        let stream = attacker.stream();
        let block = [&[0x20, 0x21, 0x22][..], &frames::path_block("GET", "/small")].concat();
        attacker.send(&frames::headers(stream, &block, true));
    });
    rule("a table size update behind a field", Answer::GoAway(ErrorCode::COMPRESSION_ERROR), |attacker| {
        attacker.ask(&[&frames::path_block("GET", "/small")[..], &[0x20]].concat());
    });
}

#[test]
fn ping_flood() {
    glitches("PING flood on an idle connection", |attacker| {
        attacker.flood(MANY, |_| frames::frame(kind::PING, 0, 0, &[0; 8]));
    });
}

#[test]
fn unread_acknowledgements() {
    Attack::over_http2("PING without reading the answers", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| limits.glitch_burst = u32::MAX)
        .lift(|limits| limits.queued_acks = u32::MAX)
        .check(|attacker| {
            upload(attacker);
            attacker.stop_reading();
            attacker.flood(200, |_| frames::frame(kind::PING, 0, 0, &[0; 8]).repeat(1000));
        });
}

#[test]
fn settings_flood() {
    glitches("SETTINGS flood", |attacker| {
        attacker.flood(MANY, |_| frames::settings(&[(3, 100)]));
    });
    Attack::over_http2("SETTINGS with many entries", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .lift(|limits| limits.settings_entries = 1000)
        .check(|attacker| {
            attacker.send(&frames::settings(&[(0x99, 1); 33]));
        });
}

#[test]
fn empty_frames() {
    glitches("empty DATA flood", |attacker| {
        let stream = upload(attacker);
        attacker.flood(MANY, |_| frames::data(stream, b"", false));
    });
}

#[test]
fn tiny_data() {
    Attack::over_http2("tiny DATA flood", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .lift(|limits| limits.frame_cost_bytes = 0)
        .check(|attacker| {
            let stream = upload(attacker);
            attacker.flood(MANY / 10, |_| frames::data(stream, b"x", false).repeat(100));
        });
}

#[test]
fn names_of_no_bytes() {
    rule("a name of no bytes", Answer::Reset(ErrorCode::PROTOCOL_ERROR), |attacker| {
        let stream = attacker.stream();
        let block = [frames::path_block("GET", "/small"), frames::field("", "x")].concat();
        attacker.send(&frames::headers(stream, &block, true));
    });
}

#[test]
fn priority_churn() {
    glitches("PRIORITY churn", |attacker| {
        attacker
            .flood(MANY, |attacker| frames::frame(kind::PRIORITY, 0, attacker.stream(), &[0, 0, 0, 0, 1]));
    });
}

#[test]
fn priority_updates() {
    glitches("PRIORITY_UPDATE churn", |attacker| {
        let stream = upload(attacker);
        let update = [&stream.to_be_bytes()[..], b"u=1"].concat();
        attacker.flood(MANY, |_| frames::frame(kind::PRIORITY_UPDATE, 0, 0, &update));
    });
    glitches("PRIORITY_UPDATE for streams to come", |attacker| {
        let mut next = 0;
        attacker.flood(MANY, |_| {
            next = (next + 2) % 200;
            let update = [&u32::to_be_bytes(next + 1)[..], b"u=1"].concat();
            frames::frame(kind::PRIORITY_UPDATE, 0, 0, &update)
        });
    });
}

#[test]
fn window_updates() {
    glitches("WINDOW_UPDATE flood", |attacker| {
        upload(attacker);
        attacker.flood(MANY, |_| word(kind::WINDOW_UPDATE, 0, 1));
    });
    rule(
        "WINDOW_UPDATE overflow of the connection",
        Answer::GoAway(ErrorCode::FLOW_CONTROL_ERROR),
        |attacker| {
            attacker.send(&word(kind::WINDOW_UPDATE, 0, 0x7fff_ffff));
        },
    );
    rule("WINDOW_UPDATE overflow of a stream", Answer::Reset(ErrorCode::FLOW_CONTROL_ERROR), |attacker| {
        let stream = upload(attacker);
        attacker.send(&word(kind::WINDOW_UPDATE, stream, 0x7fff_ffff));
    });
}

#[test]
fn unknown_frames() {
    glitches("unknown frames", |attacker| {
        let mut number = 0_u8;
        attacker.flood(MANY, |_| {
            // From 0x11 on, beyond every kind that is known.
            number = (number + 1) % 0xe0;
            frames::frame(0x11 + number, 0xff, 0, b"anything")
        });
    });
}

#[test]
fn frames_in_the_wrong_state() {
    rule(
        "HEADERS on a stream that its client has reset",
        Answer::Reset(ErrorCode::STREAM_CLOSED),
        |attacker| {
            let stream = attacker.stream();
            attacker.send(&request(stream, "/never"));
            attacker.send(&frames::reset(stream, 8));
            attacker.send(&request(stream, "/never"));
        },
    );
    rule("HEADERS on a stream that was passed over", Answer::GoAway(ErrorCode::PROTOCOL_ERROR), |attacker| {
        let (first, second) = (attacker.stream(), attacker.stream());
        attacker.send(&request(second, "/never"));
        attacker.send(&request(first, "/never"));
    });
    rule("DATA on a stream never opened", Answer::GoAway(ErrorCode::PROTOCOL_ERROR), |attacker| {
        attacker.send(&frames::data(101, b"x", false));
    });
    rule("a frame longer than announced", Answer::GoAway(ErrorCode::FRAME_SIZE_ERROR), |attacker| {
        attacker.send(&frames::frame(kind::DATA, 0, 1, &[0; 16_385]));
    });
    rule("PUSH_PROMISE of a client", Answer::GoAway(ErrorCode::PROTOCOL_ERROR), |attacker| {
        attacker.send(&frames::frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2]));
    });
}

#[test]
fn smuggling() {
    fn malformed(row: &'static str, play: fn(&mut Attacker)) {
        rule(row, Answer::Reset(ErrorCode::PROTOCOL_ERROR), play);
    }
    fn with(attacker: &mut Attacker, fields: &[u8]) {
        let stream = attacker.stream();
        let block = [&frames::path_block("GET", "/small"), fields].concat();
        attacker.send(&frames::headers(stream, &block, true));
    }
    malformed("smuggling: CR and LF in a value", |attacker| with(attacker, &frames::field("a", "b\r\nc: d")));
    malformed("smuggling: NUL in a value", |attacker| with(attacker, &frames::field("a", "b\0")));
    malformed("smuggling: transfer-encoding", |attacker| {
        with(attacker, &frames::field("transfer-encoding", "chunked"))
    });
    malformed("smuggling: connection", |attacker| with(attacker, &frames::field("connection", "close")));
    malformed("smuggling: two host fields", |attacker| {
        with(attacker, &[frames::field("host", "localhost"), frames::field("host", "localhost")].concat())
    });
    malformed("smuggling: host that is not the authority", |attacker| {
        with(attacker, &frames::field("host", "elsewhere"))
    });
    malformed("smuggling: LF in the path", |attacker| {
        attacker.ask(&frames::path_block("GET", "/a\nb"));
    });
    malformed("smuggling: a space in the path", |attacker| {
        attacker.ask(&frames::path_block("GET", "/a HTTP/1.1"));
    });
    malformed("smuggling: a method that is no token", |attacker| {
        attacker.ask(&frames::path_block("GET /", "/small"));
    });
}

#[test]
fn half_open_preface() {
    Attack::over_http2("a preface that does not end", Answer::GoAway(ErrorCode::NO_ERROR))
        .scene(|limits| limits.handshake_timeout = SOON)
        .lift(|limits| limits.handshake_timeout = NEVER)
        .check(|attacker| {
            attacker.fall_silent();
            attacker.send(b"PRI ");
            attacker.wait();
        });
}

#[test]
fn handshake_flood() {
    Attack::over_http2("handshake flood", Answer::Closed)
        .scene(|limits| limits.handshakes = Some(32))
        .lift(|limits| limits.handshakes = Some(u32::MAX))
        .memory_max(40 * MEMORY_MAX)
        .check(|attacker| {
            attacker.fall_silent();
            // What says nothing may be HTTP/1.1 as well.
            attacker.send(b"PRI ");
            attacker.with_silent_others(40);
            attacker.wait();
        });
}

#[test]
fn idle_connections() {
    Attack::over_http2("a connection without streams", Answer::GoAway(ErrorCode::NO_ERROR))
        .scene(|limits| limits.idle_timeout = SOON)
        .lift(|limits| limits.idle_timeout = NEVER)
        .check(|attacker| {
            attacker.send(&[word(kind::WINDOW_UPDATE, 0, 1), frames::settings(&[])].concat());
            attacker.wait();
        });
    Attack::over_http2("idle connections at the bound", Answer::GoAway(ErrorCode::NO_ERROR))
        .scene(|limits| limits.connections_max = Some(8))
        .lift(|limits| limits.connections_max = Some(u32::MAX))
        .memory_max(8 * MEMORY_MAX)
        .check(|attacker| {
            attacker.with_others(8, |_| ());
            attacker.wait();
        });
}

#[test]
fn slow_head() {
    Attack::over_http2("a head that does not end", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| limits.head_timeout = SOON)
        .lift(|limits| limits.head_timeout = NEVER)
        .check(|attacker| {
            let stream = attacker.stream();
            attacker.send(&frames::frame(kind::HEADERS, 0, stream, &frames::path_block("GET", "/small")));
            attacker.wait();
            attacker.send(&frames::frame(kind::CONTINUATION, flag::END_HEADERS, stream, &[]));
        });
    Attack::over_http2("a frame that does not end", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| limits.head_timeout = SOON)
        .lift(|limits| limits.head_timeout = NEVER)
        .check(|attacker| {
            let ping = frames::frame(kind::PING, 0, 0, &[0; 8]);
            attacker.send(&ping[..12]);
            attacker.wait();
            attacker.send(&ping[12..]);
        });
}

/// A request with a field section as large as it may be, to be held for long.
fn large_request(stream: u32) -> Vec<u8> {
    let value = "v".repeat(3900);
    let fields = frames::field("a", &value).repeat(4);
    frames::headers(stream, &[frames::path_block("GET", "/never"), fields].concat(), true)
}

fn hold_streams(attacker: &mut Attacker) {
    attacker.flood(400, |attacker| large_request(attacker.stream()));
}

#[test]
fn memory_of_a_connection() {
    Attack::over_http2(
        "HTTP/2 bomb: many streams that hold what they may",
        Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM),
    )
    .scene(|limits| limits.streams = 1000)
    .lift(|limits| limits.connection_memory_bytes = u64::MAX)
    .memory_max(5 * 1024 * 1024)
    .check(hold_streams);
}

#[test]
fn memory_of_all_connections() {
    Attack::over_http2("HTTP/2 bomb: many connections that do", Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM))
        // New requests are to be taken up to the bound itself.
        .scene(|limits| {
            (limits.streams, limits.process_memory_bytes) = (1000, 8 * 1024 * 1024);
            limits.process_memory_soft_percent = 100;
        })
        .lift(|limits| limits.process_memory_bytes = u64::MAX)
        .memory_max(9 * 1024 * 1024)
        .check(|attacker| {
            attacker.with_others(3, |other| {
                other.flood(100, |other| large_request(other.stream()));
                assert_eq!(other.answer(), Answer::Served);
            });
            // Fewer than one connection may hold.
            attacker.flood(200, |attacker| large_request(attacker.stream()));
        });
}
