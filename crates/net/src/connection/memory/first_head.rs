//! The bound on heads of a connection before its first answer, while memory is scarce.
//!
//! Large limits on heads are for peers that are known: a stranger could have each connection hold as much as
//! they allow, before anybody has seen a credential.
//!
//! Rule: a connection whose limits are small, and one of which a request was answered, pay one comparison.

use alula_fields::Status;
use alula_machine::Limits;

/// The bound on heads before the first answer of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum FirstHead {
    /// Only the limits bound heads.
    #[default]
    Free,
    /// Heads are bounded while memory is scarce.
    Watched { bytes: u32 },
    /// Heads are bounded: memory is scarce.
    Bounded { bytes: u32 },
}

impl FirstHead {
    /// Returns the bound of a server's connection whose limits allow larger heads.
    pub(crate) fn of(limits: &Limits) -> Self {
        let bytes = limits.first_head_bytes;
        match bytes < limits.head_bytes.max(limits.field_section_bytes) {
            true => Self::Watched { bytes },
            false => Self::Free,
        }
    }

    /// Returns true while the bound may change.
    #[inline]
    pub(crate) fn is_watched(self) -> bool {
        self != Self::Free
    }

    /// Updates the bound by the state of the memory. Returns the bytes of heads that are taken from now on,
    /// if that changes.
    pub(crate) fn look(&mut self, is_crowded: bool) -> Option<u32> {
        let (next, bound) = match *self {
            Self::Watched { bytes } if is_crowded => (Self::Bounded { bytes }, bytes),
            Self::Bounded { bytes } if !is_crowded => (Self::Watched { bytes }, u32::MAX),
            _ => return None,
        };
        *self = next;
        Some(bound)
    }

    /// Updates the bound by the status of an answer. Returns the bytes of heads that are taken from now on,
    /// if that changes.
    pub(crate) fn answered(&mut self, status: Status) -> Option<u32> {
        // These are given to whoever comes, before anything is known of them.
        let is_of_stranger =
            matches!(status, Status::UNAUTHORIZED | Status::TOO_MANY_REQUESTS | Status::SERVICE_UNAVAILABLE);
        if is_of_stranger {
            return None;
        }
        let was_bounded = matches!(self, Self::Bounded { .. });
        *self = Self::Free;
        was_bounded.then_some(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_bounded_until_an_answer_while_memory_is_scarce() {
        let limits = Limits { head_bytes: 1 << 20, ..Limits::default() };
        let bytes = limits.first_head_bytes;
        let mut first = FirstHead::of(&limits);
        assert_eq!((first.look(false), first.look(true), first.look(true)), (None, Some(bytes), None));
        assert_eq!((first.answered(Status::UNAUTHORIZED), first.is_watched()), (None, true));
        assert_eq!((first.look(false), first.look(true)), (Some(u32::MAX), Some(bytes)));
        assert_eq!((first.answered(Status::NOT_FOUND), first.look(true)), (Some(u32::MAX), None));
        assert!(!first.is_watched() && !FirstHead::of(&Limits::default()).is_watched());
    }
}
