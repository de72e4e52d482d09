//! The content of a request as an [`http_body::Body`].

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use alula_fields::{FieldSection, KnownName};
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};

use crate::{Body, Error};

/// The content of a request, as it arrives; the trailers come with it. Each chunk is copied once, into an allocation of its own.
pub struct RequestContent {
    body: Body,
    /// The octets that are still to come, where `content-length` says so.
    length: Option<u64>,
    is_done: bool,
}

impl http_body::Body for RequestContent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        if this.is_done {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_next(cx));
        this.is_done |= next.is_err();
        Poll::Ready(next.transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.is_done
    }

    fn size_hint(&self) -> SizeHint {
        match self.length {
            _ if self.is_done => SizeHint::with_exact(0),
            Some(octets) => SizeHint::with_exact(octets),
            None => SizeHint::default(),
        }
    }
}

impl RequestContent {
    pub(super) fn new(body: Body, fields: &FieldSection) -> Self {
        let length = fields.get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self { is_done: body.is_ended(), body, length }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Error>> {
        // A future of these that is dropped loses nothing: each poll makes another.
        if let Some(chunk) = ready!(pin!(self.body.chunk()).poll(cx))? {
            let data = Bytes::copy_from_slice(chunk);
            self.length = self.length.map(|octets| octets.saturating_sub(data.len() as u64));
            return Poll::Ready(Ok(Some(Frame::data(data))));
        }
        let trailers = ready!(pin!(self.body.trailers()).poll(cx))?.map(HeaderMap::try_from).transpose()?;
        self.is_done = true;
        Poll::Ready(Ok(trailers.map(Frame::trailers)))
    }
}
