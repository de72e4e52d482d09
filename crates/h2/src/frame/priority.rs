//! Priorities of responses (RFC 9218), which a client states in a field or in a frame.

use core::fmt;

use crate::frame::dictionary::{self, Member};

/// The priority of a response: its urgency, and whether parts of it are useful (RFC 9218 §4).
///
/// ```
/// use alula::h2::Priority;
///
/// assert_eq!(Priority::parse(b"u=5, i"), Some(Priority { urgency: 5, incremental: true }));
/// assert_eq!(Priority::parse(b""), Some(Priority::default()));
/// assert_eq!(Priority { urgency: 0, incremental: true }.to_string(), "u=0, i");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Priority {
    /// The urgency, from 0, the most urgent, to 7; 3 by default.
    pub urgency: u8,
    /// True if the client can use the response piece by piece; false by default.
    pub incremental: bool,
}

/// The least urgent (RFC 9218 §4.1).
pub(crate) const URGENCY_MAX: u8 = 7;

impl Default for Priority {
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

impl Priority {
    /// Reads the value of a `priority` field or of a PRIORITY_UPDATE frame. A member that is missing, has
    /// another type or is out of range takes its default (RFC 9218 §4). `None` if the value is not a
    /// dictionary (RFC 9651 §3.2).
    pub fn parse(value: &[u8]) -> Option<Self> {
        let mut priority = Self::default();
        dictionary::parse(value, |key, member| priority.set(key, member))?;
        Some(priority)
    }

    fn set(&mut self, key: &[u8], member: Member) {
        match (key, member) {
            (b"u", Member::Integer(urgency @ 0..=7)) => self.urgency = urgency as u8,
            (b"u", _) => self.urgency = Self::default().urgency,
            (b"i", member) => self.incremental = member == Member::Boolean(true),
            _ => {}
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = if self.incremental { ", i" } else { "" };
        write!(f, "u={}{parts}", self.urgency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_or_unknown_is_as_by_default() {
        let priority = |urgency, incremental| Some(Priority { urgency, incremental });
        for (value, expected) in [
            ("u=0", priority(0, false)),
            ("u=7,i", priority(7, true)),
            ("u=8", priority(3, false)),
            ("u=-1, i=?1", priority(3, true)),
            ("u=1.0", priority(3, false)),
            ("u", priority(3, false)),
            ("i=1", priority(3, false)),
            ("u=1, u=x", priority(3, false)),
            ("i, u=2, i=?0", priority(2, false)),
            ("x=(1 2), u=4;why=x", priority(4, false)),
            ("u=1;", None),
            ("u=1 i", None),
        ] {
            assert_eq!(Priority::parse(value.as_bytes()), expected, "{value}");
        }
    }
}
