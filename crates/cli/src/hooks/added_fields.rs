//! `--header`: fields in every answer.

use alula::{FieldSection, Hook, KnownName, Status};

use crate::{
    args::{Added, section},
    exit::{Exit, Failure},
};

/// Puts fields into every answer, in the place of those of the same names. `vary` is added to what there is: an answer that
/// depends on less than it does would be taken for another.
pub(super) struct AddedFields {
    replacing: FieldSection,
    joining: FieldSection,
}

impl AddedFields {
    /// # Errors
    /// None that is known: the fields were checked when they were read.
    pub(super) fn of(fields: &[Added]) -> Result<Self, Failure> {
        let joins = |field: &&Added| field.name.eq_ignore_ascii_case(KnownName::VARY.as_str());
        let failed = |error| Failure::new(Exit::Usage, error);
        Ok(Self {
            replacing: section(fields.iter().filter(|field| !joins(field))).map_err(failed)?,
            joining: section(fields.iter().filter(joins)).map_err(failed)?,
        })
    }
}

impl Hook for AddedFields {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        headers.merge(&self.replacing);
        headers.extend_from(&self.joining);
    }
}
