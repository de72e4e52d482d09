//! The errors of HTTP/2: ends of connections, and refusals of commands.

use crate::guard::violation::Violation;

pub use alula_machine::Awaited;

/// The reason for which a connection ended.
pub type ConnectionError = alula_machine::ConnectionError<Violation>;

/// The reason for which a command was refused. Nothing has changed: no counter, window or table, and nothing
/// was written.
pub type SendError = alula_machine::SendError<Violation>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::error_code::ErrorCode;
    use alloc::string::ToString;

    #[test]
    fn each_error_is_a_sentence() {
        let errors = [
            ConnectionError::Peer(Violation::DATA_ON_IDLE).to_string(),
            ConnectionError::GoAway { code: ErrorCode::NO_ERROR, last: 7 }.to_string(),
            ConnectionError::TimedOut(Awaited::Pong).to_string(),
            SendError::FieldsTooLarge { size: 70, limit: 60 }.to_string(),
            SendError::Field { at: 2, rule: Violation::CONNECTION_SPECIFIC }.to_string(),
        ];
        assert_eq!(
            errors,
            [
                "the peer broke HTTP/2: DATA on an idle stream (RFC 9113 §5.1)",
                "the peer went away with NO_ERROR after stream 7",
                "the peer did not answer a ping in time",
                "the fields need 70 bytes, the peer allows 60",
                "field 2 cannot be sent: a field that is about the connection (RFC 9113 §8.2.2)",
            ]
        );
    }
}
