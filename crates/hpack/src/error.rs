//! The rules of RFC 7541 a peer can break.

use core::fmt;

/// A rule of RFC 7541 that a block broke, or a limit of ours that a string in it exceeds.
///
/// After one the two tables may differ, so the connection ends with COMPRESSION_ERROR (RFC 9113 §4.3). One octet, and made
/// without allocating.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct DecodeError(Rule);

/// Declares each rule once: its constant and its words, which end in the section.
macro_rules! rules {
    ($($constant:ident $rule:literal)*) => {
        #[derive(Clone, Copy, Eq, PartialEq)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Rule { $($constant,)* }

        impl DecodeError {
            $(pub(crate) const $constant: Self = Self(Rule::$constant);)*

            /// The rule in words, ending in its section.
            pub const fn rule(self) -> &'static str {
                match self.0 {
                    $(Rule::$constant => $rule,)*
                }
            }
        }
    };
}

rules! {
    INDEX_ZERO "an indexed field with index 0 (RFC 7541 §6.1)"
    INDEX_BEYOND "an index beyond both tables (RFC 7541 §2.3.3)"
    INTEGER "an integer of more than 32 bits or five continuation octets (RFC 7541 §5.1)"
    INTEGER_CUT "a block that ends inside an integer (RFC 7541 §5.1)"
    STRING_CUT "a block that ends inside a string (RFC 7541 §5.2)"
    FIELD_CUT "a block that ends before a string of a literal (RFC 7541 §6.2)"
    HUFFMAN_EOS "the end-of-string symbol in a string (RFC 7541 §5.2)"
    HUFFMAN_LONG_PADDING "Huffman padding longer than seven bits (RFC 7541 §5.2)"
    HUFFMAN_PADDING "Huffman padding that is not all ones (RFC 7541 §5.2)"
    UPDATE_MISPLACED "a table size update after a field (RFC 7541 §4.2)"
    UPDATE_TOO_MANY "more than two table size updates in a block (RFC 7541 §4.2)"
    UPDATE_ABOVE_LIMIT "a table size update above the limit (RFC 7541 §6.3)"
    UPDATE_MISSING "no table size update although the limit was lowered (RFC 7541 §4.2)"
    STRING_LIMIT "a string longer than the limit (RFC 7541 §7.4)"
}

impl DecodeError {
    /// Whether the block may be right but is more than we take: a string above the limit.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::STRING_LIMIT)
    }
}

impl fmt::Debug for DecodeError {
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

// It is returned from every call of a decoder: together with success it stays in a register.
const _: () = assert!(size_of::<Result<(), DecodeError>>() == 1);
