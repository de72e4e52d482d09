//! Targets of HPACK, and a naive codec beside it.

mod hpack_decode;
mod hpack_round_trip;
mod huffman;
mod naive_hpack;
mod naive_huffman;

pub use hpack_decode::hpack_decode;
pub use hpack_round_trip::hpack_round_trip;
pub use huffman::huffman;
