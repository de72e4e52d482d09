//! The sending of a call: connection, head and content, and again where that is safe.

pub(crate) mod expect_continue;
pub(crate) mod held;
pub(crate) mod interim;
pub(crate) mod pending;
pub(crate) mod time_limit;
mod watched;

use std::sync::Arc;

use alula_fields::FieldSection;
use alula_machine::{OutBuf, StreamKey};
use alula_net::{
    BodyWriter, Cause, Conn, Deadlines, Error, Machine, Phase, Received, Refusal, Stream, Written,
};
use tokio::time::Instant;

use crate::{
    observe::{
        self, BuiltIn,
        event::{ExchangeEvent, ReceivedHead},
    },
    pool::queue_deadlines::QueueDeadlines,
    request::call::{Call, CallTimes},
    response::Response,
    send::{
        expect_continue::goes_ahead,
        pending::{AwaitedStream, PendingResponse},
    },
};

impl Call<'_> {
    /// Sends the request, with the [content](Self::content) it was given if it was given any, and waits for
    /// the head of the response.
    ///
    /// Dropping the future cancels the request (RST_STREAM). Allocates nothing once warm.
    ///
    /// # Errors
    /// The request is wrong, no connection could be opened, the stream ended early, or a redirect cannot be
    /// followed. A request that the peer cannot have acted on has been sent again, up to three times,
    /// before; so has one that is idempotent when a connection that had been used before closed without a
    /// word.
    pub async fn send(mut self) -> Result<Response, Error> {
        observe::send(&mut self, None).await
    }

    /// Sends the request with this content, bytes or text, and waits for the head of the response. The
    /// length is stated.
    ///
    /// A response that begins before all of the content was sent is handed over at once. The rest of the
    /// content is copied then, and goes on being sent while the response is read; it is given up with the
    /// response, and when that is whole or of 300 or more.
    ///
    /// Dropping the future cancels the request. Allocates nothing once warm, but for that copy and its task.
    ///
    /// # Errors
    /// As [`Self::send`].
    #[doc(alias = "body")]
    pub async fn send_body(mut self, content: impl AsRef<[u8]>) -> Result<Response, Error> {
        observe::send(&mut self, Some(content.as_ref())).await
    }

    /// Sends the head of the request; its content follows through the writer, the response may come before
    /// that ends.
    ///
    /// It is sent once: no redirect is followed, and nothing tried again. Where the server wants it over
    /// HTTP/1.1, that is an error, and the next call goes that way. A request with `expect: 100-continue`
    /// is waited for with [`PendingResponse::go_ahead`] before anything is written.
    ///
    /// GET, HEAD, DELETE and OPTIONS mostly have no content (RFC 9110 §9.3.1). Unless a field says that there
    /// is some, their head is held back until it is known: until the first content is written, the writer is
    /// [finished](BodyWriter::finish), after which the request ends with its head, or the response is waited
    /// for, but not for longer than 200 ms. This allocates, and spawns a task.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn open(mut self) -> Result<(BodyWriter, PendingResponse), Error> {
        if self.parts.has_content() {
            return Err(Error::usage(
                "the call was given content and is opened: write the content to the writer instead",
            ));
        }
        let times = self.times();
        let built_in = BuiltIn::begin(&self);
        let opened = match self.request.may_end_with_head() {
            true => built_in.within(Box::pin(self.hold(times))).await,
            false => built_in.within(self.start(None, false, times)).await.map(|stream| {
                let (receive, send) = stream.split();
                (send.into_writer(), AwaitedStream::Open(receive))
            }),
        };
        let (writer, stream) = opened.map_err(|error| {
            let error = self.named(error);
            built_in.tell_end(self.watcher(), Err(&error));
            error
        })?;
        let pending = PendingResponse {
            stream,
            decoding: self.decoding().cloned(),
            on_interim: self.parts.take_hook(),
            watcher: self.watcher().cloned(),
            built_in,
            #[cfg(feature = "cookies")]
            cookies: self.awaited_cookies(),
        };
        Ok((writer, pending))
    }

    pub(crate) async fn send_all(&mut self, content: Option<&[u8]>) -> Result<Response, Error> {
        let times = self.times();
        let outcome = self.attempt(content, times).await;
        if outcome.as_ref().is_ok_and(|response| self.is_settled(response)) {
            return self.told(outcome);
        }
        let outcome = Box::pin(self.go_on(outcome, content, times)).await;
        self.told(outcome.map_err(|error| self.named(error)))
    }

    /// Tells the observer of the end of the call.
    #[inline]
    fn told(&self, outcome: Result<Response, Error>) -> Result<Response, Error> {
        if let Some(watcher) = self.watcher() {
            watcher.event(&ExchangeEvent::end(outcome.as_ref()));
        }
        outcome
    }

    /// Returns true if the peer cannot have acted on the request; or is not likely to, since a connection
    /// that had been used before ended without a word, and it would not matter (RFC 9112 §9.3.1).
    pub(crate) fn may_try_again(&self, error: &Error) -> bool {
        may_retry(error) || (error.is_unanswered() && self.request.is_idempotent())
    }

    /// The same failure, with what was asked of whom, and with the time that all of it was given if no part
    /// had less.
    #[cold]
    fn named(&self, error: Error) -> Error {
        let error = match error.cause() {
            Cause::Timeout => error.in_spite_of(self.deadline.get()),
            _ => error,
        };
        self.request.named(error)
    }

    /// Returns the times of the call, which is sent now; the clock is read only where it must be.
    #[inline]
    fn times(&self) -> CallTimes {
        CallTimes {
            began: self.parts.is_timed.then(Instant::now),
            ends_at: self.deadline.get().and_then(|after| Instant::now().checked_add(after)),
        }
    }

    pub(crate) async fn attempt(
        &mut self,
        content: Option<&[u8]>,
        times: CallTimes,
    ) -> Result<Response, Error> {
        // Boxed, since readers and files are rare: their future would enlarge that of every call.
        if content.is_none() && self.parts.has_content() {
            return Box::pin(self.attempt_content(times)).await;
        }
        let empty = content.is_none_or(<[u8]>::is_empty);
        let mut stream = match self.try_start(content.map(<[u8]>::len), empty)? {
            Ok(stream) => stream,
            Err(conn) => self.start_on(conn, empty, times.ends_at).await?,
        };
        self.set_up(&stream, empty, times);
        let mut is_sent = false;
        if let Some(content) = content.filter(|_| !empty) {
            let is_wanted = !self.request.expects_continue() || goes_ahead(&stream).await?;
            let mut sent = 0;
            let written =
                if is_wanted { send_content(&stream, content, &mut sent).await? } else { Written::Declined };
            if written == Written::Answered {
                return Box::pin(self.answered_early(stream, &content[sent..])).await;
            }
            is_sent = written == Written::Whole;
        }
        if self.parts.hears_interim() {
            Box::pin(self.hear_interim(&stream)).await?;
        }
        let sent = if is_sent { content.map_or(0, <[u8]>::len) } else { 0 };
        let received = stream.head().await.map_err(|error| error.with_sent(sent as u64))?;
        if is_sent {
            stream.sent_all();
        }
        Ok(self.answered(stream, received))
    }

    /// Hands over a response that has begun before all of the content was sent. The rest is copied, since
    /// the caller's bytes are not there for longer than this call.
    async fn answered_early(&mut self, stream: Stream, rest: &[u8]) -> Result<Response, Error> {
        if self.parts.hears_interim() {
            self.hear_interim(&stream).await?;
        }
        let received = stream.head().await?;
        let (receive, send) = stream.split();
        let (writer, rest) = (send.into_writer(), rest.to_vec());
        // It ends when all is sent, the response is whole, or nobody reads that.
        tokio::spawn(async move { writer.finish_content(rest).await.map(drop) });
        Ok(self.answered(receive, received))
    }

    /// Tells whoever wants to hear of the responses that come before the head of the one that counts, until
    /// that is there.
    pub(crate) async fn hear_interim(&mut self, stream: &Stream) -> Result<(), Error> {
        let watcher = self.watcher().cloned();
        interim::hear(stream, self.parts.on_interim(), watcher.as_ref()).await
    }

    /// Makes the response that the caller is handed once its head has come.
    pub(crate) fn answered(&self, stream: Stream, received: Received) -> Response {
        if let Some(watcher) = self.watcher() {
            watcher.event(&ExchangeEvent::Response(&ReceivedHead::new(stream.version(), &received.head)));
        }
        #[cfg(feature = "cookies")]
        self.keep_cookies(&received.head.fields);
        self.decoded(Response::new(stream, received))
    }

    /// Opens a stream with the head of the request.
    pub(crate) async fn start(
        &mut self,
        length: Option<usize>,
        end: bool,
        times: CallTimes,
    ) -> Result<Stream, Error> {
        let stream = match self.try_start(length, end)? {
            Ok(stream) => stream,
            Err(conn) => self.start_on(conn, end, times.ends_at).await?,
        };
        self.set_up(&stream, end, times);
        Ok(stream)
    }

    /// Completes the request, whose content has this length if that is known.
    #[inline]
    fn prepare(&mut self, length: Option<usize>) -> Result<(), Error> {
        if let Some(mistake) = self.parts.take_mistake() {
            return Err(mistake);
        }
        self.complete()?;
        self.accept_codings()?;
        self.request.state_length(&self.client, length)?;
        self.settle()
    }

    /// Completes the request and sends its head, if a connection takes it at once.
    #[inline]
    fn try_start(
        &mut self,
        length: Option<usize>,
        end: bool,
    ) -> Result<Result<Stream, Option<Arc<Conn>>>, Error> {
        self.prepare(length)?;
        // A watched call goes by way of `start_watched`, which reports each step.
        if self.parts.is_watched {
            return Ok(Err(None));
        }
        let (request, bare) = (&self.request, self.bare_fields());
        Ok(request.origin()?.try_open(request.noted(), |machine, out| request.send(bare, machine, end, out)))
    }

    /// Sends the head of the request, which is complete, on this connection or another that has to be waited
    /// for.
    async fn start_on(
        &self,
        conn: Option<Arc<Conn>>,
        end: bool,
        ends_at: Option<Instant>,
    ) -> Result<Stream, Error> {
        if let Some(watcher) = self.watcher() {
            return Box::pin(self.start_watched(watcher, conn, end, (Instant::now(), ends_at))).await;
        }
        let (request, bare) = (&self.request, self.bare_fields());
        self.open_with(conn, end, ends_at, |machine, out| request.send(bare, machine, end, out)).await
    }

    /// The same with the head sent as `send` does it.
    pub(crate) async fn open_with<F>(
        &self,
        conn: Option<Arc<Conn>>,
        end: bool,
        ends_at: Option<Instant>,
        send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let (request, bare) = (&self.request, self.bare_fields());
        let deadlines = QueueDeadlines::new(ends_at, self.client.settings().deadlines.queue);
        let origin = request.origin()?;
        if conn.is_none() {
            // A request that no connection would take must not open one.
            request.check(bare, origin.speaks(), end, &self.client.settings().protocol.config.limits)?;
        }
        origin.open(conn, deadlines, self.watcher(), request.noted(), send).await
    }

    /// The fields of a request that has none of its own.
    #[inline]
    pub(crate) fn bare_fields(&self) -> &FieldSection {
        self.client.settings().policy.user_agent.alone()
    }

    /// Says how the stream is waited for and watched.
    #[inline]
    fn set_up(&self, stream: &Stream, end: bool, times: CallTimes) {
        if self.parts.hears_interim() {
            stream.keep_interim();
        }
        let deadlines = Deadlines {
            ends_at: times.ends_at,
            total: self.deadline.get(),
            head: self.head_timeout.get(),
            idle: self.read_timeout.get(),
        };
        if deadlines.are_any() {
            stream.set_deadlines(deadlines);
        }
        if let Some(began) = times.began {
            stream.time_since(began, end);
        }
    }
}

/// Sends the content, or as much as there is room for before the response begins. A response that comes whole
/// before its end is no failure: the rest is not needed then.
async fn send_content(stream: &Stream, content: &[u8], sent: &mut usize) -> Result<Written, Error> {
    match stream.write_until_answered(content, true, sent).await {
        // A server may reset with NO_ERROR once it has answered in full (RFC 9113 §8.1).
        Err(error) if matches!(error.cause(), Cause::Reset(code) if *code == alula_net::h2::ErrorCode::NO_ERROR) => {
            Ok(Written::Whole)
        }
        result => result.map_err(|error| error.with_sent(*sent as u64)),
    }
}

fn may_retry(error: &Error) -> bool {
    error.is_retryable() && !error.is_connect() && error.phase() != Phase::Build
}
