//! The tally of an exchange on a server: its status, the bytes both ways, and its failure.

use std::{sync::Arc, time::Duration};

use alula_fields::Status;

use crate::error::Error;

/// The progress of an exchange of a server.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The status of the final head, and the time from the opening of the connection until it was sent.
    pub answered: Option<(Status, Duration)>,
    /// The bytes of the request's content that came.
    pub received: u64,
    /// The bytes of the answer's content that were sent.
    pub sent: u64,
    /// The user, as the handler has named it.
    pub user: Option<Arc<str>>,
    /// The failure of the stream, if it failed.
    pub failure: Option<Error>,
}
