//! What a peer may make us hold or do. Every limit is on by default, for clients and servers alike.

use core::time::Duration;

/// The limits of a connection, each with its reason; the defaults are meant to be kept.
///
/// ```
/// use alula_fields::Limits;
///
/// let limits = Limits { field_section_bytes: 64 * 1024, ..Limits::default() };
/// assert_eq!(limits.fields, 100);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The size of a field section, decoded, with 32 octets per field (RFC 9113 §6.5.2); default 16 KiB.
    ///
    /// A value in the HPACK table is referred to by one octet, so what counts is the size decoded. Announced as
    /// SETTINGS_MAX_HEADER_LIST_SIZE; four times as much ends the connection.
    pub field_section_bytes: u32,
    /// The fields in a section, without `cookie` crumbs; default 100.
    ///
    /// Tiny fields pass any limit in octets while each costs work.
    pub fields: u32,
    /// The `cookie` lines in a section beyond that; default 50. HTTP/2 splits cookies into crumbs (RFC 9113 §8.2.3).
    pub cookie_crumbs: u32,
    /// The length of one name or value in HPACK, decoded; default 16 KiB, as a section could not be longer.
    pub string_bytes: u32,
    /// The CONTINUATION frames after one HEADERS frame; default 8, as 16 KiB fit two frames of the smallest limit.
    pub continuation_frames: u32,
    /// The octets of a head in HTTP/1.1, from the first of its start line to the last of its end; default 16 KiB, as much as
    /// HTTP/2 takes. Beyond it a request is answered 431.
    ///
    /// RFC 9112 §3 asks for 8000 for the request line alone; common servers stop between 8 and 80 KiB. Trailers have the same
    /// limit.
    pub head_bytes: u32,
    /// The octets of a target in HTTP/1.1; default 8 KiB. Beyond it a request is answered 414.
    pub target_bytes: u32,
    /// The octets of chunk extensions in one message of HTTP/1.1; default 1 KiB. Nobody uses them but to waste our time.
    pub chunk_extension_bytes: u32,
    /// The octets of content that nobody wants which are read to keep a connection of HTTP/1.1; default 64 KiB. With more to
    /// come it is closed.
    pub drain_bytes: u32,
    /// How long a connection of HTTP/1.1 may wait for the next request, or for what is left of content that nobody wants;
    /// default 75 s, as the most common server has it.
    pub idle_timeout: Duration,
    /// The streams the peer may have open, announced as SETTINGS_MAX_CONCURRENT_STREAMS; default 100.
    ///
    /// The least that RFC 9113 §6.5.2 recommends; a stream is counted until its handler has ended.
    pub streams: u32,
    /// The octets a peer may send on one stream ahead of consumption; default 256 KiB.
    ///
    /// Over a path of 20 ms that is 13 MB/s per stream.
    pub stream_window: u32,
    /// How far that may grow while a peer fills it in one round trip and the reader keeps up; default 1 MiB.
    ///
    /// As large as all streams may have together, so that one of them alone can use it: growing takes no more memory than a
    /// connection may hold anyway. Where paths are long and fast, raise it together with
    /// [`connection_window_max`](Self::connection_window_max): a gigabit per second over 100 ms needs 12 MiB. Windows never
    /// become smaller; a value below the initial window switches growing off.
    pub stream_window_max: u32,
    /// The octets a peer may send on all streams ahead of consumption; default 1 MiB.
    pub connection_window: u32,
    /// How far that may grow, likewise; default 1 MiB, which is not at all.
    ///
    /// This is what a peer can make us hold when readers stop: what a connection may hold stands beside twice of it
    /// ([`connection_memory_bytes`](Self::connection_memory_bytes)).
    pub connection_window_max: u32,
    /// The payload of one frame, announced as SETTINGS_MAX_FRAME_SIZE; default 16 KiB, the smallest allowed.
    pub frame_bytes: u32,
    /// The HPACK table of our decoder, announced as SETTINGS_HEADER_TABLE_SIZE; default 4 KiB.
    pub table_bytes: u32,
    /// The HPACK table of our encoder, when the peer offers more; default 4 KiB.
    pub encoder_table_bytes: u32,
    /// How much behaviour that is legal but useless a peer may show at once; default 200.
    ///
    /// The burst of a [`TokenBucket`](crate::TokenBucket). Resets, errors that make us reset, empty frames, PRIORITY, PING, WINDOW_UPDATE: a flood of any ends in GOAWAY
    /// with ENHANCE_YOUR_CALM.
    ///
    pub glitch_burst: u32,
    /// How much of it comes back per second; default 33.
    pub glitch_rate: u32,
    /// The entries of one SETTINGS frame; default 32. There are eight settings that we know.
    pub settings_entries: u32,
    /// The acknowledgements of SETTINGS and PING that wait to be written; default 64. A peer that asks and does not read
    /// would grow them for ever.
    pub queued_acks: u32,
    /// The interim responses before the final one; default 16.
    pub interim_responses: u32,
    /// The overhead of DATA frames, in octets, that need not be paid for by payload; default 25 600.
    ///
    /// A DATA frame costs [`frame_cost_bytes`](Self::frame_cost_bytes) and earns its payload, so that many tiny frames run
    /// dry.
    pub frame_budget_bytes: u32,
    /// What a DATA frame costs from that budget; default 256.
    pub frame_cost_bytes: u32,
    /// The output that may wait for the peer before reading from it stops; default 64 KiB.
    pub output_soft_bytes: u32,
    /// The real memory of one connection, buffers included, beside twice its window, as far as that may grow: what the
    /// window lets in may be held by who reads it while as much comes again; default 2 MiB.
    ///
    /// A hundred requests with the largest heads, and their buffers.
    pub connection_memory_bytes: u64,
    /// The real memory of all connections of a server, or of a client; default 1 GiB. No connection is taken, and none may
    /// grow, when it is used up.
    pub process_memory_bytes: u64,
    /// The connections whose peers have not introduced themselves yet; default 512. The one that has waited longest makes
    /// room for another: who means well is through in a moment.
    pub handshakes: u32,
    /// How long the TLS handshake and the preface may take together; default 10 s.
    pub handshake_timeout: Duration,
    /// How long a head, or a frame other than DATA, may take from its first octet on; default 10 s.
    pub head_timeout: Duration,
    /// How long a peer may leave our output untouched while it waits; default 30 s.
    ///
    /// A client applies it to the socket alone; how long a request may take is for its caller to say.
    pub stall_timeout: Duration,
    /// The least rate of a body that a server asks for, both ways, in octets per second; default 240, zero is off.
    ///
    /// Applied only while octets of a stated length are awaited or ours wait for the peer: long polls must live.
    pub body_rate_min: u32,
    /// Over how long that rate is measured, and so how long a body may be slower; default 5 s.
    pub body_rate_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            field_section_bytes: 16 * 1024,
            fields: 100,
            cookie_crumbs: 50,
            string_bytes: 16 * 1024,
            continuation_frames: 8,
            head_bytes: 16 * 1024,
            target_bytes: 8 * 1024,
            chunk_extension_bytes: 1024,
            drain_bytes: 64 * 1024,
            idle_timeout: Duration::from_secs(75),
            streams: 100,
            stream_window: 256 * 1024,
            stream_window_max: 1024 * 1024,
            connection_window: 1024 * 1024,
            connection_window_max: 1024 * 1024,
            frame_bytes: 16 * 1024,
            table_bytes: 4 * 1024,
            encoder_table_bytes: 4 * 1024,
            glitch_burst: 200,
            glitch_rate: 33,
            settings_entries: 32,
            queued_acks: 64,
            interim_responses: 16,
            frame_budget_bytes: 25_600,
            frame_cost_bytes: 256,
            output_soft_bytes: 64 * 1024,
            connection_memory_bytes: 2 * 1024 * 1024,
            process_memory_bytes: 1024 * 1024 * 1024,
            handshakes: 512,
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            body_rate_min: 240,
            body_rate_grace: Duration::from_secs(5),
        }
    }
}
