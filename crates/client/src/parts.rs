//! What a call has beside its request.

use crate::{builder::Settings, content::Given, interim::Hook};

pub(crate) struct Parts {
    /// Whether the content of the response is decoded.
    #[cfg(feature = "decoding")]
    pub(crate) decompress: bool,
    /// What the request carries, unless it is given with `send_body`.
    pub(crate) content: Given,
    /// Who hears of interim responses.
    pub(crate) on_interim: Option<Hook>,
}

impl Parts {
    pub(crate) fn new(settings: &Settings) -> Self {
        #[cfg(not(feature = "decoding"))]
        let _ = settings;
        Self {
            #[cfg(feature = "decoding")]
            decompress: settings.decoding.on,
            content: Given::None,
            on_interim: None,
        }
    }
}
