//! The life of a connection: first it takes streams, then no more, then it has ended.

use alula_h2::ErrorCode;
use alula_machine::Time;

use crate::error::Error;

/// The state of a connection.
#[derive(Default)]
pub(crate) struct Life {
    state: State,
    /// The error code with which the peer went away, if it gave one.
    farewell: Option<ErrorCode>,
    /// This side also speaks HTTP/1.1, on other connections.
    speaks_http1: bool,
    /// The peer wants requests over HTTP/1.1 (RFC 9113 §7, HTTP_1_1_REQUIRED), which this side also speaks.
    asks_for_http1: bool,
}

#[derive(Default)]
enum State {
    /// It takes streams.
    #[default]
    Open,
    /// The peer was silent and is asked whether it is there: no streams are taken before it has answered. It
    /// takes none any more when that has not happened by then.
    Asked(Time),
    /// No more streams are taken; the connection ends with its last handle.
    Closing,
    /// The connection has ended, for this reason.
    Ended(Error),
}

impl Life {
    /// Returns true if no more streams are taken: the connection ends, or has ended.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        !matches!(self.state, State::Open | State::Asked(_))
    }

    /// Returns true if streams are taken now.
    #[inline]
    pub(crate) fn takes_streams(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Returns the time by which a silent peer has to answer, if it was asked.
    #[inline]
    pub(crate) fn asked_until(&self) -> Option<Time> {
        match self.state {
            State::Asked(until) => Some(until),
            State::Open | State::Closing | State::Ended(_) => None,
        }
    }

    /// Takes no streams while the peer is asked whether it is there, and none at all after `until`.
    pub(crate) fn ask(&mut self, until: Time) {
        if let State::Open = self.state {
            self.state = State::Asked(until);
        }
    }

    /// Takes streams again after the peer has answered. Returns true in that case.
    pub(crate) fn is_answered(&mut self) -> bool {
        let was_asked = self.asked_until().is_some();
        if was_asked {
            self.state = State::Open;
        }
        was_asked
    }

    /// Returns true if the connection has ended.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    /// Returns the reason why it has ended, if it has.
    #[inline]
    pub(crate) fn end(&self) -> Option<&Error> {
        match &self.state {
            State::Ended(error) => Some(error),
            State::Open | State::Asked(_) | State::Closing => None,
        }
    }

    /// Takes no more streams from now on.
    pub(crate) fn close(&mut self) {
        if let State::Open | State::Asked(_) = self.state {
            self.state = State::Closing;
        }
    }

    /// Ends; the first reason stands.
    pub(crate) fn ends(&mut self, error: Error) {
        if !self.has_ended() {
            self.state = State::Ended(error);
        }
    }

    /// Records that this side also speaks HTTP/1.1.
    pub(crate) fn may_fall_back(&mut self) {
        self.speaks_http1 = true;
    }

    /// Records a failure that the peer has reported. Takes no more streams if it asks for HTTP/1.1 and that
    /// is spoken; returns true in that case.
    pub(crate) fn heed(&mut self, code: ErrorCode) -> bool {
        let falls_back = self.speaks_http1 && code == ErrorCode::HTTP_1_1_REQUIRED;
        if falls_back {
            self.asks_for_http1 = true;
            self.close();
        }
        falls_back
    }

    /// Returns true if the next requests should go over HTTP/1.1, as the peer has asked.
    pub(crate) fn asks_for_http1(&self) -> bool {
        self.asks_for_http1
    }

    /// Records why the peer goes away; `NO_ERROR` is no fault.
    pub(crate) fn note_farewell(&mut self, code: Option<ErrorCode>) {
        self.farewell = code.filter(|code| *code != ErrorCode::NO_ERROR);
    }

    /// Returns the error code with which the peer went away.
    pub(crate) fn farewell(&self) -> Option<ErrorCode> {
        self.farewell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_closes_and_then_ends_for_the_first_reason() {
        let mut life = Life::default();
        assert!(!life.is_closing() && life.end().is_none());
        life.close();
        assert!(life.is_closing() && !life.has_ended());
        life.ends(Error::closed());
        life.ends(Error::cancelled());
        life.close();
        assert_eq!(life.end().map(ToString::to_string), Some(Error::closed().to_string()));
        assert!(life.is_closing() && life.has_ended());
    }

    #[test]
    fn it_takes_no_streams_while_its_peer_is_asked() {
        let (mut life, until) = (Life::default(), Time::from_nanos(1));
        assert!(life.takes_streams() && !life.is_answered());
        life.ask(until);
        assert!(!life.takes_streams() && !life.is_closing());
        assert_eq!(life.asked_until(), Some(until));
        assert!(life.is_answered() && life.takes_streams());
        life.ask(until);
        life.close();
        life.ask(until);
        assert!(life.is_closing() && !life.is_answered());
    }

    #[test]
    fn it_takes_no_streams_where_the_peer_asks_for_http1_and_that_is_spoken() {
        let mut life = Life::default();
        assert!(!life.heed(ErrorCode::HTTP_1_1_REQUIRED) && life.takes_streams());
        life.may_fall_back();
        assert!(!life.heed(ErrorCode::CANCEL) && life.takes_streams() && !life.asks_for_http1());
        assert!(life.heed(ErrorCode::HTTP_1_1_REQUIRED) && life.is_closing() && life.asks_for_http1());
    }

    #[test]
    fn a_farewell_without_a_fault_is_none() {
        let mut life = Life::default();
        life.note_farewell(Some(ErrorCode::NO_ERROR));
        assert_eq!(life.farewell(), None);
        life.note_farewell(Some(ErrorCode::ENHANCE_YOUR_CALM));
        assert_eq!(life.farewell(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    }
}
