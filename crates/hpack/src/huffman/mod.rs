//! Huffman coding of strings (RFC 7541 §5.2 and Appendix B).

mod codes;
mod decode;
mod encode;

pub(crate) use decode::{decode, decoded_len_max};
pub(crate) use encode::encode;
#[cfg(test)]
pub(crate) use encode::encoded_len;
