//! Answers that pass the filters of their route.
//!
//! Rule: the filter that was added first sees an answer last, as the layer that was added first sees a
//! request first.

use alula_fields::KnownName;
use alula_net::{Encoder, Encoding, Error};

use super::has_no_content;
use crate::{
    connection::scratch::Scratch,
    exchange::reply::Reply,
    router::{App, Filter, Filters, Outgoing},
};

/// The changes of filters to an answer that is written piece by piece.
#[derive(Default)]
pub(super) struct Filtered {
    /// The encoders of the content, if there are any.
    pub(super) encoding: Option<Encoding>,
    /// True if no content is sent.
    pub(super) is_withheld: bool,
}

/// The result of one filter.
enum Outcome {
    AsItWas,
    Encoded(Box<dyn Encoder>),
    Withheld,
}

impl Reply {
    #[inline]
    pub(super) fn is_filtered(&self) -> bool {
        self.responder.request().is_filtered()
    }

    /// Returns true if the reply states the length of content that it does not have, because the request is
    /// HEAD.
    pub(super) fn is_description(&self, bytes: usize) -> bool {
        let states_length = || {
            self.answer
                .head
                .as_ref()
                .is_some_and(|head| head.fields.contains_known(KnownName::CONTENT_LENGTH))
        };
        bytes == 0 && self.responder.request().is_head() && states_length()
    }

    /// Returns the content that filters make of this one; none if they do not change it.
    pub(super) fn filter_whole(&mut self, pieces: &[&[u8]]) -> Result<Option<Scratch>, Error> {
        let mut made: Option<Scratch> = None;
        for filter in self.filters().iter().rev() {
            let one = made.as_deref().map(|made| [&made[..]]);
            let pieces = one.as_ref().map_or(pieces, |one| &one[..]);
            made = match self.pass(&**filter, Some(pieces)) {
                Outcome::AsItWas => continue,
                Outcome::Encoded(encoder) => Some(encode(encoder, pieces)?),
                Outcome::Withheld => Some(Scratch::lend()),
            };
        }
        Ok(made)
    }

    /// Applies the filters to content that follows piece by piece.
    pub(super) fn filter_pieces(&mut self) -> Filtered {
        let mut filtered = Filtered::default();
        for filter in self.filters().iter().rev() {
            match self.pass(&**filter, None) {
                Outcome::AsItWas => {}
                Outcome::Encoded(encoder) => {
                    filtered.encoding.get_or_insert_with(Encoding::lend).push(encoder)
                }
                Outcome::Withheld => filtered.is_withheld = true,
            }
        }
        filtered
    }

    /// Returns the filters of the route.
    fn filters(&self) -> Filters {
        let app = self.responder.app().and_then(|app| app.downcast_ref::<App>());
        app.and_then(|app| app.filters(self.responder.request().entry())).unwrap_or_default()
    }

    /// Shows the answer to a filter.
    fn pass(&mut self, filter: &dyn Filter, content: Option<&[&[u8]]>) -> Outcome {
        let head = self.answer.head.get_or_insert_default();
        let mut answer = Outgoing {
            request: self.responder.request(),
            status: &mut self.answer.status,
            headers: &mut head.fields,
            content,
            is_withheld: false,
        };
        let encoder = filter.begin(&mut answer);
        let is_withheld = answer.is_withheld;
        match encoder {
            Some(encoder) if is_withheld || has_no_content(self.answer.status) => encoder.give_back(),
            Some(encoder) => {
                // The length of encoded content is not known before its end.
                head.fields.remove(KnownName::CONTENT_LENGTH);
                return Outcome::Encoded(encoder);
            }
            None => {}
        }
        if is_withheld { Outcome::Withheld } else { Outcome::AsItWas }
    }
}

fn encode(mut encoder: Box<dyn Encoder>, pieces: &[&[u8]]) -> Result<Scratch, Error> {
    let mut made = Scratch::lend();
    let encoded = pieces.iter().try_for_each(|piece| encoder.encode(piece, &mut made));
    let finished = encoded.and_then(|()| encoder.finish(&mut made));
    encoder.give_back();
    finished.map(|()| made)
}
