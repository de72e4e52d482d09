//! `--header`: fields for answers that succeed or redirect, or for all with `--header-always`.

use alula::{FieldSection, Hook, KnownName, Status};

use crate::{
    args::{Added, section},
    failure::exit::{Exit, Failure},
};

/// Sets fields of answers, replacing those of the same names. `vary` is added to what there is: an answer
/// that depends on less than it does would be taken for another.
pub(super) struct AddedFields {
    replacing: FieldSection,
    joining: FieldSection,
    /// Errors get them, too.
    is_always: bool,
}

impl AddedFields {
    /// # Errors
    /// None that is known: the fields were checked when they were read.
    pub(super) fn of(fields: &[Added], is_always: bool) -> Result<Self, Failure> {
        let joins = |field: &&Added| field.name.eq_ignore_ascii_case(KnownName::VARY.as_str());
        let failed = |error| Failure::new(Exit::Usage, error);
        Ok(Self {
            replacing: section(fields.iter().filter(|field| !joins(field))).map_err(failed)?,
            joining: section(fields.iter().filter(joins)).map_err(failed)?,
            is_always,
        })
    }
}

impl Hook for AddedFields {
    fn head(&self, status: Status, headers: &mut FieldSection) {
        // How long an error may be kept, and what a browser may do with it, is not said by what was meant for
        // pages.
        if !self.is_always && !status.is_success() && !status.is_redirection() {
            return;
        }
        headers.merge(&self.replacing);
        headers.extend_from(&self.joining);
    }
}
