//! The decision whether to send a request again.

use std::time::Duration;

use tokio::time::Instant;

/// The decision on a request that failed or was refused.
pub(super) enum Verdict {
    /// The request is sent again at this time, or at once.
    Again(Option<Instant>),
    /// The request is not sent again, for this reason.
    Withheld(&'static str),
    /// The request is not sent again, because no rule asks for it.
    Unasked,
}

impl Verdict {
    /// Returns the wait, starting now; nothing if the request is not sent again.
    pub(super) fn wait(&self) -> Option<Duration> {
        match self {
            Self::Again(at) => {
                Some(at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now())))
            }
            Self::Withheld(_) | Self::Unasked => None,
        }
    }
}

/// Reasons for which a request is not sent again.
pub(super) mod reasons {
    pub(in crate::follow) const CONTENT: &str = "its content was sent and cannot be read again";
    pub(in crate::follow) const NOT_IDEMPOTENT: &str =
        "the server may have acted on it, and its method is not idempotent";
    pub(in crate::follow) const POINTLESS: &str = "it would fail in the same way";
    pub(in crate::follow) const TRIES: &str = "it was tried as often as is allowed";
    pub(in crate::follow) const TIME: &str = "its time would be over before";
    pub(in crate::follow) const BUDGET: &str = "too many requests of this client have failed lately";
    pub(in crate::follow) const ASKED_LONGER: &str = "the server asks for a longer wait than is allowed";
}
