//! The output of a decoder.

use core::fmt;

use crate::shown::Shown;
use alula_fields::KnownName;

use crate::encode::class::Class;
use crate::table::dynamic::{Near, Stored};
use crate::table::static_table::{LAST, ROWS};

/// A decoded field, borrowed from the block or from the table.
///
/// `Debug` shows what may be shown of the value.
#[derive(Clone, Copy)]
pub struct Decoded<'a> {
    /// The name, any bytes.
    pub name: &'a [u8],
    /// The known name that it is, if any.
    pub known: Option<KnownName>,
    /// The value, any bytes.
    pub value: &'a [u8],
    /// True if it came as a literal that must never be indexed (RFC 7541 §6.2.3); a forwarder has to send it
    /// in the same way.
    pub never: bool,
    /// The validity of name and value in HTTP.
    pub class: Class,
}

impl<'a> Decoded<'a> {
    /// Creates a field from its stored form and its name.
    #[inline(always)]
    pub(crate) const fn of(stored: Stored<'a>) -> Self {
        match stored {
            Stored::Known(known, value, class) => {
                Self { name: known.as_str().as_bytes(), known: Some(known), value, never: false, class }
            }
            Stored::Other(name, value, class) => Self { name, known: None, value, never: false, class },
        }
    }

    /// Returns the size of the field in a list: name, value and 32 bytes (RFC 9113 §6.5.2).
    #[inline]
    pub const fn list_size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

/// Successive fields with indexes of one byte, decoded from the table and a fragment of a block.
pub struct Indexed<'t, 'f> {
    nearest: Near<'t>,
    bytes: core::slice::Iter<'f, u8>,
}

impl<'t, 'f> Indexed<'t, 'f> {
    /// Creates the fields for the indexes at the beginning of the bytes.
    #[inline(always)]
    pub(crate) fn new(nearest: Near<'t>, bytes: &'f [u8]) -> Self {
        Self { nearest, bytes: bytes.iter() }
    }

    /// Returns the bytes from the first that is not such an index.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'f [u8] {
        self.bytes.as_slice()
    }

    /// Returns the next field in stored form.
    #[inline(always)]
    pub(crate) fn next_stored(&mut self) -> Option<Stored<'t>> {
        const FIRST: u8 = 0x81;
        const STATIC: u8 = LAST as u8;
        let mut bytes = self.bytes.clone();
        let byte = *bytes.next()?;
        // One comparison finds most of what comes: indexes below wrap around.
        let field = match self.nearest.behind(byte.wrapping_sub(FIRST + STATIC)) {
            Some(stored) => stored,
            None if byte.wrapping_sub(FIRST) < STATIC => {
                let row = &ROWS[1 + usize::from(byte.wrapping_sub(FIRST))];
                Stored::Known(row.name, row.value.as_bytes(), row.class)
            }
            None => return None,
        };
        self.bytes = bytes;
        Some(field)
    }
}

impl<'t> Iterator for Indexed<'t, '_> {
    type Item = Decoded<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Decoded<'t>> {
        self.next_stored().map(Decoded::of)
    }
}

/// Takes decoded fields, in their order.
///
/// It cannot stop the decoder, which must go through every block to keep its table right: a visitor that has
/// had enough ignores the rest. Closures that take a [`Decoded`] are visitors.
pub trait Visitor {
    /// Takes the next field.
    fn field(&mut self, field: Decoded<'_>);

    /// Takes all fields with indexes of one byte, which are most of the input. A visitor that stores fields
    /// may do so in a loop of its own.
    #[inline(always)]
    fn indexed(&mut self, fields: &mut Indexed<'_, '_>) {
        for field in fields {
            self.field(field);
        }
    }
}

impl<F: FnMut(Decoded<'_>)> Visitor for F {
    #[inline]
    fn field(&mut self, field: Decoded<'_>) {
        self(field);
    }
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Shown { name: self.name, value: self.value, is_secret: self.never };
        write!(f, "Decoded({shown:?}, {:?})", self.class)
    }
}
