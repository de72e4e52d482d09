//! The configuration of an encoder.

/// The fields that enter the dynamic table when [`Indexing::Auto`](crate::Indexing::Auto) leaves the choice
/// to the encoder.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// The stateless mode: no field enters, not even with [`Indexing::Index`](crate::Indexing::Index). Blocks
    /// do not depend on each other, so any of them may be dropped, repeated or sent in another order.
    Static,
    /// Every field enters that is not in a table and fits.
    Always,
    /// A field enters if its name and value were among the last ones that were sent, or its name was and no
    /// table has it. Values that never come back, such as ids and dates, push nothing useful out. The best
    /// choice when nothing is known about the fields.
    #[default]
    Repeat,
    /// No field enters: each is a literal that is never indexed by intermediaries either.
    Never,
}

/// The rule by which strings are Huffman-coded (RFC 7541 §5.2).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Huffman {
    /// Never.
    Never,
    /// Huffman coding where it makes a string shorter.
    #[default]
    Shorter,
    /// Huffman coding for all strings but empty ones, even if it makes them longer.
    Always,
}

/// The settings of an [`Encoder`](crate::Encoder).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EncoderConfig {
    /// The fields that enter the dynamic table.
    pub policy: Policy,
    /// The rule by which strings are Huffman-coded.
    pub huffman: Huffman,
    /// The largest dynamic table that we keep, in bytes as RFC 7541 §4.1 counts them, whatever the peer
    /// allows. 4096 by default, the initial limit of the peer. The memory it takes is about three times as
    /// much once it is full.
    pub table_bytes_max: u32,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self { policy: Policy::default(), huffman: Huffman::default(), table_bytes_max: TABLE_BYTES_INITIAL }
    }
}

/// The initial SETTINGS_HEADER_TABLE_SIZE (RFC 9113 §6.5.2).
pub(crate) const TABLE_BYTES_INITIAL: u32 = 4096;
