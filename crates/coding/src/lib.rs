//! Decoders of the codings of content (RFC 9110 §8.4), for messages that are being received.
//!
//! [`Codings`] reads which codings a message has. A [`DecoderPool`] lends a decoder for them, which stands between the bytes of the
//! connection and the body that is read, and which comes back, with its memory, for the next message.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "brotli")]
mod brotli;
mod budget;
mod chain;
mod codings;
#[cfg(feature = "gzip")]
mod deflate;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "gzip")]
mod gzip_header;
mod pool;
mod stage;
#[cfg(test)]
mod tests;
#[cfg(feature = "zstd")]
mod zstd;

pub use budget::coded_bytes_max;
pub use codings::{ACCEPTED, Coding, Codings};
pub use pool::DecoderPool;

/// The reader of gzip headers, laid open for the fuzz targets in `crates/trials`. This is no API: it may
/// change with any version.
#[cfg(all(feature = "gzip", feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::gzip_header::bytes_of as gzip_header;
}
