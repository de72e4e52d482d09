//! The target of a client's connections.

#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;

use super::connector::Connector;

/// The target that all connections of a client are opened to.
#[derive(Clone, Default)]
pub(crate) enum DialTarget {
    /// The host of the URL.
    #[default]
    Url,
    /// The address or path of the listener.
    #[cfg(unix)]
    Unix(Arc<Path>),
    /// The transport that the connector gives.
    Given(Arc<dyn Connector>),
}
