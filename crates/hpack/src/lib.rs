//! HPACK (RFC 7541): the header compression of HTTP/2, without allocation per block.
//!
//! This crate is for authors of HTTP/2 stacks. To send requests, use the crate `alula`.
//!
//! An [`Encoder`] turns fields into blocks, a [`Decoder`] turns blocks, whole or in fragments, into fields
//! that a [`Visitor`] sees; [`Collect`] is one that stores them. A [`PreparedBlock`] is made once and written
//! many times by any number of encoders. A [`Memo`] knows blocks it has seen before. The codec carries any
//! bytes, empty names included, and reports in [`Class`] which rules of HTTP they keep: refusing is for those
//! who know what the fields are for.
//!
//! ```
//! use alula::{KnownName, Limits, fields::Head, machine::OutBuf};
//! use alula::hpack::{Collect, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Indexing};
//!
//! let mut encoder = Encoder::new(EncoderConfig::default());
//! let mut decoder = Decoder::new(DecoderLimits::default());
//! let (mut out, mut head) = (OutBuf::new(), Head::new());
//! for _ in 0..3 {
//!     out.clear();
//!     let mut block = encoder.block(&mut out);
//!     block.known(KnownName::PSEUDO_METHOD, b"GET");
//!     block.known(KnownName::USER_AGENT, b"example");
//!     block.field(Field::new(b"x-token", b"secret").with(Indexing::Never));
//!     block.finish();
//!
//!     head.clear();
//!     let mut collect = Collect::head(&mut head, &Limits::default());
//!     decoder.decode(out.unsent(), true, &mut collect)?;
//!     assert_eq!(collect.finish(), Ok(()));
//!     assert_eq!(head.method(), Some("GET"));
//!     assert_eq!(head.fields.get("user-agent"), Some(&b"example"[..]));
//! }
//! // A user agent that comes again has become one byte; the secret never does.
//! assert_eq!(out.unsent()[..2], [0x82, 0xbe]);
//! assert_eq!(encoder.table().len(), 1);
//! # Ok::<(), alula::hpack::DecodeError>(())
//! ```
//!
//! Choices where the RFC leaves one: by default an encoder enters a field when it comes for the second time
//! ([`Policy::Repeat`]); integers have up to five continuation bytes, zeroes included; a peer that owes a
//! table size update must send it; a string above the limit ends the connection, a list above the limit only
//! its message.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod decode;
mod encode;
mod error;
mod huffman;
mod shown;
mod table;
mod wire;

pub use decode::collect::{Collect, ListLimits, Refusal};
pub use decode::decoder::{Decoder, DecoderLimits};
pub use decode::memo::Memo;
pub use decode::visitor::{Decoded, Indexed, Visitor};
pub use encode::block::Block;
pub use encode::class::Class;
pub use encode::config::{EncoderConfig, Huffman, Policy};
pub use encode::encoder::Encoder;
pub use encode::field::{Field, Indexing};
pub use encode::prepared::{Part, PrepareError, PreparedBlock};
pub use error::DecodeError;
pub use table::view::TableView;
