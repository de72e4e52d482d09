//! Answers in place of handlers that have ended.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use alula_fields::{Decimal, FieldFlags, FieldSection, KnownName, ResponseHead, Status};
use alula_net::{Error, Left, Stream, date};

use crate::{
    answer::Answer,
    exchange::reply::{has_no_content, hooked},
    observe::observing::RequestSpan,
};

/// The rest of an answer for which the peer had no room yet.
pub(crate) struct LateAnswer(Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>);

impl LateAnswer {
    /// Sends an answer in place of a handler, as much of it as the peer takes now; returns the rest.
    #[cold]
    pub(crate) fn begin(left: Left, answer: Answer, span: &RequestSpan) -> Option<Self> {
        let Left { mut stream, note } = left;
        let status = answer.status();
        let (mut headers, mut content) = answer.into_content(note.takes_json);
        let has_none = has_no_content(status);
        if !has_none && !headers.contains(KnownName::CONTENT_LENGTH) {
            // Digits need no check.
            let length = Decimal::of(content.len() as u64);
            headers.push_known(KnownName::CONTENT_LENGTH, length.as_bytes(), FieldFlags::NONE);
        }
        if let Some(app) = hooked(&stream) {
            // A hook that panics has panicked for the handler already, as a rule; this answer goes out all
            // the same.
            let _ =
                catch_unwind(AssertUnwindSafe(|| app.see_head(&stream, note.route, status, &mut headers)));
        }
        stream.date(&mut headers);
        if has_none || note.is_head {
            content.clear();
        }
        let mut sent = 0;
        let head = ResponseHead { status, fields: &headers };
        // When the stream is gone there is nobody left to tell.
        let is_whole = stream.answer(&head, &content, false, &mut sent).or_else(|_| refuse(&stream)).ok()?;
        span.answered(status);
        if is_whole {
            stream.sent_all();
            return None;
        }
        Some(Self(Box::pin(async move { stream.write(&content, true, &mut sent).await })))
    }

    /// Continues sending.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx).map(drop)
    }
}

/// Sends 500 in place of a head that cannot be sent.
fn refuse(stream: &Stream) -> Result<bool, Error> {
    let mut fields = FieldSection::new();
    fields.push_known(KnownName::DATE, &date::now(), FieldFlags::NONE);
    let head = ResponseHead { status: Status::INTERNAL_SERVER_ERROR, fields: &fields };
    stream.answer(&head, &[], false, &mut 0)
}
