//! The limits on what a peer may make this side hold or do. Every limit is on by default, for clients and
//! servers alike.

use core::time::Duration;

/// The limits of a connection, each with its reason; the defaults are meant to be kept.
///
/// ```
/// use alula::Limits;
///
/// let limits = Limits { field_section_bytes: 64 * 1024, ..Limits::default() };
/// assert_eq!(limits.fields, 100);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The size of a field section, decoded, with 32 bytes per field (RFC 9113 §6.5.2); default 16 KiB, and
    /// 256 KiB on [clients](Self::client).
    ///
    /// A value in the HPACK table is referred to by one byte, so what counts is the size decoded. Announced
    /// as SETTINGS_MAX_HEADER_LIST_SIZE; four times as much ends the connection.
    pub field_section_bytes: u32,
    /// The decoded bytes of a field section that each byte of its block on the wire allows; default 32. The
    /// first 16 KiB are free.
    ///
    /// A block of a few KiB can refer to one long entry of the HPACK table a thousand times. A section that
    /// is larger than 16 KiB has to be sent for the most part, as those of honest peers are: their tables
    /// hold 4 KiB, and the shortest field costs two bytes and counts as 34. `u32::MAX` switches it off.
    pub field_section_expansion: u32,
    /// The fields in a section, without `cookie` crumbs; default 100, and 1,000 on [clients](Self::client).
    ///
    /// Tiny fields pass any limit in bytes while each costs work.
    pub fields: u32,
    /// The `cookie` lines in a section beside the other fields; default 50. HTTP/2 splits cookies into crumbs
    /// (RFC 9113 §8.2.3).
    pub cookie_crumbs: u32,
    /// The length of one name or value in HPACK, decoded; default 16 KiB, as a section could not be longer,
    /// and 256 KiB on [clients](Self::client).
    pub string_bytes: u32,
    /// The CONTINUATION frames after one HEADERS frame; default 8, as 16 KiB fit two frames of the smallest
    /// limit, and 64 on [clients](Self::client), four times as many as 256 KiB fill.
    pub continuation_frames: u32,
    /// The bytes of a head in HTTP/1.1, from the first of its start line to the last of its end; default 16
    /// KiB, and 256 KiB on [clients](Self::client), as much as HTTP/2 takes. Beyond it a request is answered
    /// 431.
    ///
    /// RFC 9112 §3 asks for 8000 for the request line alone; common servers stop between 8 and 80 KiB.
    /// Trailers have the same limit.
    pub head_bytes: u32,
    /// The bytes of a head that a server takes from a connection of which it has answered no request yet,
    /// while a quarter of [`process_memory_bytes`](Self::process_memory_bytes) is in use; default 64 KiB.
    ///
    /// It is of use where [`head_bytes`](Self::head_bytes) or
    /// [`field_section_bytes`](Self::field_section_bytes) are larger: strangers could fill the memory with
    /// heads that are not whole. A longer head is answered 431; after an answer other than 401, 429 and 503,
    /// or once there is room again, the other limits alone count.
    pub first_head_bytes: u32,
    /// The bytes that the heads of requests under way on one connection of HTTP/2 may hold unpaid on a
    /// server, while a quarter of [`process_memory_bytes`](Self::process_memory_bytes) is in use; default 64
    /// KiB.
    ///
    /// Each byte that the connection has sent pays for eight of them. A head may refer to a few KiB of the
    /// HPACK table with one byte, so that a connection of some KiB holds MiB. Beyond it a request is refused
    /// with REFUSED_STREAM, and may be sent again. `u32::MAX` switches it off.
    pub unpaid_head_bytes: u32,
    /// The bytes of a target in HTTP/1.1; default 8 KiB. Beyond it a request is answered 414.
    pub target_bytes: u32,
    /// The bytes of chunk extensions in one message of HTTP/1.1; default 1 KiB. No known client uses them.
    pub chunk_extension_bytes: u32,
    /// The bytes of unwanted content that are read after the answer; default 64 KiB.
    ///
    /// Over HTTP/1.1 the connection is kept so. With more to come, or chunks of which nobody knows how many,
    /// it is closed, and the answer says so. Over HTTP/2 a stream that a server has answered may end so,
    /// within [`linger_timeout`](Self::linger_timeout); with more to come it is reset with NO_ERROR (RFC 9113
    /// §8.1), by which clients that are still sending may lose the answer.
    pub drain_bytes: u32,
    /// The longest time without a stream that a server keeps a connection, of either version, from its
    /// acceptance on; on HTTP/1.1 also the longest wait for the rest of unwanted content. Default 75 s, as
    /// the most common server has it.
    ///
    /// PING, SETTINGS and WINDOW_UPDATE do not count as use. The connection is closed within two seconds
    /// after that; over HTTP/2 a GOAWAY with NO_ERROR comes first.
    pub idle_timeout: Duration,
    /// The streams the peer may have open, announced as SETTINGS_MAX_CONCURRENT_STREAMS; default 100.
    ///
    /// The least that RFC 9113 §6.5.2 recommends; a stream is counted until its handler has ended, and its
    /// content, where a server [reads that to its end](Self::drain_bytes).
    pub streams: u32,
    /// The bytes a peer may send on one stream ahead of consumption; default 256 KiB.
    ///
    /// Over a path of 20 ms that is 13 MB/s per stream.
    pub stream_window: u32,
    /// The bytes to which `stream_window` may grow while a peer uses it up in one round trip and the reader
    /// catches up; default 1 MiB.
    ///
    /// As large as all streams may have together, so that one of them alone can use it: growing takes no more
    /// memory than a connection may hold anyway. Where paths are long and fast, raise it together with
    /// [`connection_window_max`](Self::connection_window_max): a gigabit per second over 100 ms needs 12 MiB.
    /// Windows never become smaller; a value below the initial window switches growing off.
    pub stream_window_max: u32,
    /// The bytes a peer may send on all streams ahead of consumption; default 1 MiB, and 16 MiB on
    /// [clients](Self::client).
    ///
    /// A server's handlers read what they are sent or refuse it. A client's caller may hold responses unread
    /// for as long as it likes; what they hold of this window is missing for all other calls on the
    /// connection.
    pub connection_window: u32,
    /// The bytes to which `connection_window` may grow, likewise; default 1 MiB, and 16 MiB on clients, where
    /// it does not grow.
    ///
    /// This is what a peer can make us hold when readers stop: what a connection may hold stands beside twice
    /// of it ([`connection_memory_bytes`](Self::connection_memory_bytes)).
    pub connection_window_max: u32,
    /// The payload of one frame, announced as SETTINGS_MAX_FRAME_SIZE; default 16 KiB, the smallest allowed.
    pub frame_bytes: u32,
    /// The HPACK table of our decoder, announced as SETTINGS_HEADER_TABLE_SIZE; default 4 KiB.
    pub table_bytes: u32,
    /// The HPACK table of our encoder, when the peer offers more; default 4 KiB.
    pub encoder_table_bytes: u32,
    /// The tokens for legal but useless behaviour that a peer may use at once; default 200.
    ///
    /// The burst of a [`TokenBucket`](crate::TokenBucket). Errors that make us reset, resets of what was
    /// answered, empty frames, PRIORITY, PING, WINDOW_UPDATE: a flood of any ends in GOAWAY with
    /// ENHANCE_YOUR_CALM. A stream that both sides end well gives a token back.
    ///
    /// Streams that a peer makes us reset take from a second bucket of this size as well, to which only every
    /// fourth stream that ends well gives a token back.
    pub glitch_burst: u32,
    /// The tokens of `glitch_burst` that come back per second; default 33.
    pub glitch_rate: u32,
    /// The requests that a client of HTTP/2 may reset at once before they are answered; default 1,000.
    ///
    /// The burst of a bucket of a server, apart from [`glitch_burst`](Self::glitch_burst): a proxy whose
    /// clients leave, and a search that is asked anew with each key, reset hundreds of requests at once, and
    /// the end of their connection would cost the calls of others. One that resets more is told
    /// ENHANCE_YOUR_CALM (CVE-2023-44487). How many of its handlers run at once is bounded by
    /// [`streams`](Self::streams). Every fourth stream that ends well gives a token back: clients that reset
    /// up to a fifth of their requests do so at any rate.
    ///
    /// A reset that crosses one of ours takes a token as well, also on a client.
    pub reset_burst: u32,
    /// The tokens of `reset_burst` that come back per second; default 33.
    pub reset_rate: u32,
    /// The entries of one SETTINGS frame; default 32. There are eight settings that we know.
    pub settings_entries: u32,
    /// The acknowledgements of SETTINGS and PING that wait to be written; default 64. A peer that asks and
    /// does not read would grow them for ever.
    pub queued_acks: u32,
    /// The interim responses before the final one; default 16, and 100 on [clients](Self::client).
    ///
    /// All of them together are no larger than one head may be ([`head_bytes`](Self::head_bytes),
    /// [`field_section_bytes`](Self::field_section_bytes)).
    pub interim_responses: u32,
    /// The overhead of DATA frames, in bytes, that payload need not pay for; default 25 600.
    ///
    /// A DATA frame costs [`frame_cost_bytes`](Self::frame_cost_bytes) and earns its payload, so that many
    /// tiny frames run dry.
    pub frame_budget_bytes: u32,
    /// The cost of a DATA frame from `frame_budget_bytes`; default 256.
    pub frame_cost_bytes: u32,
    /// The bytes of output that may wait for the socket of a connection; default 256 KiB. Less than 16 KiB
    /// counts as 16 KiB.
    ///
    /// Content is taken as far as there is room and again once all of it was written, however large the
    /// peer's windows are; while output of this size waits, a server reads nothing more from the connection.
    /// Heads and control frames are written beyond it. A larger value is memory that each peer that does not
    /// read can make us hold: once in clear text, twice over TLS. With 256 KiB an answer of 100 KiB leaves
    /// with one system call; with 64 KiB it takes two, and a fifth more time of the processor.
    pub output_soft_bytes: u32,
    /// The bound on that output while a quarter of [`process_memory_bytes`](Self::process_memory_bytes) is in
    /// use, in bytes; default 16 KiB. Less than 16 KiB counts as 16 KiB, and more than
    /// [`output_soft_bytes`](Self::output_soft_bytes) as that.
    ///
    /// Peers that read nothing hold little then, and those that read get as much as before, in more pieces:
    /// what is on its way to them is in the buffer of their socket.
    pub crowded_output_bytes: u32,
    /// The real memory of one connection, buffers included, beside twice its window at its largest: a reader
    /// may hold a whole window while as much arrives again; default 2 MiB.
    ///
    /// A hundred requests with the largest heads, and their buffers.
    pub connection_memory_bytes: u64,
    /// The real memory of all connections of a server, or of a client; default 1 GiB. No connection is taken,
    /// and none may grow, when it is used up.
    pub process_memory_bytes: u64,
    /// The part of [`process_memory_bytes`](Self::process_memory_bytes), in percent, from which on a server
    /// takes no new requests; default 75, and 100 or more switches it off. HTTP/1.1 answers 503 with
    /// `retry-after: 5`, HTTP/2 resets the stream with REFUSED_STREAM (RFC 9113 §8.7); no handler runs.
    ///
    /// Without it the first to be refused would be connections that serve requests under way and happen to
    /// grow. A quarter is left for those: it holds a hundred connections that hold all they may. Memory that
    /// a program [reserves](crate::MemoryBudget::reserve) for itself stays below this bound as well. 100
    /// refuses no request.
    pub process_memory_soft_percent: u32,
    /// The connections that a server has open at once; by default the soft limit of descriptors when it
    /// binds, less a reserve of an eighth, at least 32 and at most half, for other descriptors of the
    /// process.
    ///
    /// Running out of descriptors stops everything in the process. At the bound the connection is closed that
    /// has been idle longest, for at least a second, among those of the address or network that has most: an
    /// IPv4 address or an IPv6 /64, or a /24 or /48 that has more than four times as many as any of these.
    /// While none is idle, newcomers wait in the backlog of the listener. There is no bound per address,
    /// since behind one there may be a proxy or a whole office.
    pub connections_max: Option<u32>,
    /// The connections whose handshakes are in progress: TLS, the preface of HTTP/2, the first head of
    /// HTTP/1.1; by default half of [`connections_max`](Self::connections_max).
    ///
    /// Beyond that, the one that has waited longest is closed among those of the address or network that has
    /// most of them, as above; what it has sent is read first, and may complete the handshake.
    pub handshakes: Option<u32>,
    /// The time that the TLS handshake and the preface may take together; default 30 s.
    ///
    /// A peer that is one of thousands at once, or short of time itself, needs longer than the network takes.
    pub handshake_timeout: Duration,
    /// The time for which a server reads and drops input after it has closed its side of a connection, or
    /// over HTTP/2 after it has answered a stream; default 5 s.
    ///
    /// A peer that is still sending content, after an answer of 413 for example, would lose the answer to a
    /// reset if the socket were closed at once.
    pub linger_timeout: Duration,
    /// The bytes that are dropped within `linger_timeout`; default 16 MiB, which is more than a path of 1
    /// Gbit/s and 100 ms holds. With more to come the connection is reset.
    pub linger_bytes: u32,
    /// The time that a head, or a frame other than DATA, may take from its first byte on; default 10 s.
    pub head_timeout: Duration,
    /// The longest time without progress on content while a handler waits for it, while it is read and
    /// dropped, or while output waits for the peer; default 60 s. The framing of content does not count.
    ///
    /// A client applies it to the socket of a connection that nobody uses any more, and to nothing else: how
    /// long a request may take is for its caller to say.
    pub stall_timeout: Duration,
    /// The least rate of a body on a server, in both directions, in bytes per second; default 240, zero is
    /// off.
    ///
    /// Applied while a handler waits for content, whatever frames it, while content is read and dropped, and
    /// while bytes of ours wait for the peer. A handler that waits for something else is not hurried: long
    /// polls must live.
    ///
    /// The mean since the peer began to owe something is judged, and the time in which it owed nothing is
    /// left out. Bytes that came ahead of the rate pay for a pause that follows, of
    /// [`stall_timeout`](Self::stall_timeout) at the most.
    pub body_rate_min: u32,
    /// The time for which the peer may owe something before that rate is applied; default 30 s.
    ///
    /// A video that is paused, a pager, or a slow disk behind a pipe send and take nothing for a while, and
    /// are no attack.
    pub body_rate_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            field_section_bytes: 16 * 1024,
            field_section_expansion: 32,
            fields: 100,
            cookie_crumbs: 50,
            string_bytes: 16 * 1024,
            continuation_frames: 8,
            head_bytes: 16 * 1024,
            first_head_bytes: 64 * 1024,
            unpaid_head_bytes: 64 * 1024,
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
            reset_burst: 1000,
            reset_rate: 33,
            settings_entries: 32,
            queued_acks: 64,
            interim_responses: 16,
            frame_budget_bytes: 25_600,
            frame_cost_bytes: 256,
            output_soft_bytes: 256 * 1024,
            crowded_output_bytes: 16 * 1024,
            connection_memory_bytes: 2 * 1024 * 1024,
            process_memory_bytes: 1024 * 1024 * 1024,
            process_memory_soft_percent: 75,
            connections_max: None,
            handshakes: None,
            handshake_timeout: Duration::from_secs(30),
            linger_timeout: Duration::from_secs(5),
            linger_bytes: 16 * 1024 * 1024,
            head_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(60),
            body_rate_min: 240,
            body_rate_grace: Duration::from_secs(30),
        }
    }
}

/// The default connection window of a client. Browsers and other clients have between 5 and 16 MiB.
const CLIENT_WINDOW: u32 = 16 * 1024 * 1024;

/// The default size of a response head on a client. Browsers take 256 KiB, curl 300 KiB; servers with many
/// cookies and long policies send more than 16 KiB.
const CLIENT_HEAD: u32 = 256 * 1024;

impl Limits {
    /// Returns the default limits of a client, which differ from a server's in some values.
    ///
    /// The window of a connection is so wide that content which nobody reads does not stop what comes on
    /// other streams, up to 16 MiB of it on one connection. A response may have a head of 256 KiB, 1,000
    /// fields and 100 interim responses, since a client asks for what it gets, and no server is told how much
    /// it may send over HTTP/1.1. The memory of a head is charged to its connection as the head comes; none
    /// is taken before.
    ///
    /// ```
    /// use alula::Limits;
    ///
    /// let limits = Limits { fields: 200, ..Limits::client() };
    /// assert_eq!((limits.connection_window, limits.head_bytes), (16 << 20, 256 << 10));
    /// ```
    pub fn client() -> Self {
        Self {
            field_section_bytes: CLIENT_HEAD,
            string_bytes: CLIENT_HEAD,
            head_bytes: CLIENT_HEAD,
            fields: 1000,
            continuation_frames: 64,
            interim_responses: 100,
            connection_window: CLIENT_WINDOW,
            connection_window_max: CLIENT_WINDOW,
            ..Self::default()
        }
    }

    /// Returns the bytes at which a server takes no new requests, by
    /// [`process_memory_soft_percent`](Self::process_memory_soft_percent); with 100 or more percent, all that
    /// connections may hold.
    pub const fn process_memory_soft_bytes(&self) -> u64 {
        match self.process_memory_soft_percent {
            // The quotient is less than what was multiplied.
            percent @ 0..100 => (self.process_memory_bytes as u128 * percent as u128 / 100) as u64,
            _ => self.process_memory_bytes,
        }
    }
}
