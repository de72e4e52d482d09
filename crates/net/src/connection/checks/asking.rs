//! Asking a silent peer whether it is still there.
//!
//! A network that drops what it is given, or a peer that hangs, lets a connection of HTTP/2 look alive, on
//! which every call would wait for its deadline. A call that ends without an answer is the occasion to ask:
//! it timed out, or was dropped after more than a second, and nothing at all has come since it was sent.
//!
//! Rule 1: whatever comes is an answer.
//! Rule 2: calls that come meanwhile wait for the answer for a moment, and then look for another connection;
//! this one takes no more.
//! Rule 3: the peer has longer before the connection is closed, and its other calls fail.

use std::time::Duration;

use alula_machine::Time;

use crate::connection::{Connection, membership::News, stream::slot::Sides};

/// The time that a silent peer has to answer before the connection is closed.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// The time that calls wait for the answer before they look for another connection: longer than most round
/// trips, and shorter than most deadlines of calls.
const PATIENCE: Duration = Duration::from_millis(200);

/// The time within which a dropped call says nothing about its peer.
const SOON: Duration = Duration::from_secs(1);

impl Connection {
    /// Returns the time at which the request was sent that is abandoned with these sides, if nothing has come
    /// since. A caller that drops its writer says nothing about its peer.
    #[cold]
    pub(crate) fn unheard_since(&self, index: u32, sides: Sides) -> Option<Time> {
        let is_asking = self.machine.is_client() && !self.machine.is_http1() && sides.has(Sides::READ);
        self.slots[index].unheard_since(self.heard).filter(|_| is_asking)
    }

    /// Records that a call was dropped which had been sent at `since`, without anything arriving after that.
    #[cold]
    pub(crate) fn gave_up(&mut self, since: Time, now: Time) {
        if now.saturating_since(since) > SOON {
            self.ask_peer(now);
        }
    }

    /// Asks the peer of a client's connection of HTTP/2 whether it is still there.
    #[cold]
    pub(crate) fn ask_peer(&mut self, now: Time) {
        if self.machine.is_client() && !self.machine.is_http1() {
            self.life.ask(now.saturating_add(PATIENCE));
            self.machine.ask(now, SILENCE_MAX);
            self.wake_task();
        }
    }

    /// Takes streams again after the peer has answered.
    #[cold]
    pub(crate) fn peer_has_answered(&mut self) {
        if self.life.is_answered() {
            self.is_free_again();
        }
    }

    /// Takes no more streams because the peer has not answered in time: callers look for another connection.
    #[cold]
    pub(crate) fn look_elsewhere(&mut self) {
        self.stop_taking_streams();
        self.membership.tell(News::Room);
    }
}
