//! What a call has beside its request.

use crate::builder::Settings;

pub(crate) struct Parts {
    /// Whether the content of the response is decoded.
    pub(crate) decompress: bool,
}

impl Parts {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { decompress: settings.decoding.on }
    }
}
