//! Fields of every answer that tell browsers not to trust what is stored.
//!
//! Whoever may write an object names its media type. A page, a drawing or a document with a program in it
//! would run in
//! the name of the store, beside the credentials of whoever opens it.

use alula::{FieldSection, Hook, KnownName, Status};

use crate::config::{Config, Referers};

/// The fields of a store as it is configured.
#[derive(Clone, Debug)]
pub(super) struct BrowserFields {
    /// Pages of other origins do not get answers as images, programs and the like.
    is_closed: bool,
    /// What is shown runs no program, and is what its media type says.
    sandboxes: bool,
}

impl BrowserFields {
    pub(super) const fn new(config: &Config) -> Self {
        Self { is_closed: !matches!(config.referers, Referers::Any), sandboxes: config.sandbox }
    }
}

impl Hook for BrowserFields {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        // The values are valid, and a section that takes no field more is answered without it.
        if self.is_closed {
            let _ = headers.append(KnownName::CROSS_ORIGIN_RESOURCE_POLICY, "same-origin");
        }
        if self.sandboxes {
            let _ = headers.append(KnownName::X_CONTENT_TYPE_OPTIONS, "nosniff");
            let _ = headers.append(KnownName::CONTENT_SECURITY_POLICY, "sandbox");
        }
    }
}
