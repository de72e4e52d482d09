//! The settings of the connection pool: the number and life of connections.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use alula_net::Keep;

use super::ClientBuilder;
use crate::pool::Limits;

/// The bounds of each origin's pool, and the number of origins.
#[derive(Clone, Copy)]
pub(crate) struct Pooling {
    pub(crate) connections_max: usize,
    pub(crate) http2_connections_max: usize,
    pub(crate) idle_max: usize,
    pub(crate) keep_idle: Duration,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) origins_max: usize,
}

impl Default for Pooling {
    fn default() -> Self {
        Self {
            connections_max: 100,
            http2_connections_max: 1,
            idle_max: 100,
            keep_idle: Duration::from_secs(90),
            lifetime: None,
            origins_max: 1024,
        }
    }
}

impl Pooling {
    /// Returns the limits on connections to one origin on one runtime.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            connections_max: self.connections_max,
            idle_max: self.idle_max,
            http2_connections_max: self.http2_connections_max,
        }
    }

    /// Returns the times for which the next connection is kept, and for which a caller waits on it while
    /// others are unread. Connections that were opened together do not end together: a life is shorter than
    /// the longest by up to a tenth of it.
    pub(crate) fn keep(&self, unread: Option<Duration>) -> Keep {
        let life = self.lifetime.map(|longest| longest - longest / 10 * random_byte() / 255);
        let or_ever = |time: Option<Duration>| time.unwrap_or(Duration::MAX);
        Keep { idle: self.keep_idle, life: or_ever(life), unread: or_ever(unread) }
    }
}

/// Returns a random byte, from the keys of a hash map, which spreads the lives of connections.
fn random_byte() -> u32 {
    (RandomState::new().hash_one(0) % 256) as u32
}

/// The settings for connections that are kept for later calls.
impl ClientBuilder {
    /// Sets the number of connections of HTTP/1.1 to one origin that may be open on one runtime, each of
    /// which takes one request at a time; 100 unless set, and one at least. Calls beyond that wait in the
    /// order in which they came, for
    /// [as long as they may](Self::queue_timeout). A response holds its connection until its content was read to its end or it is
    /// dropped.
    #[must_use]
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.settings.pool.connections_max = connections.max(1);
        self
    }

    /// Sets the number of connections of HTTP/2 to one origin that may be open on one runtime, each of which
    /// takes as many requests as the server allows; one unless set, and one at least.
    ///
    /// With more than one, another is opened when no connection has room for a request, one at a time;
    /// requests go to the one with most room, and those for which there is none wait for the first that has.
    /// RFC 9113 §9.1 asks clients for one connection, which compresses fields better and shares what the
    /// network gives; so more is for servers that allow too few streams.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().http2_connections_max(4).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn http2_connections_max(mut self, connections: usize) -> Self {
        self.settings.pool.http2_connections_max = connections.max(1);
        self
    }

    /// Sets the number of connections of HTTP/1.1 to one origin that are kept unused; 100 unless set. When
    /// there is one more, the one that was not used for longest is closed.
    #[doc(alias = "pool_max_idle_per_host")]
    #[must_use]
    pub fn idle_max(mut self, connections: usize) -> Self {
        self.settings.pool.idle_max = connections;
        self
    }

    /// Sets the time for which an unused connection is kept; 90 seconds unless set, and for ever with
    /// [`Duration::MAX`].
    ///
    /// It is looked at now and then: the connection is closed up to a second later, or up to an eighth of the
    /// time when that is less.
    ///
    /// A server of HTTP/1.1 that states a shorter time (`keep-alive: timeout=5`) is left a second before
    /// that, half a second where it states one, and its connection is not used again after `timeout=0` and
    /// `max=0`. A longer time prolongs nothing.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().keep_idle(Duration::from_secs(15)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "pool_idle_timeout")]
    #[must_use]
    pub fn keep_idle(mut self, after: Duration) -> Self {
        self.settings.pool.keep_idle = after;
        self
    }

    /// Sets the age up to which a connection takes requests; unlimited unless set. One that is older takes no
    /// further request, and is closed when its last has ended: so that load spreads to new servers, and names
    /// are looked up anew.
    ///
    /// Each connection is given up to a tenth less, at random: what was opened together does not close
    /// together.
    #[must_use]
    pub fn lifetime(mut self, longest: Duration) -> Self {
        self.settings.pool.lifetime = Some(longest);
        self
    }

    /// Sets the number of remembered origins; 1024 unless set, and at least one. When there is one more, one
    /// is forgotten that no call and no prepared request holds: without connections if there is such a one,
    /// and of these the one that was not called for longest.
    #[must_use]
    pub fn origins_max(mut self, origins: usize) -> Self {
        self.settings.pool.origins_max = origins.max(1);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_are_shorter_than_the_longest_by_a_tenth_at_most() {
        let longest = Duration::from_secs(100);
        let pool = Pooling { lifetime: Some(longest), ..Pooling::default() };
        let lives: Vec<Duration> = (0..100).map(|_| pool.keep(None).life).collect();
        assert!(lives.iter().all(|life| (longest * 9 / 10..=longest).contains(life)), "{lives:?}");
        assert!(lives.iter().any(|life| *life != lives[0]), "all are the same");
        assert_eq!(Pooling::default().keep(None).life, Duration::MAX);
    }
}
