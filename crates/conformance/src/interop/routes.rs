//! What the servers that are programs of ours answer, whatever they are written in: Go, Node, hyper and Alula
//! itself.
//!
//! | path | answer |
//! | --- | --- |
//! | `small.txt`, `empty.txt` | as in [`Site`] |
//! | `big?n=N` | the alphabet, again and again |
//! | `echo` | the content of the request |
//! | `trailers` | [`TRAILED`], then [`TRAILERS`] |
//! | `sent-trailers` | the trailers of the request as `name: value` lines |
//! | `interim` | twice 103, then [`HINTED`] |
//! | `reset` | [`HALF`] of a content, then RST_STREAM |
//! | `wait` | a head at once and [`HELD`] after somebody asked for `release` |
//! | `goaway` | [`LAST`], and GOAWAY for the connection |
//! | `fields?n=N&size=S` | N fields `x-field-I` of S bytes; says how many fields `x-sent-I` of how many bytes came |

use crate::site::{Site, bytes};

/// The content of [`Site::SMALL`].
pub const SMALL: &str = "a feather of little weight";
/// The content that has trailers.
pub const TRAILED: &str = "trailers follow\n";
/// The trailers of responses and requests.
pub const TRAILERS: [(&str, &str); 2] = [("x-checksum", "c0ffee"), ("x-count", "16")];
/// What comes after two interim responses.
pub const HINTED: &str = "after two hints\n";
/// What comes before a reset; 20 bytes are promised.
pub const HALF: &str = "half of it";
/// What a held request is answered with.
pub const HELD: &str = "held and released\n";
/// What comes with GOAWAY.
pub const LAST: &str = "the last answer\n";
/// The answer to `release`.
pub const RELEASED: &str = "released\n";
/// How long the generated content is.
pub const BIG_BYTES: usize = 10 * 1024 * 1024;
/// What a client gives up: more than the windows of any client and the buffers of the system hold.
pub const ENDLESS_BYTES: usize = 100 * 1024 * 1024;
/// How much is uploaded.
pub const UPLOAD_BYTES: usize = 5 * 1024 * 1024;
/// Fields of a large section, each way.
pub const LARGE_FIELDS: usize = 40;
/// The length of each.
pub const LARGE_FIELD_BYTES: usize = 1000;

/// What `big?n=` answers.
#[must_use]
pub fn alphabet(length: usize) -> Vec<u8> {
    (b'a'..=b'z').cycle().take(length).collect()
}

/// The downloads: path and content.
#[must_use]
pub fn downloads() -> [(String, Vec<u8>); 3] {
    [
        (Site::SMALL.to_owned(), Site::content(Site::SMALL)),
        (Site::EMPTY.to_owned(), Vec::new()),
        (format!("big?n={BIG_BYTES}"), alphabet(BIG_BYTES)),
    ]
}

/// What is uploaded.
#[must_use]
pub fn upload() -> Vec<u8> {
    bytes(5, UPLOAD_BYTES)
}

/// What is sent as a large section.
///
/// Random hexadecimal digits do not shrink below five bits each (RFC 7541 §5.2), so that 40 000 of them
/// cannot come in one frame of 16 384 bytes, which is all that either side allows.
#[must_use]
pub fn large_fields() -> Vec<(String, String)> {
    let digits = |field: usize| -> String {
        let random = bytes(field as u64, LARGE_FIELD_BYTES / 2);
        random.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    (0..LARGE_FIELDS).map(|field| (format!("x-sent-{field}"), digits(field))).collect()
}

/// What a server says that got [`large_fields`].
#[must_use]
pub fn large_fields_received() -> String {
    format!("{LARGE_FIELDS} fields, {} bytes\n", LARGE_FIELDS * LARGE_FIELD_BYTES)
}

/// Where a server answers with as many fields.
#[must_use]
pub fn large_response() -> String {
    format!("fields?n={LARGE_FIELDS}&size={LARGE_FIELD_BYTES}")
}

/// The trailers of a request as `sent-trailers` shows them.
#[must_use]
pub fn trailers_received() -> String {
    TRAILERS.map(|(name, value)| format!("{name}: {value}\n")).concat()
}
