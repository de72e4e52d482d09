//! How many connections there are, and how long they live.

use super::ClientBuilder;

/// What the pool of each origin keeps to.
#[derive(Clone, Copy)]
pub(crate) struct Pooling {
    pub(crate) connections_max: usize,
}

impl Default for Pooling {
    fn default() -> Self {
        Self { connections_max: 100 }
    }
}

impl ClientBuilder {
    /// How many connections of HTTP/1.1 to one origin may be open, each of which takes one request at a time; 100 unless set,
    /// and one at least. Calls beyond that wait in the order in which they came.
    #[must_use]
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.settings.pool.connections_max = connections.max(1);
        self
    }
}
