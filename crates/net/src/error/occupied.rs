//! The requests and connections that occupy an origin, for the error of a call that waited for a connection.

use std::{fmt, iter::Sum};

/// The requests that hold the connections of an origin, so that another one waits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Occupied {
    /// Responses whose heads the program has, and whose content it has neither read to the end nor dropped.
    pub unread: u32,
    /// Requests whose responses have not begun.
    pub unanswered: u32,
    /// Requests whose content is not completely sent.
    pub unsent: u32,
}

impl Occupied {
    pub(crate) const UNREAD: Self = Self { unread: 1, unanswered: 0, unsent: 0 };
    pub(crate) const UNANSWERED: Self = Self { unread: 0, unanswered: 1, unsent: 0 };
    pub(crate) const UNSENT: Self = Self { unread: 0, unanswered: 0, unsent: 1 };

    /// Returns true if no request is known to hold a connection.
    pub const fn is_nothing(self) -> bool {
        self.unread == 0 && self.unanswered == 0 && self.unsent == 0
    }
}

impl Sum for Occupied {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            unread: sum.unread + one.unread,
            unanswered: sum.unanswered + one.unanswered,
            unsent: sum.unsent + one.unsent,
        })
    }
}

/// Writes the counts in words: "100 responses from this origin are unread, 1 request to this origin is not
/// answered".
impl fmt::Display for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.unread, "response from", "responses from", "unread"),
            (self.unanswered, "request to", "requests to", "not answered"),
            (self.unsent, "request to", "requests to", "not sent to its end"),
        ];
        let mut before = "";
        for (count, one, several, state) in parts.into_iter().filter(|(count, ..)| *count > 0) {
            match count {
                1 => write!(f, "{before}1 {one} this origin is {state}")?,
                _ => write!(f, "{before}{count} {several} this origin are {state}")?,
            }
            before = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_sentence() {
        for (unread, unanswered, unsent, sentence) in [
            (100, 0, 0, "100 responses from this origin are unread"),
            (1, 0, 0, "1 response from this origin is unread"),
            (0, 1, 0, "1 request to this origin is not answered"),
            (
                2,
                3,
                1,
                "2 responses from this origin are unread, 3 requests to this origin are not answered, 1 request to this \
                 origin is not sent to its end",
            ),
        ] {
            assert_eq!(Occupied { unread, unanswered, unsent }.to_string(), sentence);
        }
    }
}
