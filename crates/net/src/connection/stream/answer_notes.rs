//! A server's notes on its answer on one stream: its status, its user, fields to add, and the right to
//! answer.

use std::{sync::Arc, time::Duration};

use alula_fields::{FieldSection, Head, Status};
use alula_machine::Time;

use crate::{
    connection::{
        memory::heads::keep_head,
        stream::{counts::Counts, tally::Tally},
    },
    error::Error,
};

#[derive(Default)]
pub(crate) struct AnswerNotes {
    /// The status of the final head that was sent, and the time.
    sent: Option<(Status, Time)>,
    /// The progress of the exchange is kept until somebody takes it (`tallies.rs`).
    is_tallied: bool,
    /// The user of the request, as its handler has named it.
    user: Option<Arc<str>>,
    /// The fields to add to the answer, whoever gives it.
    headers: Option<Box<Head>>,
    /// The facts for the task that reclaims the right to answer, while the right is left to it.
    left: Option<LeftNote>,
}

/// The facts about a request that its answer depends on, when its handler has dropped the responder.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftNote {
    /// The request is HEAD: its answer has no content (RFC 9110 §9.3.2).
    pub is_head: bool,
    /// The peer takes JSON, by `accept`.
    pub takes_json: bool,
    /// A number by which its server knows the route.
    pub route: u16,
}

impl AnswerNotes {
    #[inline]
    pub(crate) fn head_sent(&mut self, status: Status, now: Time) {
        self.sent = Some((status, now));
    }

    pub(crate) fn note_user(&mut self, user: Arc<str>) {
        self.user = Some(user);
    }

    pub(crate) fn user(&self) -> Option<Arc<str>> {
        self.user.clone()
    }

    pub(crate) fn keep_headers(&mut self, headers: Box<Head>) {
        self.headers = Some(headers);
    }

    /// Adds the kept fields to an answer; they stay kept.
    pub(crate) fn add_headers(&self, to: &mut FieldSection) {
        if let Some(kept) = &self.headers {
            to.extend_from(&kept.fields);
        }
    }

    /// Leaves the right to answer to the task.
    pub(crate) fn leave(&mut self, note: LeftNote) {
        self.left = Some(note);
    }

    /// Returns true if the right to answer was left.
    pub(crate) fn is_left(&self) -> bool {
        self.left.is_some()
    }

    /// Takes the right to answer, if it was left.
    pub(crate) fn reclaim(&mut self) -> Option<LeftNote> {
        self.left.take()
    }

    /// Sets whether the progress is kept until somebody takes it.
    pub(crate) fn set_tallied(&mut self, is_tallied: bool) {
        self.is_tallied = is_tallied;
    }

    #[inline]
    pub(crate) fn is_tallied(&self) -> bool {
        self.is_tallied
    }

    /// Returns the progress of the exchange; so many bytes of content have moved.
    pub(crate) fn tally(&self, counts: &Counts, failure: Option<Error>) -> Tally {
        let [received, sent] = counts.of_stream();
        let answered = self.sent.map(|(status, at)| (status, Duration::from_nanos(at.as_nanos())));
        Tally { answered, received, sent, user: self.user.clone(), failure }
    }

    /// Resets the notes, and gives the memory of the fields back.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.headers.take().into_iter().for_each(keep_head);
        (self.sent, self.is_tallied, self.user, self.left) = (None, false, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_of_the_answer_before() {
        let mut notes = AnswerNotes::default();
        notes.head_sent(Status::OK, Time::ZERO);
        notes.note_user("ann".into());
        notes.leave(LeftNote { is_head: true, ..LeftNote::default() });
        notes.set_tallied(true);
        let tally = notes.tally(&Counts::default(), None);
        assert_eq!(
            (tally.answered.map(|(status, _)| status), tally.user.as_deref()),
            (Some(Status::OK), Some("ann"))
        );
        assert!(notes.is_left() && notes.reclaim().is_some_and(|note| note.is_head) && !notes.is_left());
        notes.end();
        let tally = notes.tally(&Counts::default(), None);
        assert!(tally.answered.is_none() && tally.user.is_none() && !notes.is_tallied());
    }

    #[test]
    fn kept_fields_are_added_each_time() {
        let (mut notes, mut kept) = (AnswerNotes::default(), Box::<Head>::default());
        kept.fields.append("x-kept", "1").unwrap();
        notes.keep_headers(kept);
        for _ in 0..2 {
            let mut section = FieldSection::new();
            notes.add_headers(&mut section);
            assert_eq!(section.iter().count(), 1);
        }
    }
}
