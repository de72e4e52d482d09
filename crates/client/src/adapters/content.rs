//! The content of a response as an [`http_body::Body`].

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::{error::ExecuteError, upload::Upload};
use crate::{Error, Response};

/// The content of a response, as it arrives; the trailers come with it.
///
/// What is left of the request's content is sent while this is read. Dropping it before its end cancels the request. Each chunk
/// is copied once, into an allocation of its own.
pub struct ResponseContent {
    response: Response,
    upload: Option<Upload>,
    has_begun: bool,
    is_done: bool,
}

impl ResponseContent {
    pub(super) fn new(mut response: Response, upload: Option<Upload>) -> Self {
        let is_done = response.body().is_ended();
        Self { response, upload, has_begun: false, is_done }
    }

    /// Sends on. That the server does not take the content is for its response to tell.
    fn poll_upload(&mut self, cx: &mut Context<'_>) -> Result<(), ExecuteError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let Poll::Ready(outcome) = upload.as_mut().poll(cx) else { return Ok(()) };
        self.upload = None;
        match outcome {
            Err(error @ ExecuteError::Content(_)) => Err(error),
            _ => Ok(()),
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Error>> {
        // A future of these that is dropped loses nothing: each poll makes another.
        let body = self.response.body();
        if let Some(chunk) = ready!(pin!(body.chunk()).poll(cx))? {
            let data = Bytes::copy_from_slice(chunk);
            self.has_begun = true;
            return Poll::Ready(Ok(Some(Frame::data(data))));
        }
        let trailers = ready!(pin!(body.trailers()).poll(cx))?.map(HeaderMap::try_from).transpose()?;
        self.is_done = true;
        Poll::Ready(Ok(trailers.map(Frame::trailers)))
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
        if this.is_done {
            return Poll::Ready(None);
        }
        let next = match this.poll_upload(cx) {
            Ok(()) => ready!(this.poll_next(cx)).map_err(ExecuteError::from),
            Err(error) => Err(error),
        };
        this.is_done |= next.is_err();
        Poll::Ready(next.transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.is_done
    }

    /// What `content-length` says, before anything was read and unless the content is decoded on its way.
    fn size_hint(&self) -> SizeHint {
        let is_known = !self.has_begun && !self.response.is_decoded();
        match self.response.content_length().filter(|_| is_known) {
            _ if self.is_done => SizeHint::with_exact(0),
            Some(octets) => SizeHint::with_exact(octets),
            None => SizeHint::default(),
        }
    }
}
