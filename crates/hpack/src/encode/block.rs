//! A block that is written field by field.

use alula_fields::KnownName;
use alula_machine::OutBuf;

use crate::encode::encoder::Encoder;
use crate::encode::field::Field;

/// A block that is being encoded; see [`Encoder::block`]. Dropping it ends the block as
/// [`finish`](Self::finish) does.
#[derive(Debug)]
pub struct Block<'e> {
    pub(crate) encoder: &'e mut Encoder,
    pub(crate) out: &'e mut OutBuf,
}

impl Block<'_> {
    /// Appends a field.
    #[inline]
    pub fn field(&mut self, field: Field<'_>) {
        self.encoder.quick_or_field(&field, self.out);
    }

    /// Appends a field with a known name; the encoder's policy decides.
    #[inline]
    pub fn known(&mut self, name: KnownName, value: &[u8]) {
        self.field(Field::known(name, value));
    }

    /// Ends the block.
    #[inline]
    pub fn finish(self) {}
}
