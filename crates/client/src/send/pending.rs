//! A response that has not come yet.

use alula_net::{Error, Stream};

use crate::{
    builder::Decoding,
    observe::{
        BuiltIn,
        event::{ExchangeEvent, ReceivedHead},
        observer::Watcher,
    },
    response::{Response, decoding},
    send::{
        expect_continue::goes_ahead,
        held_stream::HeldStream,
        interim::{self, Hook},
    },
};

/// A response that has not come yet, to a request whose content may still be being sent.
pub struct PendingResponse {
    pub(crate) stream: AwaitedStream,
    /// The decoding of the content, if it will be decoded.
    pub(crate) decoding: Option<Decoding>,
    pub(crate) on_interim: Option<Hook>,
    pub(crate) watcher: Option<Watcher>,
    #[cfg(feature = "cookies")]
    pub(crate) cookies: Option<Box<crate::cookies::Awaited>>,
    pub(crate) built_in: BuiltIn,
}

/// The stream of a response.
pub(crate) enum AwaitedStream {
    Open(Stream),
    /// The head of the request may not have been sent yet.
    Held(Box<HeldStream>),
}

impl AwaitedStream {
    /// Returns the stream, after sending the head of the request if necessary.
    async fn get(&self) -> Result<&Stream, Error> {
        match self {
            Self::Open(stream) => Ok(stream),
            Self::Held(held) => held.get().await,
        }
    }

    async fn into_stream(self) -> Result<Stream, Error> {
        match self {
            Self::Open(stream) => Ok(stream),
            Self::Held(held) => held.into_stream().await,
        }
    }
}

impl PendingResponse {
    /// Tells the server another priority for the response; see [`Response::reprioritise`].
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: alula_net::h2::Priority) -> Result<(), Error> {
        match &self.stream {
            AwaitedStream::Open(stream) => stream.reprioritise(priority),
            AwaitedStream::Held(held) => held.reprioritise(priority),
        }
    }

    /// Waits until the server asks for the content or answers (RFC 9110 §10.1.1), at most 1 s: some servers
    /// never ask. False if it has answered with 300 or more, after which no content is to be sent. To be
    /// called before anything is written, for a request with `expect: 100-continue`. Safe to drop and call
    /// again. Allocates a timer.
    ///
    /// # Errors
    /// The failure of the stream.
    pub async fn go_ahead(&self) -> Result<bool, Error> {
        goes_ahead(self.stream.get().await?).await
    }

    /// Waits for the head of the response. Dropping the future cancels the request.
    ///
    /// # Errors
    /// The failure of the stream.
    pub async fn response(self) -> Result<Response, Error> {
        let Self { stream, decoding, mut on_interim, watcher, built_in, .. } = self;
        let head = async {
            let stream = stream.into_stream().await?;
            interim::hear(&stream, on_interim.as_mut(), watcher.as_ref()).await?;
            let received = stream.head().await?;
            Ok((stream, received))
        };
        let outcome = built_in.within(head).await;
        let (stream, received) =
            outcome.inspect_err(|error| built_in.tell_end(watcher.as_ref(), Err(error)))?;
        if let Some(watcher) = &watcher {
            watcher.event(&ExchangeEvent::Response(&ReceivedHead::new(stream.version(), &received.head)));
        }
        #[cfg(feature = "cookies")]
        if let Some(cookies) = &self.cookies {
            cookies.keep(&received.head.fields);
        }
        let mut response = Response::new(stream, received);
        if let Some(of_client) = &decoding {
            decoding::begin(of_client, &mut response);
        }
        built_in.tell_end(watcher.as_ref(), Ok(&response));
        Ok(response)
    }
}

opaque! {
    PendingResponse: "PendingResponse";
}

#[cfg(test)]
mod tests {
    use alula_net::Body;

    #[test]
    fn what_a_task_may_hold_is_send() {
        const fn is_send<T: Send>() {}
        const fn is_send_and_sync<T: Send + Sync>() {}
        is_send_and_sync::<crate::request::call::Call<'_>>();
        is_send_and_sync::<crate::request::content::Content>();
        is_send::<Body>();
        is_send::<super::PendingResponse>();
        is_send::<super::Response>();
    }
}
