//! Content under the conditions and the range of the request (RFC 9110 §13, §14).

use std::ops::Range;

use alula_fields::{Decimal, FieldFlags, FieldSection, KnownName, Status};
use alula_net::{Error, Sent};

use crate::{
    conditional::{ContentRange, Multipart, Selection, Validators, select},
    exchange::reply::Reply,
    router::forget_content,
};

impl Reply {
    /// Sends this content under the conditions and the range of the request: all of it, one part or several
    /// (206), or none (304, 412, 416). The validators are the reply's own `etag` and `last-modified`.
    ///
    /// The reply's status, which must be 200, is replaced then. A reply of
    /// [`Responder::respond`](crate::Responder::respond) knows nothing of the request and sends all, unless
    /// its route has filters. Dropping the future part-way resets the stream. Allocates nothing once warm,
    /// but for several parts.
    ///
    /// # Errors
    /// The status is not 200; or as [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange, value: Vec<u8>) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).header("etag", "\"v7\"").send_conditional(&value).await
    /// # }
    /// ```
    pub async fn send_conditional(self, content: impl AsRef<[u8]>) -> Result<Sent, Error> {
        self.check_status()?;
        self.send_selected(content.as_ref(), false).await
    }

    /// Sends this content in the same way, with a date that may be strong (RFC 9110 §8.8.2.2).
    pub(crate) async fn send_selected(mut self, content: &[u8], is_date_strong: bool) -> Result<Sent, Error> {
        let selection = self.select(content.len() as u64, is_date_strong);
        self.describe(&selection, content.len() as u64)?;
        match selection {
            Selection::Whole => self.send(content).await,
            Selection::Part(part) => self.send(bytes(content, &part)).await,
            Selection::Parts(parts) => self.send_several(content, &parts).await,
            _ => self.send([]).await,
        }
    }

    /// Checks that the status is 200, which the selected status replaces.
    pub(super) fn check_status(&self) -> Result<(), Error> {
        match self.answer.status == Status::OK {
            true => Ok(()),
            false => Err(Error::usage("an answer under conditions is begun with 200")),
        }
    }

    /// Evaluates the request, if it has conditions or a range, against the reply's validators.
    pub(super) fn select(&self, length: u64, is_date_strong: bool) -> Selection {
        let request = self.responder.request();
        let headers = self.answer.head.as_ref().map_or(const { &FieldSection::new() }, |head| &head.fields);
        let now = Validators::stated(headers).strong_date(is_date_strong);
        select(request.method(), request.headers(), &now, length)
    }

    /// Sets the status and the fields of the selected part of `length` bytes.
    pub(super) fn describe(&mut self, selection: &Selection, length: u64) -> Result<(), Error> {
        self.answer.status = selection.status();
        let headers = self.headers_mut();
        match selection {
            Selection::Whole => accept_ranges(headers),
            Selection::Part(part) => {
                accept_ranges(headers);
                headers.set(KnownName::CONTENT_RANGE, ContentRange::of(part.clone(), length))?;
                headers.set(KnownName::CONTENT_LENGTH, Decimal::of(part.end - part.start).as_bytes())?;
            }
            Selection::Parts(_) => accept_ranges(headers),
            Selection::RangeNotSatisfiable => {
                forget_content(headers);
                headers.set(KnownName::CONTENT_RANGE, ContentRange::unsatisfied(length))?;
            }
            Selection::NotModified | Selection::PreconditionFailed => forget_content(headers),
        }
        Ok(())
    }

    async fn send_several(mut self, content: &[u8], parts: &[Range<u64>]) -> Result<Sent, Error> {
        let multipart = self.divide(parts, content.len() as u64)?;
        let mut pieces = Vec::with_capacity(2 * parts.len() + 1);
        for (index, part) in parts.iter().enumerate() {
            pieces.extend([multipart.head(index), bytes(content, part)]);
        }
        pieces.push(multipart.close());
        self.send_parts(&pieces).await
    }

    /// Sets the fields of several parts: the media type moves into the head of each.
    pub(super) fn divide(&mut self, parts: &[Range<u64>], length: u64) -> Result<Multipart, Error> {
        let headers = self.headers_mut();
        let media_type = headers.get(KnownName::CONTENT_TYPE).unwrap_or(b"application/octet-stream");
        let multipart = Multipart::new(media_type, parts, length)?;
        headers.set(KnownName::CONTENT_TYPE, multipart.media_type())?;
        headers.set(KnownName::CONTENT_LENGTH, Decimal::of(multipart.content_length()).as_bytes())?;
        Ok(multipart)
    }
}

fn bytes<'c>(content: &'c [u8], part: &Range<u64>) -> &'c [u8] {
    // A selection lies within the length that it was made for.
    content.get(part.start as usize..part.end as usize).unwrap_or_default()
}

fn accept_ranges(headers: &mut FieldSection) {
    if !headers.contains_known(KnownName::ACCEPT_RANGES) {
        headers.push_known(KnownName::ACCEPT_RANGES, b"bytes", FieldFlags::NONE);
    }
}
