//! The field `server` of every answer.

use alula::{FieldSection, Hook, KnownName, Status};

/// Names the program in every answer.
pub(in crate::http) struct Software;

const NAME: &str = concat!("alula-store/", env!("CARGO_PKG_VERSION"));

impl Hook for Software {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        if !headers.contains(KnownName::SERVER) {
            // The name is valid, and a section that takes no field more is answered without it.
            let _ = headers.append(KnownName::SERVER, NAME);
        }
    }
}
