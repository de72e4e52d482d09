//! The pace of the peer on one stream, in both directions, and the exemption from the limits.

use alula_machine::Time;

use crate::{
    connection::stream::pace::{LeastPace, Pace, Progress},
    error::limit::Overrun,
};

#[derive(Default)]
pub(crate) struct StreamPace {
    /// The pace at which the peer sends to us, and the pace at which it takes what we send.
    paces: [Pace; 2],
    /// The handler allows a slow peer, from when it has accepted the request.
    may_be_slow: bool,
    /// The server has sent a head of 2xx.
    is_accepted: bool,
}

impl StreamPace {
    /// Exempts the peer from the limits once its request was accepted.
    pub(crate) fn allow_slow(&mut self) {
        self.may_be_slow = true;
    }

    /// Records whether the sent head accepts the request.
    #[inline]
    pub(crate) fn answered(&mut self, is_accepted: bool) {
        self.is_accepted = is_accepted;
    }

    /// Returns true if the peer is exempt: the handler allows it, and has accepted the request.
    #[inline]
    pub(crate) fn is_exempt(&self) -> bool {
        self.may_be_slow && self.is_accepted
    }

    /// Checks the progress of the peer in what it owes: content, and room for our content. `generation` names
    /// the stream among those that the slot has had. Returns the limit that the peer has run into.
    pub(crate) fn look(
        &mut self,
        generation: u32,
        owes: [bool; 2],
        moved: [u64; 2],
        now: Time,
        least: LeastPace,
    ) -> Option<Overrun> {
        let [received, sent] = moved;
        // The peer owes content from its head on; what left before its window was shut may lie in its
        // buffers.
        let progress = [Progress::of_all(generation, received), Progress::from_now(generation, sent)];
        let mut overrun = None;
        for ((pace, owes), progress) in self.paces.iter_mut().zip(owes).zip(progress) {
            match owes {
                true => overrun = overrun.or(pace.look(progress, now, least)),
                false => pace.rest(),
            }
        }
        overrun
    }

    /// Excludes the time until the next check from both measurements.
    pub(crate) fn rest(&mut self) {
        self.paces.iter_mut().for_each(Pace::rest);
    }

    /// Forgets the exemption, for another stream. The measurements know by its generation that it is another
    /// one.
    #[inline]
    pub(crate) fn end(&mut self) {
        (self.may_be_slow, self.is_accepted) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_exempt_once_the_handler_allows_it_and_has_accepted() {
        let mut pace = StreamPace::default();
        pace.allow_slow();
        assert!(!pace.is_exempt());
        pace.answered(false);
        assert!(!pace.is_exempt());
        pace.answered(true);
        assert!(pace.is_exempt());
        pace.end();
        assert!(!pace.is_exempt());
    }
}
