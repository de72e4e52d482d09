//! Periodic checks of a connection: slow peers, starving callers, deadlines, idle time and lifetime, and the
//! memory that an idle connection keeps.
//!
//! Rule 1: a busy connection pays one comparison per run of its task for this. The task looks once in
//! [`LOOK_AFTER`]; when no stream was opened since the last look and none is held, it gives back memory that
//! the next stream does not need, and looks no more until a stream comes or the connection is to end, unless
//! the socket is full.
//! Rule 2: only the peer's delay counts: content that a handler waits for or that is read and dropped, and
//! bytes of ours that wait for the peer's windows or its socket. Nothing is judged while our windows, or our
//! stopped reading, block the peer.
//! Rule 3: a client judges its own requests by the deadlines of its callers; it only ends connections whose
//! socket is stuck while nobody has a stream on them.

pub(crate) mod asking;
pub(crate) mod idle;
pub(crate) mod progress;
pub(crate) mod starvation;

use alula_machine::{Reason, Time};

use crate::{
    connection::{
        Connection,
        checks::idle::LOOK_AFTER,
        stream::{
            pace::LeastPace,
            slot::{Slot, SlotKey},
        },
    },
    error::{Error, Phase, limit::Overrun, occupied::Occupied},
};

/// The checks.
impl Connection {
    /// Notes that a stream was opened.
    pub(crate) fn note_stream(&mut self) {
        self.idleness.note_stream();
        self.look_soon();
    }

    /// Plans a periodic check, unless one is due already.
    #[inline]
    pub(crate) fn look_soon(&mut self) {
        if !self.idleness.looks_soon() {
            self.idleness.look_soon(self.now, self.least_pace().look_after());
        }
    }

    /// Does what is due by now: deadlines, the machine's timeouts, giving back what an idle connection does
    /// not need.
    pub(crate) fn keep_time(&mut self) {
        let now = self.now;
        if self.next_deadline.is_some_and(|deadline| deadline <= now) {
            self.expire(now);
        }
        let is_due = self.machine.poll_timeout().is_some_and(|timeout| timeout <= now);
        // A peer that is still taking an answer is not idle; its pace is judged instead.
        if is_due && !(self.output.is_blocked() && self.machine.await_request_anew(now)) {
            self.machine.handle_timeout(now);
            self.take_notices();
        }
        if self.life.asked_until().is_some_and(|until| until <= now) {
            self.look_elsewhere();
        }
        self.call_again();
        self.look_around(now);
    }

    /// Checks the peer's pace and the connection's age, and frees memory when nothing has happened for a
    /// while.
    fn look_around(&mut self, now: Time) {
        let Some(due) = self.idleness.look_at().filter(|due| *due <= now) else { return };
        if now.saturating_since(due) <= LOOK_AFTER {
            self.look_for_slow_peer(now);
        } else {
            // This side was held up: what its peer did meanwhile may still wait in the socket.
            self.rest_paces();
        }
        self.look_for_starving(now);
        self.look_for_use(now);
        if self.idleness.is_over(now) {
            self.retire();
        }
    }

    fn look_for_use(&mut self, now: Time) {
        let is_discarding = self.machine.discarding().is_some();
        let is_quiet = self.is_unused() && !self.output.is_blocked() && !is_discarding;
        if self.idleness.look(now, is_quiet, self.least_pace().look_after()) && self.idleness.rest(now) {
            self.trim();
            self.idleness.tell_idle();
        }
    }

    /// Takes no more streams. A server says so to its peer; a client's callers that wait to open one look for
    /// another connection.
    pub(crate) fn retire(&mut self) {
        self.idleness.forget_bounds();
        self.stop_taking_streams();
        if !self.machine.is_client() {
            self.machine.goaway(false);
        }
    }
}

/// Checks for slow peers.
impl Connection {
    /// Fails streams whose peer is too slow, or ends the connection.
    fn look_for_slow_peer(&mut self, now: Time) {
        let (is_client, least) = (self.machine.is_client(), self.least_pace());
        // How long a client's request may take is for its caller to say; a connection that nobody uses is
        // only in the way.
        let is_awaited = !is_client || self.is_unused();
        let taken = (is_awaited && self.output.is_blocked()).then(|| self.output.taken());
        // A client asks for no rate, but something is to move.
        let least_of_output = if is_client { least.without_rate() } else { least };
        if let Some(overrun) = self.pace.look_at_output(taken, now, least_of_output) {
            return self.give_up(overrun);
        }
        if is_client {
            return;
        }
        let dropped = self.machine.discarding().filter(|_| self.is_reading());
        if let Some(overrun) = self.pace.look_at_discarded(dropped, now, least) {
            return self.give_up(overrun);
        }
        (0..self.slots.count()).for_each(|index| self.look_at_stream(index, now, least));
    }

    /// Returns the least pace that is asked of the peer.
    fn least_pace(&self) -> LeastPace {
        LeastPace::new(self.machine.limits())
    }

    /// Excludes the time until the next check from every measurement.
    #[cold]
    fn rest_paces(&mut self) {
        self.pace.rest();
        self.slots.iter_mut().for_each(|slot| slot.pace.rest());
    }

    /// Returns true unless this side has stopped reading.
    fn is_reading(&self) -> bool {
        let is_blocked = self.output.is_blocked() && self.output_is_full();
        !self.input.is_stopped() && !is_blocked
    }

    fn look_at_stream(&mut self, index: u32, now: Time, least: LeastPace) {
        let is_reading = self.is_reading();
        let slot = &mut self.slots[index];
        let Some(stream) = slot.stream.filter(|_| slot.is_judged()) else { return };
        let (reads, writes) = slot.take_waited();
        let owes_content =
            reads && is_reading && slot.may_receive() && self.machine.is_content_awaited(stream);
        let owes_room = writes && self.machine.is_without_window(stream);
        if let Some(overrun) = slot.look_at_pace([owes_content, owes_room], now, least) {
            let at = slot.key(index);
            self.fail_slow(at, overrun);
        }
    }

    fn fail_slow(&mut self, at: SlotKey, overrun: Overrun) {
        let error = Error::overrun(Phase::Content, overrun, self.machine.limits());
        self.ledger.note_error(&error);
        self.inbox.cancel(at);
        self.fail_and_reset(at.index, error, Reason::TooMuch);
    }

    /// Ends the connection because of a limit: the peer gets ENHANCE_YOUR_CALM.
    #[cold]
    pub(crate) fn give_up(&mut self, overrun: Overrun) {
        self.machine.close(Reason::TooMuch);
        let error = Error::overrun(Phase::Content, overrun, self.machine.limits());
        self.end(error);
    }
}

/// Checks for starving callers: unread responses hold the whole window of a client's connection (RFC 9113
/// §6.9.1). The peer waits for us then, and the callers that read the other responses would wait for the one
/// that does not. They are failed after a while, and told by what they were kept.
impl Connection {
    /// Fails callers that have waited too long for content for which the connection has no window.
    fn look_for_starving(&mut self, now: Time) {
        if self.starvation.longest().is_none() {
            return;
        }
        let is_starving = self.machine.is_out_of_window() && self.slots.iter().any(Slot::is_starving);
        if self.starvation.look(is_starving, now) {
            self.fail_starving();
        }
    }

    #[cold]
    fn fail_starving(&mut self) {
        let error = Error::deadline(self.starvation.longest()).during(Phase::Content);
        let error = error.with_occupied(self.unread());
        for index in 0..self.slots.count() {
            if self.slots[index].stream.is_some() && self.slots[index].is_starving() {
                self.fail_and_reset(index, error.clone(), Reason::Cancelled);
            }
        }
        self.take_notices();
    }

    /// Counts the responses whose content nobody has taken.
    fn unread(&self) -> Occupied {
        let unread = self.slots.iter().filter(|slot| slot.is_unread()).count();
        Occupied { unread: unread as u32, ..Occupied::default() }
    }
}

/// Deadlines.
impl Connection {
    /// Fails every stream whose deadline has passed, and records the time of the next check.
    fn expire(&mut self, now: Time) {
        self.next_deadline = None;
        for index in 0..self.slots.count() {
            let slot = &mut self.slots[index];
            match slot.expire(now) {
                Some(late) => {
                    let unheard = slot.unheard_since(self.heard);
                    self.fail_and_reset(index, late, Reason::Cancelled);
                    if unheard.is_some() {
                        self.ask_peer(now);
                    }
                }
                None => self.next_deadline = [self.next_deadline, slot.due()].into_iter().flatten().min(),
            }
        }
        self.take_notices();
    }
}
