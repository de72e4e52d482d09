//! Content as a [`Stream`] of pieces.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;

use super::Body;
use crate::error::Error;

/// The content of a message as a stream of owned pieces; [`Body::into_stream`] makes it.
///
/// Dropping it before its end resets the stream of the message. An error ends it.
pub struct BodyStream {
    /// The body; `None` after its end.
    body: Option<Body>,
}

impl Body {
    /// Makes a [`Stream`] of the content, without its trailers. [`Body`] says what a piece costs.
    ///
    /// ```no_run
    /// # async fn main_(exchange: alula::Exchange) -> Result<(), alula::Error> {
    /// let (_, body, _) = exchange.split();
    /// let mut pieces = std::pin::pin!(body.into_stream());
    /// while let Some(piece) = std::future::poll_fn(|cx| futures_core::Stream::poll_next(pieces.as_mut(), cx)).await {
    ///     println!("{} bytes", piece?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("bytes_stream", "into_data_stream"))]
    pub fn into_stream(self) -> BodyStream {
        BodyStream { body: Some(self) }
    }
}

impl BodyStream {
    /// Returns the content, such as for its trailers; `None` after an error.
    pub fn into_body(self) -> Option<Body> {
        self.body
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let next = ready!(body.poll_piece(cx));
        if next.is_err() {
            self.body = None;
        }
        Poll::Ready(next.transpose())
    }
}
