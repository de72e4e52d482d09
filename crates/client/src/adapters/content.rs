//! The content of a response as an [`http_body::Body`].

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{error::ExecuteError, upload::Upload};
use crate::response::Response;

/// The content of a response as it arrives, followed by the trailers.
///
/// The rest of the request's content is sent while this is read. Dropping it before its end cancels the
/// request. Its pieces are those of [`Body`](crate::Body), which says what they cost.
pub struct ResponseContent {
    response: Response,
    upload: Option<Upload>,
    has_failed: bool,
}

impl ResponseContent {
    pub(super) fn new(mut response: Response, upload: Option<Upload>) -> Self {
        response.note_stated();
        Self { response, upload, has_failed: false }
    }

    /// Continues the upload. That the server does not take the content is for its response to tell.
    fn poll_upload(&mut self, cx: &mut Context<'_>) -> Result<(), ExecuteError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let Poll::Ready(outcome) = upload.as_mut().poll(cx) else { return Ok(()) };
        self.upload = None;
        match outcome {
            // Only the caller's own body may fail the response; the stream reports its failures itself.
            Err(error @ ExecuteError::Content(_)) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Body for ResponseContent {
    type Data = Bytes;
    type Error = ExecuteError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ExecuteError>>> {
        let this = self.get_mut();
        if this.has_failed {
            return Poll::Ready(None);
        }
        let next = match this.poll_upload(cx) {
            Ok(()) => {
                ready!(Pin::new(this.response.body()).poll_frame(cx)).transpose().map_err(ExecuteError::from)
            }
            Err(error) => Err(error),
        };
        this.has_failed = next.is_err();
        Poll::Ready(next.transpose())
    }

    /// Returns true once everything has come, unless content of the request is still being sent.
    fn is_end_stream(&self) -> bool {
        self.has_failed || (self.upload.is_none() && self.response.content().is_end_stream())
    }

    /// Returns the bytes that are left, if the server has stated a length and the content is not decoded.
    fn size_hint(&self) -> SizeHint {
        match self.has_failed {
            true => SizeHint::with_exact(0),
            false => self.response.content().size_hint(),
        }
    }
}

opaque! {
    ResponseContent: "ResponseContent";
}
