//! The layout of a literal field: the places of its parts, found before they are decoded.

use crate::error::DecodeError;
use crate::wire::integer;

/// The representations other than an indexed field (RFC 7541 §6).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// Literal with incremental indexing (RFC 7541 §6.2.1).
    Incremental,
    /// Literal without indexing (RFC 7541 §6.2.2).
    Without,
    /// Literal never indexed (RFC 7541 §6.2.3).
    Never,
    /// Dynamic table size update (RFC 7541 §6.3).
    SizeUpdate,
}

impl Form {
    /// Returns the representation that begins with this byte; `None` for an indexed field.
    #[inline]
    pub(crate) const fn of(first: u8) -> Option<Self> {
        match first {
            0x80..=0xff => None,
            0x40..=0x7f => Some(Self::Incremental),
            0x20..=0x3f => Some(Self::SizeUpdate),
            0x10..=0x1f => Some(Self::Never),
            0x00..=0x0f => Some(Self::Without),
        }
    }

    #[inline]
    const fn prefix(self) -> u32 {
        match self {
            Self::Incremental => 6,
            Self::SizeUpdate => 5,
            Self::Without | Self::Never => 4,
        }
    }
}

/// A complete literal.
#[derive(Clone, Copy)]
pub(crate) struct Literal {
    pub(crate) name: Name,
    pub(crate) value: Span,
    /// The length of the whole field in bytes.
    pub(crate) len: usize,
}

/// The name of a literal.
#[derive(Clone, Copy)]
pub(crate) enum Name {
    /// The name of an entry, with this index in both tables, from 1.
    Index(u32),
    /// A string.
    Literal(Span),
}

/// The place of the bytes of a string.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_huffman: bool,
}

/// A cut field: the bytes that it has at least, and the error if they never come.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) needs: usize,
    pub(crate) error: DecodeError,
}

impl Cut {
    /// Returns the cut of an input that ends within an integer: one more byte may complete it.
    pub(crate) fn in_integer(input: &[u8]) -> Self {
        Self { needs: input.len() + 1, error: DecodeError::INTEGER_CUT }
    }

    /// Returns where the field at the start of `input` is cut.
    pub(crate) fn of(input: &[u8], string_bytes_max: u32) -> Self {
        let literal =
            input.first().and_then(|&first| Form::of(first)).filter(|&form| form != Form::SizeUpdate);
        match literal.map(|form| Literal::measure(form, input, string_bytes_max)) {
            Some(Ok(Err(cut))) => cut,
            _ => Self::in_integer(input),
        }
    }

    fn before_string(at: usize) -> Self {
        Self { needs: at + 1, error: DecodeError::FIELD_CUT }
    }
}

impl Literal {
    /// Finds the parts of the literal at the start of `input`, or where it is cut.
    #[inline]
    pub(crate) fn measure(
        form: Form,
        input: &[u8],
        string_bytes_max: u32,
    ) -> Result<Result<Self, Cut>, DecodeError> {
        let Some((index, mut at)) = integer::decode(input, 0, form.prefix())? else {
            return Ok(Err(Cut::in_integer(input)));
        };
        let name = if index == 0 {
            match Span::measure(input, at, string_bytes_max)? {
                Ok(span) => {
                    at = span.end;
                    Name::Literal(span)
                }
                // A value follows, of which at least the length must be there.
                Err(cut) if cut.error == DecodeError::STRING_CUT => {
                    return Ok(Err(Cut { needs: cut.needs + 1, ..cut }));
                }
                Err(cut) => return Ok(Err(cut)),
            }
        } else {
            Name::Index(index)
        };
        match Span::measure(input, at, string_bytes_max)? {
            Ok(value) => Ok(Ok(Self { name, value, len: value.end })),
            Err(cut) => Ok(Err(cut)),
        }
    }
}

impl Span {
    /// Finds the string that begins at `at`.
    #[inline]
    fn measure(input: &[u8], at: usize, bytes_max: u32) -> Result<Result<Self, Cut>, DecodeError> {
        let Some(&first) = input.get(at) else { return Ok(Err(Cut::before_string(at))) };
        let Some((len, start)) = integer::decode(input, at, 7)? else {
            return Ok(Err(Cut::in_integer(input)));
        };
        if len > bytes_max {
            return Err(DecodeError::STRING_LIMIT);
        }
        let end = start + len as usize;
        if end > input.len() {
            return Ok(Err(Cut { needs: end, error: DecodeError::STRING_CUT }));
        }
        Ok(Ok(Self { start, end, is_huffman: first & 0x80 != 0 }))
    }
}
