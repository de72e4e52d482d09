//! The connections of an origin over HTTP/2: one that all requests share, and more if its peer allows too few
//! streams and the client allows more connections.
//!
//! Rule 1: where one is all there may be, nobody looks whether it has room: a caller that finds none waits
//! for it, in order of arrival.
//! Rule 2: where there may be more, requests go to the one with most room; when none has any, one more is
//! opened, one at a time, and callers that wait take what has room first.

use std::time::Duration;

use tokio::time::Instant;

use super::member::Member;

/// The pause after a failed opening.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Shared<C, O> {
    /// The open connections. Draining ones with requests left stay here until another one is open.
    conns: Vec<C>,
    more: More<O>,
}

/// The state of an additional connection.
pub(super) enum More<O> {
    /// Another connection may be opened.
    Allowed,
    /// Another connection is being opened.
    Opening(O),
    /// The last opening failed; the next may start at this time.
    Paused(Instant),
}

/// The connection for a request, or the reason for its absence.
pub(super) enum Room<C, O> {
    /// A connection that has room, or is the only one.
    Here(C),
    /// The connections are full, and another one is being opened.
    Soon(O),
    /// The connections are full, and another one may be opened.
    More,
    /// The connections are full, and no other may be opened.
    None,
    /// The connections have all gone.
    Gone,
}

impl<C: Member, O: Clone> Shared<C, O> {
    /// Shares the first connection.
    pub(super) fn of(conn: C) -> Self {
        Self { conns: vec![conn], more: More::Allowed }
    }

    pub(super) fn conns(&self) -> &[C] {
        &self.conns
    }

    /// Returns a connection that takes a request now: the only one, or the one with the most room.
    #[inline]
    pub(super) fn take(&self, most: usize) -> Option<C> {
        match &self.conns[..] {
            // Callers wait on the connection itself then, which keeps their order (rule 1).
            [only] if most == 1 => Some(only.clone()),
            conns => with_most_room(conns),
        }
    }

    /// Returns the connection for the next request, or what it has to wait for.
    pub(super) fn find(&self, most: usize, now: impl FnOnce() -> Instant) -> Room<C, O> {
        if let Some(conn) = self.take(most) {
            return Room::Here(conn);
        }
        let open_conns = self.conns.iter().filter(|conn| conn.is_open()).count();
        match &self.more {
            _ if open_conns == 0 => Room::Gone,
            More::Opening(opening) => Room::Soon(opening.clone()),
            _ if open_conns >= most => Room::None,
            // A peer that refuses further connections is not asked for one by every request.
            More::Paused(until) if now() < *until => Room::None,
            More::Paused(_) | More::Allowed => Room::More,
        }
    }

    /// Records that an additional connection is being opened.
    pub(super) fn opens(&mut self, opening: O) {
        self.more = More::Opening(opening);
    }

    /// Adds an additional connection. Returns the connections that had gone.
    pub(super) fn opened(&mut self, conn: C) -> Vec<C> {
        self.more = More::Allowed;
        let gone = self.conns.extract_if(.., |conn| !conn.is_open()).collect();
        self.conns.push(conn);
        gone
    }

    /// Records that an additional connection failed to open, which fails no call.
    pub(super) fn not_opened(&mut self, now: Instant) {
        self.more = More::Paused(now + PAUSE);
    }

    /// Removes a connection; returns true if none is left or being opened.
    pub(super) fn forget(&mut self, gone: &C) -> bool {
        let gone = gone.downgrade();
        self.conns.retain(|conn| !C::is_same(&conn.downgrade(), &gone));
        self.conns.is_empty() && !matches!(self.more, More::Opening(_))
    }

    /// Returns true if no connection takes requests any more, and none is being opened.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.more, More::Opening(_)) && self.conns.iter().all(|conn| !conn.is_open())
    }

    #[cfg(test)]
    pub(super) fn more_in_words(&self) -> &'static str {
        match self.more {
            More::Allowed => "more allowed",
            More::Opening(_) => "more opening",
            More::Paused(_) => "more paused",
        }
    }

    /// Ends sharing: the connections, and the next one if it is being opened.
    pub(super) fn into_parts(self) -> (Vec<C>, Option<O>) {
        let opening = match self.more {
            More::Opening(opening) => Some(opening),
            More::Allowed | More::Paused(_) => None,
        };
        (self.conns, opening)
    }
}

fn with_most_room<C: Member>(conns: &[C]) -> Option<C> {
    let rooms = conns.iter().map(|conn| (conn.room(), conn)).filter(|(room, _)| *room > 0);
    rooms.max_by_key(|(room, _)| *room).map(|(_, conn)| conn.clone())
}
