//! HPACK (RFC 7541): header compression for HTTP/2.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod class;
mod config;
mod decoder;
mod encoder;
mod error;
mod field;
mod hash;
mod huffman;
mod integer;
mod literal;
mod lookup;
mod plan;
mod prepared;
mod seen;
mod static_table;
mod string;
mod table;
mod view;
mod visitor;

pub use class::Class;
pub use config::{EncoderConfig, Huffman, Policy};
pub use decoder::{Decoder, DecoderLimits};
pub use encoder::{Block, Encoder};
pub use error::DecodeError;
pub use field::{Field, Indexing};
pub use prepared::{Part, PrepareError, PreparedBlock};
pub use view::TableView;
pub use visitor::{Decoded, Visitor};
