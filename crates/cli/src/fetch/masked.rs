//! Values of fields as `-v` shows them.

use std::borrow::Cow;

use alula::masked_field;

/// The value of a field without the credentials that are in it.
pub(super) fn masked<'a>(name: &[u8], value: &'a [u8]) -> Cow<'a, [u8]> {
    masked_field(&String::from_utf8_lossy(name), value)
}
