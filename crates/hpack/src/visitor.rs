//! What a decoder hands out.

use alula_fields::KnownName;

use crate::class::Class;

/// One decoded field, borrowed from the block or from the table.
///
/// `Debug` shows what may be shown of the value.
#[derive(Clone, Copy)]
pub struct Decoded<'a> {
    /// The name, any octets.
    pub name: &'a [u8],
    /// Which known name that is.
    pub known: Option<KnownName>,
    /// The value, any octets.
    pub value: &'a [u8],
    /// True if it came as a literal that is never to be indexed (RFC 7541 §6.2.3); whoever passes it on must say so again.
    pub never: bool,
    /// Which rules of HTTP name and value keep.
    pub class: Class,
}

impl Decoded<'_> {
    /// What the field counts in a list: name, value and 32 octets (RFC 9113 §6.5.2).
    #[inline]
    pub const fn list_size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

/// Takes decoded fields, in their order.
///
/// It cannot stop the decoder, which must go through every block to keep its table right: a visitor that has had enough
/// ignores the rest. Closures that take a [`Decoded`] are visitors.
pub trait Visitor {
    /// Takes the next field.
    fn field(&mut self, field: Decoded<'_>);
}

impl<F: FnMut(Decoded<'_>)> Visitor for F {
    #[inline]
    fn field(&mut self, field: Decoded<'_>) {
        self(field);
    }
}
