//! The two halves of a stream (RFC 9113 §5.1, §8.1): the frames that may come, and those that may be sent.
//!
//! Rule 1: the halves are independent; the states of RFC 9113 §5.1 are pairs of them (open: neither has
//! ended, half-closed: one has, closed: both have). [`State`](crate::stream::state::State) holds both, and
//! knows of resets.
//! Rule 2: each half is a table without a wildcard; a test prints both whole.

use crate::error::SendError;
use crate::guard::violation::Violation;

/// The receiving half, for the peer's message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Receiving {
    /// The state before a final head.
    Idle,
    /// A final head has come; DATA and trailers may follow.
    Open,
    /// A DATA frame with END_STREAM has begun, whose content is incomplete.
    Ending,
    /// END_STREAM has come, with everything before it.
    Ended,
}

/// The inputs of a receiving half. `Headers` in [`Receiving::Open`] are trailers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Incoming {
    Interim {
        end_stream: bool,
    },
    Headers {
        end_stream: bool,
    },
    /// The header of a DATA frame.
    Data {
        end_stream: bool,
    },
    /// The last byte of its content, or the frame itself if it is empty.
    LastByte,
}

impl Receiving {
    /// Returns the state after a frame, or the rule that the frame breaks.
    #[inline]
    pub(crate) const fn on(self, frame: Incoming) -> Result<Self, Violation> {
        use {Incoming::*, Receiving::*};
        Ok(match (self, frame) {
            (Idle, Interim { end_stream: false }) => Idle,
            (Idle, Interim { end_stream: true }) => return Err(Violation::INTERIM_ENDS_STREAM),
            (Idle, Headers { end_stream: false }) => Open,
            (Idle, Headers { end_stream: true }) => Ended,
            (Idle, Data { .. } | LastByte) => return Err(Violation::DATA_BEFORE_HEAD),
            (Open, Interim { .. }) => return Err(Violation::INTERIM_AFTER_FINAL),
            (Open, Headers { end_stream: false }) => return Err(Violation::TRAILERS_WITHOUT_END),
            (Open, Headers { end_stream: true }) => Ended,
            (Open, Data { end_stream: false } | LastByte) => Open,
            (Open, Data { end_stream: true }) => Ending,
            (Ending, LastByte) => Ended,
            (Ending, Interim { .. } | Headers { .. } | Data { .. }) => {
                return Err(Violation::FRAME_AFTER_END);
            }
            (Ended, Interim { .. } | Headers { .. } | Data { .. } | LastByte) => {
                return Err(Violation::FRAME_AFTER_END);
            }
        })
    }
}

/// The sending half, for our message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sending {
    /// The state before a final head.
    Idle,
    /// The final head was sent; DATA and trailers may follow.
    Open,
    /// END_STREAM was sent.
    Ended,
}

/// The frames that the caller wants to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outgoing {
    Interim,
    Head { end_stream: bool },
    Data { end_stream: bool },
    Trailers,
}

impl Sending {
    /// Returns the state after sending, or the reason for which the frame must not be sent.
    #[inline]
    pub(crate) const fn on(self, frame: Outgoing) -> Result<Self, SendError> {
        use {Outgoing::*, Sending::*};
        Ok(match (self, frame) {
            (Idle, Interim) => Idle,
            (Idle, Head { end_stream: false }) => Open,
            (Idle, Head { end_stream: true }) => Ended,
            (Idle, Data { .. } | Trailers) => return Err(SendError::HeadNotSent),
            (Open, Interim | Head { .. }) => return Err(SendError::HeadAlreadySent),
            (Open, Data { end_stream: false }) => Open,
            (Open, Data { end_stream: true } | Trailers) => Ended,
            (Ended, Interim | Head { .. } | Data { .. } | Trailers) => return Err(SendError::StreamEnded),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    /// Prints both tables, one row for each state and input.
    fn tables() -> String {
        let mut text = String::from("receiving\n");
        let ends = [false, true];
        let incoming = [
            ends.map(|end_stream| Incoming::Interim { end_stream }),
            ends.map(|end_stream| Incoming::Headers { end_stream }),
            ends.map(|end_stream| Incoming::Data { end_stream }),
        ];
        for state in [Receiving::Idle, Receiving::Open, Receiving::Ending, Receiving::Ended] {
            for frame in incoming.as_flattened().iter().chain([&Incoming::LastByte]) {
                let next = match state.on(*frame) {
                    Ok(next) => format!("{next:?}"),
                    Err(rule) => format!("{:?} {}: {}", rule.scope, rule.code, rule.rule),
                };
                text += &row(format!("{state:?}"), format!("{frame:?}"), next);
            }
        }
        text += "\nsending\n";
        let outgoing = [
            Outgoing::Interim,
            Outgoing::Head { end_stream: false },
            Outgoing::Head { end_stream: true },
            Outgoing::Data { end_stream: false },
            Outgoing::Data { end_stream: true },
            Outgoing::Trailers,
        ];
        for state in [Sending::Idle, Sending::Open, Sending::Ended] {
            for frame in outgoing {
                let next = match state.on(frame) {
                    Ok(next) => format!("{next:?}"),
                    Err(error) => format!("refused: {error}"),
                };
                text += &row(format!("{state:?}"), format!("{frame:?}"), next);
            }
        }
        text
    }

    fn row(state: String, input: String, next: String) -> String {
        let input =
            input.replace(" { end_stream: false }", "").replace(" { end_stream: true }", "+END_STREAM");
        format!("{state:<6} {input:<19} {next}\n")
    }

    #[test]
    fn every_state_and_input_is_as_written_down() {
        assert_eq!(tables(), include_str!("half.txt"), "\n{}", tables());
    }
}
