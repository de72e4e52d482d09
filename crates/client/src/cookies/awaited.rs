//! The cookies of a response that is still to come.

use alula_fields::FieldSection;
use url::Url;

use super::Jar;

/// The jar of a response that is still to come, and where it comes from.
pub(crate) struct Awaited {
    jar: Jar,
    url: Url,
}

impl Awaited {
    pub(crate) fn new(jar: Jar, url: Url) -> Self {
        Self { jar, url }
    }

    pub(crate) fn keep(&self, fields: &FieldSection) {
        self.jar.keep(fields, &self.url);
    }
}
