//! The field `user-agent` (RFC 9110 §10.1.5) of requests that have none of their own.

use alula_fields::{FieldSection, KnownName};

use crate::builder::ClientBuilder;

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

/// The program that asks.
impl ClientBuilder {
    /// Sends this as `user-agent` (RFC 9110 §10.1.5) with every request that has none of its own, in place of
    /// `alula/` and the version of Alula. Allocates; a request then costs a look at its fields and the copy,
    /// and no allocation. A value that cannot stand in a field is told by [`build`](Self::build).
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().user_agent("example/1.0").build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn user_agent(mut self, value: impl AsRef<[u8]>) -> Self {
        let mut fields = FieldSection::new();
        if let Err(mistake) = fields.append(KnownName::USER_AGENT, value) {
            self.note(mistake);
            return self;
        }
        self.settings.policy.fields.remove(KnownName::USER_AGENT);
        self.settings.policy.user_agent = UserAgent(fields);
        self
    }

    /// Sends no `user-agent` with requests that have none of their own.
    #[must_use]
    pub fn no_user_agent(mut self) -> Self {
        self.settings.policy.fields.remove(KnownName::USER_AGENT);
        self.settings.policy.user_agent.clear();
        self
    }
}
