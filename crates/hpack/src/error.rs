//! The rules of RFC 7541 a peer can break.

use core::fmt::{self, Debug};

/// A rule of RFC 7541 that a block broke, or a limit of ours that a string in it exceeds.
///
/// After one the two tables may differ, so the connection ends with COMPRESSION_ERROR (RFC 9113 §4.3). One
/// byte, and made without allocating.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct DecodeError {
    rule: Rule,
}

impl DecodeError {
    pub(crate) const INDEX_ZERO: Self = Self { rule: Rule::IndexZero };
    pub(crate) const INDEX_BEYOND: Self = Self { rule: Rule::IndexBeyond };
    pub(crate) const INTEGER: Self = Self { rule: Rule::Integer };
    pub(crate) const INTEGER_CUT: Self = Self { rule: Rule::IntegerCut };
    pub(crate) const STRING_CUT: Self = Self { rule: Rule::StringCut };
    pub(crate) const FIELD_CUT: Self = Self { rule: Rule::FieldCut };
    pub(crate) const HUFFMAN_EOS: Self = Self { rule: Rule::HuffmanEos };
    pub(crate) const HUFFMAN_LONG_PADDING: Self = Self { rule: Rule::HuffmanLongPadding };
    pub(crate) const HUFFMAN_PADDING: Self = Self { rule: Rule::HuffmanPadding };
    pub(crate) const UPDATE_MISPLACED: Self = Self { rule: Rule::UpdateMisplaced };
    pub(crate) const UPDATE_TOO_MANY: Self = Self { rule: Rule::UpdateTooMany };
    pub(crate) const UPDATE_ABOVE_LIMIT: Self = Self { rule: Rule::UpdateAboveLimit };
    pub(crate) const UPDATE_MISSING: Self = Self { rule: Rule::UpdateMissing };
    pub(crate) const STRING_LIMIT: Self = Self { rule: Rule::StringLimit };

    /// Returns the rule in words, ending in its section.
    pub const fn rule(self) -> &'static str {
        match self.rule {
            Rule::IndexZero => "an indexed field with index 0 (RFC 7541 §6.1)",
            Rule::IndexBeyond => "an index beyond both tables (RFC 7541 §2.3.3)",
            Rule::Integer => "an integer of more than 32 bits or five continuation bytes (RFC 7541 §5.1)",
            Rule::IntegerCut => "a block that ends inside an integer (RFC 7541 §5.1)",
            Rule::StringCut => "a block that ends inside a string (RFC 7541 §5.2)",
            Rule::FieldCut => "a block that ends before a string of a literal (RFC 7541 §6.2)",
            Rule::HuffmanEos => "the end-of-string symbol in a string (RFC 7541 §5.2)",
            Rule::HuffmanLongPadding => "Huffman padding longer than seven bits (RFC 7541 §5.2)",
            Rule::HuffmanPadding => "Huffman padding that is not all ones (RFC 7541 §5.2)",
            Rule::UpdateMisplaced => "a table size update after a field (RFC 7541 §4.2)",
            Rule::UpdateTooMany => "more than two table size updates in a block (RFC 7541 §4.2)",
            Rule::UpdateAboveLimit => "a table size update above the limit (RFC 7541 §6.3)",
            Rule::UpdateMissing => "no table size update although the limit was lowered (RFC 7541 §4.2)",
            Rule::StringLimit => "a string longer than the limit (RFC 7541 §7.4)",
        }
    }

    /// Returns true if the block may be valid but exceeds a limit of ours: a string is too long.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::STRING_LIMIT)
    }
}

impl Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecodeError").field(&self.rule()).finish()
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())
    }
}

impl core::error::Error for DecodeError {}

/// The rule that was broken. One byte, with values to spare.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Rule {
    IndexZero,
    IndexBeyond,
    Integer,
    IntegerCut,
    StringCut,
    FieldCut,
    HuffmanEos,
    HuffmanLongPadding,
    HuffmanPadding,
    UpdateMisplaced,
    UpdateTooMany,
    UpdateAboveLimit,
    UpdateMissing,
    StringLimit,
}

// It is returned from every call of a decoder: together with success it stays in a register.
const _: () = assert!(size_of::<Result<(), DecodeError>>() == 1);
