//! A field as the encoder takes it.

use core::fmt;

use crate::shown::Shown;
use alula_fields::KnownName;

/// A name and a value to encode, borrowed, with the indexing that is allowed.
///
/// The codec carries any bytes; that HTTP/2 wants lower-case names and no control bytes is the caller's
/// matter.
///
/// `Debug` shows what may be shown of the value.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Field<'a> {
    /// The name; a known one in its exact lower-case form.
    pub name: &'a [u8],
    /// The known name, if it is one. With `None` the encoder looks it up, which costs some twenty
    /// instructions.
    pub known: Option<KnownName>,
    /// The value.
    pub value: &'a [u8],
    /// The indexing that the encoder may do.
    pub indexing: Indexing,
}

impl<'a> Field<'a> {
    /// A field whose name is looked up now; the encoder's policy decides.
    ///
    /// ```
    /// use alula::hpack::{Field, Indexing};
    ///
    /// let field = Field::new(b"x-request-id", b"17").with(Indexing::Without);
    /// assert!(field.known.is_some());
    /// ```
    #[inline]
    pub fn new(name: &'a [u8], value: &'a [u8]) -> Self {
        Self { name, known: KnownName::lookup(name), value, indexing: Indexing::Auto }
    }

    /// A field with a known name; the encoder's policy decides.
    #[inline]
    pub fn known(name: KnownName, value: &'a [u8]) -> Self {
        Self { name: name.as_str().as_bytes(), known: Some(name), value, indexing: Indexing::Auto }
    }

    /// Returns the same field with another treatment.
    #[inline]
    pub const fn with(self, indexing: Indexing) -> Self {
        Self { indexing, ..self }
    }
}

/// The indexing that an encoder may do with a field (RFC 7541 §6.2, §7.1).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Indexing {
    /// The encoder's [`Policy`](crate::Policy) decides; what looks like a secret is never indexed.
    #[default]
    Auto,
    /// An entry of the dynamic table, under any policy but [`Policy::Static`](crate::Policy::Static).
    Index,
    /// A literal that does not change the table; intermediaries may index it. Only the name may be an index.
    Without,
    /// A literal that intermediaries must not index either, for secrets. Only the name may be an index.
    Never,
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_secret = self.indexing == Indexing::Never;
        let shown = Shown { name: self.name, value: self.value, is_secret };
        write!(f, "Field({shown:?}, {:?})", self.indexing)
    }
}
