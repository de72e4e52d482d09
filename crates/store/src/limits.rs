//! The limits of a server of a store: Riak's clients send longer heads than others, and large writes wait for
//! each other.

use alula::Limits;

/// The bytes of a target. A key has 65 536 bytes, which are 196 608 percent-encoded. A query of an index
/// names two terms of that length, and goes on at a third one and a key, which are 174 764 together in
/// base64.
const TARGET_BYTES: u32 = 768 * 1024;

/// The bytes of a head: the target, and 256 KiB for links, index entries and fields of users.
const HEAD_BYTES: u32 = 1024 * 1024;

/// The fields of a head, as Riak has it: each index entry, link and field of users may be a field of its own.
const FIELDS: u32 = 1000;

/// The memory of a connection. One head is held three times while it is read: in the read buffer, in the
/// section, and in the room to which one of them has just grown.
const CONNECTION_MEMORY_BYTES: u64 = 8 * 1024 * 1024;

/// The bytes that a stream may send ahead, and those of all streams together. A large write waits for its
/// part of the bytes in flight without reading: what all streams of a connection may send ahead while they
/// wait, and twice that, has to leave room for those whose turn it is.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// The bytes that are read and dropped after an early answer, over both versions: many clients send all of a
/// content before they look for an answer, and lose it to a reset. It is the longest object, and a quarter.
const UNWANTED_BYTES: u32 = 64 * 1024 * 1024;

/// Limits for a server of a store, those of a [`Server`](alula::Server) but for what Riak's clients need:
/// targets of 768 KiB, heads of 1 MiB with 1000 fields, 8 MiB for a connection beside its windows.
///
/// After an answer that came before all of the content, such as 413, up to 64 MiB of it are read and dropped,
/// within [`linger_timeout`](Limits::linger_timeout) where the connection or the stream ends. With objects
/// of more than 51 MiB, make
/// [`drain_bytes`](Limits::drain_bytes) and [`linger_bytes`](Limits::linger_bytes) longer than these.
///
/// Over HTTP/2 a stream may send 64 KiB ahead and all streams of a connection 16 MiB. With the limits of
/// other servers, writes of large objects that wait for room hold the whole window of their connection, and
/// those whose turn it is do not get on.
///
/// ```no_run
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// let server = alula::Server::builder().limits(alula_store::limits()).bind("127.0.0.1:8098").await?;
/// # Ok(())
/// # }
/// ```
pub fn limits() -> Limits {
    let frame_bytes = Limits::default().frame_bytes;
    Limits {
        target_bytes: TARGET_BYTES,
        head_bytes: HEAD_BYTES,
        field_section_bytes: HEAD_BYTES,
        string_bytes: TARGET_BYTES,
        // A head that is not compressed takes all of these.
        continuation_frames: HEAD_BYTES / frame_bytes,
        fields: FIELDS,
        connection_memory_bytes: CONNECTION_MEMORY_BYTES,
        drain_bytes: UNWANTED_BYTES,
        linger_bytes: UNWANTED_BYTES,
        stream_window: STREAM_WINDOW,
        connection_window: CONNECTION_WINDOW,
        connection_window_max: CONNECTION_WINDOW,
        ..Limits::default()
    }
}
