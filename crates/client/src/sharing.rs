//! The connections of an origin that speaks HTTP/2: one that all requests share, and more where its peer allows too few
//! streams and the client allows more connections.
//!
//! Rule 1: where one is all there may be, nobody looks whether it has room: who finds none waits for it, in order of arrival.
//! Rule 2: where there may be more, requests go to the one with most room; when none has any, one more is opened, one at a
//! time, and who waits takes what has room first.

use std::{sync::Arc, time::Duration};

use alula_net::{Conn, ConnectionPool, Version};
use tokio::time::Instant;

use crate::opening::{Opening, Outcome};

/// The time in which no further connection is opened after one could not be.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Sharing {
    /// Not empty, unless another is being opened.
    conns: Vec<Arc<Conn>>,
    /// The next one.
    opening: Option<Arc<Opening>>,
    /// Nothing is opened before.
    pauses_until: Option<Instant>,
}

/// The connection for a request, or the lack of one.
pub(crate) enum Room {
    /// This connection, which has room, or is the only one.
    Here(Arc<Conn>),
    /// None has room; another is being opened.
    Soon(Arc<Opening>),
    /// None has room, and there may be no other.
    None,
    /// All have gone; what is being opened is the first anew.
    Gone(Option<Arc<Opening>>),
}

impl Sharing {
    /// Shares the first connection.
    pub(crate) fn of(conn: Arc<Conn>) -> Self {
        Self { conns: vec![conn], opening: None, pauses_until: None }
    }

    /// Returns the connection for the next request, or the thing that it waits for. Allocates nothing unless a connection is
    /// opened.
    #[inline]
    pub(crate) fn find(
        &mut self,
        most: usize,
        connections: &Arc<ConnectionPool>,
        open: impl FnOnce(&[Arc<Conn>]) -> Arc<Opening>,
    ) -> Room {
        match self.only(most) {
            Some(only) => Room::Here(only.clone()),
            None => self.find_room(most, connections, open),
        }
    }

    pub(crate) fn conns(&self) -> &[Arc<Conn>] {
        &self.conns
    }

    /// The only connection, where there may be no other.
    #[inline]
    pub(crate) fn only(&self, most: usize) -> Option<&Arc<Conn>> {
        match &self.conns[..] {
            [only] if most == 1 => Some(only),
            _ => None,
        }
    }

    fn find_room(
        &mut self,
        most: usize,
        connections: &Arc<ConnectionPool>,
        open: impl FnOnce(&[Arc<Conn>]) -> Arc<Opening>,
    ) -> Room {
        if let Some(outcome) = self.opening.as_ref().and_then(|opening| opening.known()) {
            self.opened(outcome, connections);
        }
        let rooms = self.conns.iter().map(|conn| (conn.room(), conn));
        if let Some((_, conn)) = rooms.filter(|(room, _)| *room > 0).max_by_key(|(room, _)| *room) {
            return Room::Here(conn.clone());
        }
        if let Some(opening) = self.opening.take_if(|_| self.conns.iter().all(|conn| !conn.is_open())) {
            return Room::Gone(Some(opening));
        }
        if let Some(opening) = &self.opening {
            return Room::Soon(opening.clone());
        }
        // Those that go away and have requests left are none of those that there may be.
        let open_conns = self.conns.iter().filter(|conn| conn.is_open()).count();
        if open_conns == 0 {
            return Room::Gone(None);
        }
        if open_conns >= most || self.pauses_until.is_some_and(|until| Instant::now() < until) {
            return Room::None;
        }
        Room::Soon(self.opening.insert(open(&self.conns)).clone())
    }

    /// One more connection is open, or could not be opened, which is no failure of those who have the others.
    fn opened(&mut self, outcome: Outcome, connections: &Arc<ConnectionPool>) {
        self.opening = None;
        match outcome {
            Ok(conn) if conn.version() == Version::Http2 => {
                self.conns.retain(|conn| conn.is_open());
                connections.join(&conn);
                self.conns.push(conn);
            }
            Ok(other) => {
                other.close();
                self.pauses_until = Some(Instant::now() + PAUSE);
            }
            Err(_) => self.pauses_until = Some(Instant::now() + PAUSE),
        }
    }

    /// Forgets a connection; true when there is none left.
    pub(crate) fn forget(&mut self, gone: &Arc<Conn>) -> bool {
        self.conns.retain(|conn| !Arc::ptr_eq(conn, gone));
        self.conns.is_empty() && self.opening.is_none()
    }

    /// Returns true if every connection takes no more requests.
    pub(crate) fn is_over(&self) -> bool {
        self.opening.is_none() && self.conns.iter().all(|conn| !conn.is_open())
    }

    /// Has all connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.conns.iter().for_each(|conn| conn.look_in());
    }

    pub(crate) fn close(&self) {
        self.conns.iter().for_each(|conn| conn.close());
        self.opening.iter().for_each(|opening| opening.close());
    }
}
