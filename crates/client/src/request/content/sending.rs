//! Sending content while the response may arrive.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use alula_fields::KnownName;
use alula_net::{BodyWriter, Cause, Error, Received, Stream};

use super::{
    Content, Given,
    piece::{Failure, Piece, Sink},
};
use crate::{
    request::{
        Request,
        call::{Call, CallTimes},
    },
    response::Response,
    send::{self, expect_continue::goes_ahead},
};

type Sending = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

impl Call<'_> {
    /// Sends the request with its content.
    pub(crate) async fn attempt_content(&mut self, times: CallTimes) -> Result<Response, Error> {
        let length = self.open_content().await?;
        let stated = length.and_then(|length| usize::try_from(length).ok());
        let stream = send::start(self, stated, length == Some(0), times).await?;
        let goes = length != Some(0) && (!self.request.expects_continue() || goes_ahead(&stream).await?);
        let content = if goes { self.parts.rare_mut().content.take() } else { None };
        let Some(content) = content else {
            let received = self.head(&stream).await?;
            return Ok(send::answered(self, stream, received));
        };
        let (receive, send) = stream.split();
        let sending = Box::pin(content.send(send.into_writer()));
        let (received, rest) = exchange(self.head(&receive), sending).await?;
        let response = send::answered(self, receive, received);
        match rest {
            // A redirect or an error needs no more content; the sender is stopped rather than left behind.
            Some(rest) if response.declines_content() => {
                response.end_sending();
                drop(rest);
            }
            // It ends when all is sent, the response is whole, or nobody reads it.
            Some(rest) => _ = tokio::spawn(rest),
            None => {}
        }
        Ok(response)
    }

    async fn head(&mut self, stream: &Stream) -> Result<Received, Error> {
        send::hear_interim(self, stream).await?;
        stream.head().await
    }

    /// Opens the content and sets its media type; returns its length.
    async fn open_content(&mut self) -> Result<Option<u64>, Error> {
        let Given::Content(content) = &mut self.parts.rare_mut().content else {
            return Err(Error::usage(
                "the content was sent and cannot be sent again: give bytes or a file instead of a reader",
            ));
        };
        for piece in &mut content.pieces {
            piece.open().await?;
        }
        if let (Some(media_type), Request::Plain(plain)) = (&content.media_type, &mut self.request) {
            let fields = &mut plain.head_mut(&self.client).fields;
            if !fields.contains(KnownName::CONTENT_TYPE) {
                fields.append(KnownName::CONTENT_TYPE, media_type.as_bytes())?;
            }
        }
        Ok(content.length())
    }
}

impl Content {
    async fn send(mut self, writer: BodyWriter) -> Result<(), Failure> {
        let mut sink = Sink::new(writer, self.sent, self.observer);
        // The last piece takes the end of the stream with it, which saves an empty DATA frame or chunk.
        let last = self.pieces.pop();
        for piece in self.pieces {
            piece.send(&mut sink).await?;
        }
        match last {
            Some(Piece::Bytes(bytes)) => sink.finish(&bytes).await,
            Some(other) => {
                other.send(&mut sink).await?;
                sink.finish(&[]).await
            }
            None => sink.finish(&[]).await,
        }
    }
}

/// Sends content, and waits for the head of the response at the same time. When the head is first, what is
/// left to be sent comes along.
async fn exchange(
    head: impl Future<Output = Result<Received, Error>>,
    mut sending: Sending,
) -> Result<(Received, Option<Sending>), Error> {
    let mut head = pin!(head);
    let (mut is_sending, mut refusal) = (true, None);
    let received = poll_fn(|cx| {
        if is_sending && let Poll::Ready(sent) = sending.as_mut().poll(cx) {
            is_sending = false;
            match sent {
                Err(Failure::Source(error)) => return Poll::Ready(Err(error)),
                // What the stream did not take, the response may explain; or its error tells.
                Err(Failure::Stream(error)) => refusal = error,
                Ok(()) => {}
            }
        }
        head.as_mut().poll(cx)
    })
    .await
    .map_err(|error| match error.cause() {
        // The sender has failed by itself, and knows the reason.
        Cause::Unfinished => refusal.take().unwrap_or(error),
        _ => error,
    })?;
    Ok((received, is_sending.then_some(sending)))
}
