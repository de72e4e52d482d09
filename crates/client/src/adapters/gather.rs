//! Short content of a request, gathered so that it is sent with the head, and can be sent again where that is
//! safe.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
};

use bytes::Buf;
use http::HeaderMap;
use http_body::{Body, Frame};

use super::error::ExecuteError;

/// The most bytes that are gathered.
pub(super) const SHORT_MAX: u64 = 64 * 1024;

/// The complete content.
pub(super) struct Gathered<D> {
    data: Data<D>,
    pub(super) trailers: Option<HeaderMap>,
}

enum Data<D> {
    None,
    /// The complete content, which came as one piece.
    One(D),
    Copied(Vec<u8>),
}

impl<D: Buf> Gathered<D> {
    pub(super) async fn from<B>(body: B) -> Result<Self, ExecuteError>
    where
        B: Body<Data = D>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut body, mut all) = (pin!(body), Self { data: Data::None, trailers: None });
        while let Some(frame) = next(body.as_mut()).await? {
            match frame.into_data() {
                Ok(data) => all.data = all.data.and(data),
                Err(frame) => all.trailers = frame.into_trailers().ok(),
            }
        }
        Ok(all)
    }

    pub(super) fn content(&self) -> &[u8] {
        match &self.data {
            Data::None => &[],
            Data::One(data) => data.chunk(),
            Data::Copied(bytes) => bytes,
        }
    }
}

impl<D: Buf> Data<D> {
    fn and(self, mut more: D) -> Self {
        let mut bytes = match self {
            // A single contiguous piece is the usual case, and is sent from where it lies.
            Self::None if more.chunk().len() == more.remaining() => return Self::One(more),
            Self::None => Vec::with_capacity(more.remaining()),
            Self::One(data) => data.chunk().to_vec(),
            Self::Copied(bytes) => bytes,
        };
        while more.has_remaining() {
            bytes.extend_from_slice(more.chunk());
            more.advance(more.chunk().len());
        }
        Self::Copied(bytes)
    }
}

/// Returns the next frame of a body.
pub(super) async fn next<B>(mut body: Pin<&mut B>) -> Result<Option<Frame<B::Data>>, ExecuteError>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
    frame.transpose().map_err(|error| ExecuteError::Content(error.into()))
}
