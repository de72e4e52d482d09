//! The state of a stream (RFC 9113 §5.1): both halves of its message, and whether it is counted as open,
//! closed or reset.
//!
//! Rule 1: a state comes from another one by a transition of a table, or is [`State::IDLE`]; nothing else
//! makes one.
//! Rule 2: each table has no wildcard; tests print them whole.

use crate::error::SendError;
use crate::guard::violation::Violation;
use crate::stream::half::{Incoming, Outgoing, Receiving, Sending};

/// The state of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct State {
    receiving: Receiving,
    sending: Sending,
    life: Life,
}

/// The life of a stream: open, or the reason for which it still exists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Life {
    /// The stream is counted as open.
    Open,
    /// The stream is counted as open, and its content is dropped. The answer has gone out whole, and the
    /// application has let go of it: content is dropped until it ends.
    Draining,
    /// The stream is over: both halves have ended, or it was given up. The application may have something to
    /// take.
    Closed,
    /// The stream was reset, and the application has not released it.
    Reset,
}

/// An event that ends a stream as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    /// Both halves have ended.
    Complete,
    /// The stream is reset, and the application will hear of it.
    Reset,
    /// The application releases the stream.
    LetGo,
    /// The application releases the stream, and the rest of the peer's message is dropped.
    Drained,
}

impl Life {
    const fn on(self, end: End) -> Self {
        match (self, end) {
            (Self::Open, End::Complete | End::LetGo) => Self::Closed,
            (Self::Open, End::Reset) => Self::Reset,
            (Self::Open | Self::Draining, End::Drained) => Self::Draining,
            (Self::Draining, End::Complete | End::Reset | End::LetGo) => Self::Closed,
            (Self::Closed, End::Complete | End::Reset | End::LetGo | End::Drained) => Self::Closed,
            (Self::Reset, End::Complete | End::Reset | End::Drained) => Self::Reset,
            (Self::Reset, End::LetGo) => Self::Closed,
        }
    }
}

/// Transitions.
impl State {
    /// The initial state: neither head has come or was sent.
    pub(crate) const IDLE: Self =
        Self { receiving: Receiving::Idle, sending: Sending::Idle, life: Life::Open };

    /// Returns the state after a received frame, or the rule that it breaks.
    #[inline]
    pub(crate) const fn received(self, frame: Incoming) -> Result<Self, Violation> {
        match self.receiving.on(frame) {
            Ok(receiving) => Ok(Self { receiving, ..self }),
            Err(rule) => Err(rule),
        }
    }

    /// Returns the state after a sent frame, or the reason for which it must not be sent.
    #[inline]
    pub(crate) const fn sent(self, frame: Outgoing) -> Result<Self, SendError> {
        match self.sending.on(frame) {
            Ok(sending) => Ok(Self { sending, ..self }),
            Err(error) => Err(error),
        }
    }

    /// Returns the state after both halves have ended; `None` unless they have, and it is open.
    #[inline]
    pub(crate) const fn completed(self) -> Option<Self> {
        match (self.receiving, self.sending, self.life) {
            (Receiving::Ended, Sending::Ended, Life::Open | Life::Draining) => {
                Some(self.after(End::Complete))
            }
            _ => None,
        }
    }

    /// Returns the state after a reset of which the application will hear.
    #[inline]
    pub(crate) const fn reset(self) -> Self {
        self.after(End::Reset)
    }

    /// Returns the state after the application has released the stream.
    #[inline]
    pub(crate) const fn let_go(self) -> Self {
        self.after(End::LetGo)
    }

    /// Returns the state after the application has released the stream while the rest of the peer's message
    /// is dropped.
    pub(crate) const fn drained(self) -> Self {
        self.after(End::Drained)
    }

    #[inline]
    const fn after(self, end: End) -> Self {
        Self { life: self.life.on(end), ..self }
    }
}

/// Questions.
impl State {
    /// Returns true while the stream is counted as open.
    #[inline]
    pub(crate) const fn is_open(self) -> bool {
        matches!(self.life, Life::Open | Life::Draining)
    }

    /// Returns true while the application hears of received frames.
    #[inline]
    pub(crate) const fn is_heard(self) -> bool {
        matches!(self.life, Life::Open)
    }

    /// Returns true while the rest of the peer's message is dropped.
    #[inline]
    pub(crate) const fn is_draining(self) -> bool {
        matches!(self.life, Life::Draining)
    }

    /// Returns true if the stream was reset and the application has not released it.
    #[inline]
    pub(crate) const fn is_reset(self) -> bool {
        matches!(self.life, Life::Reset)
    }

    /// Returns true if the final head has come.
    #[inline]
    pub(crate) const fn has_received_head(self) -> bool {
        !matches!(self.receiving, Receiving::Idle)
    }

    /// Returns true if END_STREAM has come, with everything before it.
    #[inline]
    pub(crate) const fn has_received_all(self) -> bool {
        matches!(self.receiving, Receiving::Ended)
    }

    /// Returns true if END_STREAM was sent.
    #[inline]
    pub(crate) const fn has_sent_all(self) -> bool {
        matches!(self.sending, Sending::Ended)
    }

    /// Returns true while bytes of the message may come: the stream is open, and the peer has not ended its
    /// half.
    #[inline]
    pub(crate) const fn is_receiving(self) -> bool {
        self.is_open() && !self.has_received_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn every_life_and_end_is_as_written_down() {
        let mut table = String::new();
        for life in [Life::Open, Life::Draining, Life::Closed, Life::Reset] {
            for end in [End::Complete, End::Reset, End::LetGo, End::Drained] {
                table +=
                    &format!("{:<8} {:<8} {:?}\n", format!("{life:?}"), format!("{end:?}"), life.on(end));
            }
        }
        assert_eq!(table, include_str!("state.txt"), "\n{table}");
    }

    #[test]
    fn a_stream_is_complete_when_both_halves_have_ended_and_only_once() {
        let request = State::IDLE.received(Incoming::Headers { end_stream: true }).unwrap();
        assert_eq!(request.completed(), None);
        let answered = request.sent(Outgoing::Head { end_stream: true }).unwrap();
        let over = answered.completed().unwrap();
        assert!(answered.is_open() && !over.is_open() && !over.is_reset());
        assert_eq!(over.completed(), None);
    }

    #[test]
    fn a_reset_lasts_until_the_application_lets_go() {
        let reset = State::IDLE.reset();
        assert!(reset.is_reset() && !reset.is_open() && reset.reset() == reset);
        assert!(!reset.let_go().is_reset() && !reset.let_go().is_open());
    }

    #[test]
    fn the_last_frame_has_not_ended_the_stream_before_its_last_byte() {
        let open = State::IDLE.received(Incoming::Headers { end_stream: false }).unwrap();
        let ending = open.received(Incoming::Data { end_stream: true }).unwrap();
        assert!(ending.is_receiving() && !ending.has_received_all());
        assert!(ending.received(Incoming::LastByte).unwrap().has_received_all());
    }
}
