//! The cookies of a response that has not come yet.

use alula_fields::FieldSection;
use url::Url;

use super::Jar;

/// The jar and the URL of a response that has not come yet.
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
