//! Blocks that are sent repeatedly, prepared once.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use alula_fields::KnownName;

use crate::encode::class::Class;
use crate::encode::config::Huffman;
use crate::encode::field::{Field, Indexing};
use crate::encode::treatment::{NEVER, is_secret};
use crate::table::static_table::NameRows;
use crate::wire::{integer, string};

/// A list of fields with holes, checked and encoded as far as possible without a connection.
///
/// It belongs to no encoder: any number of them, on any thread, may write it with
/// [`Encoder::emit`](crate::Encoder::emit), and each remembers by the block's id which entries of its table
/// the fields are. Making one allocates.
///
/// ```
/// use alula::{KnownName, machine::OutBuf};
/// use alula::hpack::{Encoder, EncoderConfig, Field, Indexing, Part, PreparedBlock};
///
/// let block = PreparedBlock::new([
///     Part::Field(Field::known(KnownName::PSEUDO_METHOD, b"GET")),
///     Part::Hole { name: b":path", indexing: Indexing::Without },
///     Part::Field(Field::new(b"user-agent", b"alula")),
/// ])?;
/// let mut encoder = Encoder::new(EncoderConfig::default());
/// let mut out = OutBuf::new();
/// encoder.emit(&block, &[b"/first"], &mut out);
/// out.clear();
/// encoder.emit(&block, &[b"/2"], &mut out);
/// assert_eq!(out.unsent(), b"\x82\x04\x02/2\xbe");
/// # Ok::<(), alula::hpack::PrepareError>(())
/// ```
pub struct PreparedBlock {
    id: u64,
    parts: Vec<PreparedPart>,
    bytes: Vec<u8>,
    holes: usize,
    fixed_len_max: usize,
}

/// A part that a [`PreparedBlock`] is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A field that is the same every time. With [`Indexing::Auto`] it becomes an entry at once, since it
    /// will come again, unless it is a secret or the encoder's policy is against entries.
    Field(Field<'a>),
    /// A field whose value is given each time.
    Hole {
        /// The name, in lower case.
        name: &'a [u8],
        /// The indexing that the encoder may do with it.
        indexing: Indexing,
    },
}

/// The error of a part that was refused: its number, from 0, and whether its name or its value is at fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PrepareError {
    /// The number of the part, counted from 0.
    pub part: usize,
    /// True if the name is at fault, else the value.
    pub is_name: bool,
}

/// A part, as the places of its bytes.
pub(crate) struct PreparedPart {
    known: Option<KnownName>,
    indexing: Indexing,
    pub(crate) hole: Option<u32>,
    name: Range<usize>,
    value: Range<usize>,
    /// The literal without indexing, with strings in the shorter form.
    literal: Range<usize>,
}

impl PreparedBlock {
    /// Checks and codes the parts, in their order on the wire.
    ///
    /// # Errors
    ///
    /// If a name is neither a lower-case token nor a known pseudo-field's (RFC 9113 §8.2.1, §8.3), or if a
    /// value holds a control other than tab or has white space at an end.
    pub fn new<'a>(parts: impl IntoIterator<Item = Part<'a>>) -> Result<Self, PrepareError> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let mut block = Self { id, parts: Vec::new(), bytes: Vec::new(), holes: 0, fixed_len_max: 0 };
        for part in parts {
            block.push(part)?;
        }
        Ok(block)
    }

    /// Returns a number that is unique in this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of holes.
    pub fn holes(&self) -> usize {
        self.holes
    }

    /// Returns the sum of name, value and 32 bytes over all fields, holes counted as empty (RFC 9113 §6.5.2).
    pub fn list_size(&self) -> usize {
        self.parts.iter().map(|part| part.name.len() + part.value.len() + 32).sum()
    }

    pub(crate) fn parts(&self) -> &[PreparedPart] {
        &self.parts
    }

    /// Returns the most bytes of the parts between two holes.
    pub(crate) fn fixed_len_max(&self) -> usize {
        self.fixed_len_max
    }

    /// Returns the field of a part that is not a hole.
    pub(crate) fn field<'a>(&'a self, part: &PreparedPart) -> Field<'a> {
        self.field_with(part, &self.bytes[part.value.clone()])
    }

    /// Returns the field of a hole with this value.
    pub(crate) fn field_with<'a>(&'a self, part: &PreparedPart, value: &'a [u8]) -> Field<'a> {
        Field { name: &self.bytes[part.name.clone()], known: part.known, value, indexing: part.indexing }
    }

    pub(crate) fn literal<'a>(&'a self, part: &PreparedPart) -> &'a [u8] {
        &self.bytes[part.literal.clone()]
    }

    fn push(&mut self, part: Part<'_>) -> Result<(), PrepareError> {
        let (field, hole) = match part {
            Part::Field(field) => (field, None),
            Part::Hole { name, indexing } => (Field::new(name, b"").with(indexing), Some(self.holes as u32)),
        };
        let known = field.known.or_else(|| KnownName::lookup(field.name));
        self.check(field.name, known, field.value)?;
        self.holes += usize::from(hole.is_some());
        let secret = known.is_some_and(|name| is_secret(name, field.value));
        let indexing = match field.indexing {
            Indexing::Auto if secret && hole.is_none() => Indexing::Never,
            given => given,
        };
        let (name, value) = (self.store(field.name), self.store(field.value));
        let literal = match hole {
            None => self.store(&literal(field.name, known, field.value, indexing)),
            Some(_) => 0..0,
        };
        self.fixed_len_max += literal.len().max(integer::LEN_MAX);
        self.parts.push(PreparedPart { known, indexing, hole, name, value, literal });
        Ok(())
    }

    fn check(&self, name: &[u8], known: Option<KnownName>, value: &[u8]) -> Result<(), PrepareError> {
        let (part, class) = (self.parts.len(), Class::of(name, value));
        let is_name = class.name_ok() || (class.name_pseudo() && known.is_some());
        if !is_name {
            return Err(PrepareError { part, is_name: true });
        }
        if !class.value_ok() || !class.value_trimmed() {
            return Err(PrepareError { part, is_name: false });
        }
        Ok(())
    }

    fn store(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}

/// Returns a literal that does not change the table and uses at most the static table (RFC 7541 §6.2.2,
/// §6.2.3).
fn literal(name: &[u8], known: Option<KnownName>, value: &[u8], indexing: Indexing) -> Vec<u8> {
    let strings = string::encoded_len_max(name.len(), Huffman::Shorter)
        + string::encoded_len_max(value.len(), Huffman::Shorter);
    let mut out = vec![0; integer::LEN_MAX + strings];
    let index = known.map_or(0, |name| NameRows::of(name).first);
    let pattern = if indexing == Indexing::Never { NEVER } else { 0 };
    let mut at = integer::encode(u32::from(index), 4, pattern, &mut out);
    if index == 0 {
        at += string::encode(name, Huffman::Shorter, &mut out[at..]);
    }
    at += string::encode(value, Huffman::Shorter, &mut out[at..]);
    out.truncate(at);
    out
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_name { "name" } else { "value" };
        write!(f, "the {what} of part {} is not one HTTP/2 allows (RFC 9113 §8.2.1)", self.part)
    }
}

impl core::error::Error for PrepareError {}

/// Shows the number of holes.
impl fmt::Debug for PreparedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBlock").field("holes", &self.holes()).finish_non_exhaustive()
    }
}
