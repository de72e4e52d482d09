//! The life of a connection: it takes streams, then no more, then it has ended.

use alula_h2::ErrorCode;

use crate::error::Error;

/// The state of a connection.
#[derive(Default)]
pub(crate) struct Life {
    state: State,
    /// The fault that the peer named when it went away, if it named one.
    farewell: Option<ErrorCode>,
}

#[derive(Default)]
enum State {
    /// It takes streams.
    #[default]
    Open,
    /// It takes no more streams, and ends with the last handle.
    Closing,
    /// It has ended, for this reason.
    Ended(Error),
}

impl Life {
    /// Returns true if no more streams are taken: the connection ends, or has ended.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        !matches!(self.state, State::Open)
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
            State::Open | State::Closing => None,
        }
    }

    /// Takes no more streams from now on.
    pub(crate) fn close(&mut self) {
        if let State::Open = self.state {
            self.state = State::Closing;
        }
    }

    /// Ends; the first reason stands.
    pub(crate) fn ends(&mut self, error: Error) {
        if !self.has_ended() {
            self.state = State::Ended(error);
        }
    }

    /// Notes why the peer goes away; `NO_ERROR` is no fault.
    pub(crate) fn note_farewell(&mut self, code: Option<ErrorCode>) {
        self.farewell = code.filter(|code| *code != ErrorCode::NO_ERROR);
    }

    /// Returns the fault that the peer named when it went away.
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
    fn a_farewell_without_a_fault_is_none() {
        let mut life = Life::default();
        life.note_farewell(Some(ErrorCode::NO_ERROR));
        assert_eq!(life.farewell(), None);
        life.note_farewell(Some(ErrorCode::ENHANCE_YOUR_CALM));
        assert_eq!(life.farewell(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    }
}
