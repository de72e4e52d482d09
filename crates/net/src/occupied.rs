//! What holds the connections of an origin: an error about a wait for one says so.

use std::{fmt, iter::Sum};

use crate::{
    conn::Conn,
    shared::Shared,
    slot::{Sides, Slot},
};

/// The requests that hold the connections of an origin, so that another one waits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Occupied {
    /// Responses whose heads the program has, and whose content it has neither read to its end nor dropped.
    pub unread: u32,
    /// Requests whose responses have not begun.
    pub unanswered: u32,
    /// Requests whose content is not sent to its end.
    pub unsent: u32,
}

impl Occupied {
    const UNREAD: Self = Self { unread: 1, unanswered: 0, unsent: 0 };
    const UNANSWERED: Self = Self { unread: 0, unanswered: 1, unsent: 0 };
    const UNSENT: Self = Self { unread: 0, unanswered: 0, unsent: 1 };

    /// Returns true if nothing is known to hold a connection.
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

/// Says it in words: "100 responses from this origin are unread, 1 request to this origin is not answered".
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

impl Conn {
    /// Counts the requests that hold this connection: those whose exchange is not over, as far as the peer is concerned.
    pub fn occupied(&self) -> Occupied {
        let shared = self.lock();
        shared.slots.iter().filter_map(|slot| shared.occupied_by(slot)).sum()
    }
}

impl Shared {
    /// Counts the responses that have content which nobody has taken.
    pub(crate) fn unread(&self) -> Occupied {
        let unread = self.slots.iter().filter(|slot| slot.held.has(Sides::READ) && !slot.content.is_empty());
        Occupied { unread: unread.count() as u32, ..Occupied::default() }
    }

    fn occupied_by(&self, slot: &Slot) -> Option<Occupied> {
        let stream = slot.stream.filter(|_| slot.held != Sides::NONE && slot.failed.is_none())?;
        match self.machine.has_sent_all(stream) {
            Some(false) => Some(Occupied::UNSENT),
            // Over HTTP/1.1 one that is whole may take all the room there is.
            _ if slot.ended => {
                (!slot.content.is_empty() && !self.machine.wants_read()).then_some(Occupied::UNREAD)
            }
            _ if slot.is_head_taken => Some(Occupied::UNREAD),
            _ => Some(Occupied::UNANSWERED),
        }
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
