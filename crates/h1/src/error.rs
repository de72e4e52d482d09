//! The errors of HTTP/1.1: ends of connections, and refusals of commands.

use crate::guard::violation::Violation;

pub use alula_machine::Awaited;

/// The reason for which a connection ended.
pub type ConnectionError = alula_machine::ConnectionError<Violation>;

/// The reason for which a command was refused; it has changed nothing.
pub type SendError = alula_machine::SendError<Violation>;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_error_is_a_sentence() {
        let errors = [
            ConnectionError::Peer(Violation::FOLDED).to_string(),
            ConnectionError::TimedOut(Awaited::Head).to_string(),
            SendError::Control(Violation::METHOD_INVALID).to_string(),
            SendError::Field { at: 2, rule: Violation::LENGTH_INVALID }.to_string(),
        ];
        assert_eq!(
            errors,
            [
                "the peer broke HTTP/1.1: a field line is folded (RFC 9112 §5.2)",
                "the peer did not finish a head in time",
                "cannot be sent: the method is not a token (RFC 9110 §9.1)",
                "field 2 cannot be sent: a content-length is not a number of at most 19 digits (RFC 9112 §6.3)",
            ]
        );
    }
}
