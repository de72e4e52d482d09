//! The field `user-agent` (RFC 9110 §10.1.5) of requests that have none of their own.

use alula_fields::FieldSection;

const DEFAULT: &str = concat!("alula/", env!("CARGO_PKG_VERSION"));

/// The field that is sent, or nothing.
#[derive(Clone)]
pub(crate) struct UserAgent(FieldSection);

impl Default for UserAgent {
    fn default() -> Self {
        // It is a value by its form.
        Self(FieldSection::from_pairs([("user-agent", DEFAULT)]).unwrap_or_default())
    }
}

impl UserAgent {
    /// Sends these fields.
    pub(crate) const fn of(fields: FieldSection) -> Self {
        Self(fields)
    }

    /// The fields of a request that has none of its own.
    #[inline]
    pub(crate) fn alone(&self) -> &FieldSection {
        &self.0
    }

    /// Adds the field to those of a request that has none of the name.
    #[inline]
    pub(crate) fn add_to(&self, fields: &mut FieldSection) {
        fields.extend_from(&self.0);
    }

    /// Leaves the field to others.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
