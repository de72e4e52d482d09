//! The rules of RFC 7541 a peer can break.

use core::fmt;

/// A rule of RFC 7541 that a block broke, or a limit of ours that a string in it exceeds.
///
/// After one the two tables may differ, so the connection ends with COMPRESSION_ERROR (RFC 9113 §4.3). `Copy`, and made
/// without allocating.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DecodeError {
    rule: &'static str,
    is_limit: bool,
}

impl DecodeError {
    /// The rule in words, ending in its section.
    pub const fn rule(self) -> &'static str {
        self.rule
    }

    /// Whether the block may be right but is more than we take: a string above the limit.
    pub const fn is_limit(self) -> bool {
        self.is_limit
    }

    const fn broken(rule: &'static str) -> Self {
        Self { rule, is_limit: false }
    }

    pub(crate) const INDEX_ZERO: Self = Self::broken("an indexed field with index 0 (RFC 7541 §6.1)");
    pub(crate) const INDEX_BEYOND: Self = Self::broken("an index beyond both tables (RFC 7541 §2.3.3)");
    pub(crate) const INTEGER: Self =
        Self::broken("an integer of more than 32 bits or five continuation octets (RFC 7541 §5.1)");
    pub(crate) const INTEGER_CUT: Self = Self::broken("a block that ends inside an integer (RFC 7541 §5.1)");
    pub(crate) const STRING_CUT: Self = Self::broken("a block that ends inside a string (RFC 7541 §5.2)");
    pub(crate) const FIELD_CUT: Self = Self::broken("a block that ends before a value (RFC 7541 §6.2)");
    pub(crate) const HUFFMAN_EOS: Self = Self::broken("the end-of-string symbol in a string (RFC 7541 §5.2)");
    pub(crate) const HUFFMAN_LONG_PADDING: Self =
        Self::broken("Huffman padding longer than seven bits (RFC 7541 §5.2)");
    pub(crate) const HUFFMAN_PADDING: Self =
        Self::broken("Huffman padding that is not all ones (RFC 7541 §5.2)");
    pub(crate) const UPDATE_MISPLACED: Self =
        Self::broken("a table size update after a field (RFC 7541 §4.2)");
    pub(crate) const UPDATE_TOO_MANY: Self =
        Self::broken("more than two table size updates in a block (RFC 7541 §4.2)");
    pub(crate) const UPDATE_ABOVE_LIMIT: Self =
        Self::broken("a table size update above the limit (RFC 7541 §6.3)");
    pub(crate) const UPDATE_MISSING: Self =
        Self::broken("no table size update although the limit was lowered (RFC 7541 §4.2)");
    pub(crate) const STRING_LIMIT: Self =
        Self { rule: "a string longer than the limit (RFC 7541 §7.4)", is_limit: true };
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule)
    }
}

impl core::error::Error for DecodeError {}
