//! Fields of every answer that tell browsers not to trust what is stored.
//!
//! A user who may write an object names its media type. A page, a drawing or a document with a program in it
//! would run in the name of the store, beside the credentials of whoever opens it.

use alula::{FieldSection, Hook, KnownName, Status};

use crate::config::{Config, Referers};

/// The fields of a store as it is configured.
#[derive(Clone, Debug)]
pub(in crate::http) struct BrowserFields(FieldSection);

impl BrowserFields {
    pub(in crate::http) fn new(config: &Config) -> Self {
        let mut fields = FieldSection::new();
        let mut append = |name: KnownName, value: &str| fields.append(name, value).expect("a valid field");
        if !matches!(config.referers, Referers::Any) {
            // Pages of other origins do not get answers as images, programs and the like.
            append(KnownName::CROSS_ORIGIN_RESOURCE_POLICY, "same-origin");
        }
        if config.sandbox {
            // What is shown runs no program, and is what its media type says.
            append(KnownName::X_CONTENT_TYPE_OPTIONS, "nosniff");
            append(KnownName::CONTENT_SECURITY_POLICY, "sandbox");
        }
        Self(fields)
    }
}

impl Hook for BrowserFields {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        headers.extend_from(&self.0);
    }
}
