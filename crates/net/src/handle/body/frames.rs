//! Content as an [`http_body::Body`].

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};

use super::Body;
use crate::{error::Error, handle::stream::Stream};

/// Content as it arrives, in owned pieces; [`Body`] says what they cost. Trailers (RFC 9110 §6.5) come as the
/// last frame.
///
/// An error ends it. Its size is known exactly where the peer has stated a length and the body is owned, as
/// by `Response::into_body`.
impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        if this.is_told {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_next(cx));
        this.is_told |= next.is_err();
        Poll::Ready(next.transpose())
    }

    fn is_end_stream(&self) -> bool {
        let is_over = || self.stream.as_ref().is_none_or(Stream::is_all_told);
        // A body whose content was taken still has to report an error.
        self.is_told || (!self.is_taken && self.decoder.is_none() && self.unread().is_empty() && is_over())
    }

    fn size_hint(&self) -> SizeHint {
        match self.left() {
            _ if self.is_told => SizeHint::with_exact(0),
            // Without a stated length there may be trailers, which HTTP/1.1 cannot send behind content of an
            // exact length.
            Some(_) if !self.is_stated => SizeHint::default(),
            Some(bytes) => SizeHint::with_exact(bytes),
            None => SizeHint::default(),
        }
    }
}

impl Stream {
    /// Records that the peer has stated the length of the content; the size hint reports it from here on.
    pub fn note_stated(body: &mut Body) {
        body.is_stated = true;
    }
}

impl Body {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Error>> {
        if let Some(piece) = ready!(self.poll_piece(cx))? {
            return Poll::Ready(Ok(Some(Frame::data(piece))));
        }
        self.is_told = true;
        if self.trailers.is_none() {
            self.trailers = self.stream.as_ref().and_then(Stream::take_trailers);
        }
        let trailers = self.trailers.as_ref().map(|head| HeaderMap::try_from(&head.fields)).transpose()?;
        Poll::Ready(Ok(trailers.map(Frame::trailers)))
    }
}
