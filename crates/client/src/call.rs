//! One request on its way: built step by step, then sent.

use std::{pin::pin, sync::Arc, time::Duration};

use alula_fields::{
    Decimal, FieldSection, Head, IntoName, KnownName, Method, OutBuf, RequestHead, StreamKey,
};
use alula_net::{BodyWriter, Cause, Error, Machine, Phase, Refusal, Retry, Stream, h1};
use tokio::time::Instant;

use crate::{Client, Hole, Prepared, Response, client::Path, origin::Origin, prepared::Given};

/// How often a request that the peer cannot have acted on is sent again by itself.
const TRIES_MAX: u32 = 3;

/// How long content waits to be asked for. There are servers that never ask, and wait for it.
const CONTINUE_WAIT: Duration = Duration::from_secs(1);

/// A request being built. The first mistake made on the way is kept and reported when it is sent.
#[must_use = "a call does nothing until it is sent"]
pub struct Call<'a> {
    client: &'a Client,
    request: Request<'a>,
    /// The first mistake made on the way; boxed, since there is none as a rule and calls are moved about.
    mistake: Option<Box<Error>>,
    deadline: Option<Duration>,
}

enum Request<'a> {
    /// There is none, because of a mistake.
    None,
    Plain(Plain<'a>),
    Prepared(&'a Prepared, Given<'a>),
}

struct Plain<'a> {
    origin: Arc<Origin>,
    method: &'a str,
    path: Path<'a>,
    /// The protocol of an extended CONNECT.
    protocol: Option<&'a str>,
    /// Lent by the client once there is a field.
    head: Option<Box<Head>>,
}

impl<'a> Call<'a> {
    pub(crate) fn plain(client: &'a Client, origin: Arc<Origin>, method: &'a str, path: Path<'a>) -> Self {
        Self::new(client, Request::Plain(Plain { origin, method, path, protocol: None, head: None }))
    }

    pub(crate) fn prepared(client: &'a Client, prepared: &'a Prepared) -> Self {
        Self::new(client, Request::Prepared(prepared, Given::default()))
    }

    pub(crate) fn failed(client: &'a Client, error: Error) -> Self {
        let mut call = Self::new(client, Request::None);
        call.note(error);
        call
    }

    fn new(client: &'a Client, request: Request<'a>) -> Self {
        Self { client, request, mistake: None, deadline: client.settings().deadline }
    }

    /// Asks for another path (and query) of the same origin.
    #[inline]
    pub fn path(mut self, path: &'a str) -> Self {
        match &mut self.request {
            Request::Plain(plain) => plain.path = Path::Given(path),
            Request::Prepared(_, given) => given.path(path),
            Request::None => {}
        }
        self
    }

    /// Makes a CONNECT an extended one, for this protocol (RFC 8441 §4): [`open`](Self::open) it, and once the response is 2xx
    /// the writer and the body are the two directions of a tunnel. Either side ends its own direction; a tunnel that is dropped
    /// is reset.
    ///
    /// Sending it fails when the method is not CONNECT, and when the server has not said that it takes extended CONNECT; its
    /// SETTINGS are waited for.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = alula_client::Client::new()?;
    /// let call = client.request("CONNECT", "https://example.com/chat").protocol("websocket");
    /// let (mut up, pending) = call.open().await?;
    /// let mut response = pending.response().await?;
    /// if response.status().is_success() {
    ///     up.write(b"octets of the protocol").await?;
    ///     let _answer = response.body().chunk().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn protocol(mut self, protocol: &'a str) -> Self {
        match &mut self.request {
            Request::Plain(plain) => plain.protocol = Some(protocol),
            Request::Prepared(..) => self.note(Error::usage("a prepared request takes no protocol")),
            Request::None => {}
        }
        self
    }

    /// Fills a hole of a prepared request.
    #[inline]
    pub fn set(mut self, hole: Hole, value: &'a [u8]) -> Self {
        match &mut self.request {
            Request::Prepared(_, given) => given.set(hole, value),
            Request::Plain(_) => self.note(Error::usage("only a prepared request has holes")),
            Request::None => {}
        }
        self
    }

    /// Adds a field. A prepared request takes none: its fields are in the plan.
    #[inline]
    pub fn field<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        self.add(name, value);
        self
    }

    fn add<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) {
        let client = self.client;
        let added = match &mut self.request {
            Request::Plain(plain) => {
                let head = plain.head.get_or_insert_with(|| client.lend_head());
                head.fields.append(name, value).map_err(Error::from)
            }
            Request::Prepared(..) => {
                Err(Error::usage("a prepared request takes no further fields: make a hole"))
            }
            Request::None => Ok(()),
        };
        if let Err(error) = added {
            self.note(error);
        }
    }

    #[cold]
    fn note(&mut self, mistake: Error) {
        self.mistake.get_or_insert_with(|| Box::new(mistake));
    }

    /// How long the call may take in all, to the last octet of the response.
    #[inline]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Sends the request without content and waits for the head of the response.
    ///
    /// Dropping the future cancels the request (RST_STREAM). Allocates nothing once warm.
    ///
    /// # Errors
    /// What is wrong with the request; why no connection could be opened; how the stream ended. A request that the
    /// peer cannot have acted on has been sent again, up to three times, before.
    pub async fn send(mut self) -> Result<Response, Error> {
        self.send_all(None).await
    }

    /// Sends the request with this content and waits for the head of the response. The stated length goes along.
    ///
    /// All of the content goes out before the response is handed over. A server that sends back more than a window while
    /// it still reads waits for its reader, and this call for the server: use [`Self::open`] with such a server.
    ///
    /// Dropping the future cancels the request. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn send_body(mut self, content: &[u8]) -> Result<Response, Error> {
        self.send_all(Some(content)).await
    }

    /// Sends the head of the request; its content follows through the writer, the response may come before that ends.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn open(mut self) -> Result<(BodyWriter, PendingResponse), Error> {
        let stream = self.start(None, false, self.ends_at()).await?;
        let (receive, send) = stream.split();
        Ok((send.into_writer(), PendingResponse { stream: receive }))
    }

    async fn send_all(&mut self, content: Option<&[u8]>) -> Result<Response, Error> {
        let ends_at = self.ends_at();
        let mut tries = 0;
        loop {
            tries += 1;
            match self.attempt(content, ends_at).await {
                Err(error) if tries < TRIES_MAX && self.may_try_again(&error) => {}
                result => return result,
            }
        }
    }

    /// Whether the peer cannot have acted on the request; or is not likely to, since a connection that had been used before
    /// ended without a word, and it would not matter (RFC 9112 §9.3.1).
    fn may_try_again(&self, error: &Error) -> bool {
        let is_unanswered =
            matches!(error.cause(), Cause::Http1(h1::ConnectionError::Unanswered { is_reused: true }));
        may_retry(error) || (is_unanswered && self.request.is_idempotent())
    }

    /// When the call must have ended; the clock is read only where it must.
    fn ends_at(&self) -> Option<Instant> {
        self.deadline.and_then(|after| Instant::now().checked_add(after))
    }

    async fn attempt(&mut self, content: Option<&[u8]>, ends_at: Option<Instant>) -> Result<Response, Error> {
        let empty = content.is_none_or(<[u8]>::is_empty);
        let mut stream = self.start(content.map(<[u8]>::len), empty, ends_at).await?;
        let mut is_sent = false;
        if let Some(content) = content.filter(|_| !empty) {
            is_sent = !self.request.expects_continue() || goes_ahead(&stream).await?;
            if is_sent {
                send_content(&stream, content).await?;
            }
        }
        let received = stream.head().await?;
        if is_sent {
            stream.sent_all();
        }
        Ok(Response::new(stream, received))
    }

    /// Opens a stream with the head of the request.
    async fn start(
        &mut self,
        length: Option<usize>,
        end: bool,
        ends_at: Option<Instant>,
    ) -> Result<Stream, Error> {
        let settings = self.client.settings();
        let client = self.client;
        if let Some(mistake) = self.mistake.take() {
            return Err(*mistake);
        }
        let request = &mut self.request;
        request.state_length(client, length)?;
        let origin = request.origin()?.clone();
        let conn = within(ends_at, pin!(origin.conn())).await?;
        let opening = conn.open(|machine, out| match request {
            Request::Plain(plain) => plain.send(machine, end, out),
            Request::Prepared(prepared, given) => prepared.send(given, machine, end, out),
            Request::None => Err(h1::SendError::Closed.into()),
        });
        let stream = match within(ends_at, pin!(opening)).await {
            Ok(stream) => stream,
            Err(error) => {
                if may_retry(&error) || !conn.is_open() {
                    origin.forget(&conn);
                } else {
                    conn.give_back();
                }
                return Err(error);
            }
        };
        if let Some(ends_at) = ends_at {
            stream.set_deadline(ends_at.saturating_duration_since(Instant::now()), false);
        } else if let Some(after) = settings.head_deadline {
            stream.set_deadline(after, true);
        }
        Ok(stream)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Request::Plain(plain) = &mut self.request
            && let Some(head) = plain.head.take()
        {
            self.client.give_head(head);
        }
    }
}

impl Request<'_> {
    fn origin(&self) -> Result<&Arc<Origin>, Error> {
        match self {
            Self::Plain(plain) => Ok(&plain.origin),
            Self::Prepared(prepared, ..) => Ok(&prepared.origin),
            Self::None => Err(Error::usage("there is no request")),
        }
    }

    /// Whether sending it twice is as good as sending it once (RFC 9110 §9.2.2).
    fn is_idempotent(&self) -> bool {
        match self {
            Self::Plain(plain) => Method::parse(plain.method).is_ok_and(Method::is_idempotent),
            Self::Prepared(prepared, _) => prepared.is_idempotent(),
            Self::None => false,
        }
    }

    /// Whether the content is to wait until the server asks for it (RFC 9110 §10.1.1).
    fn expects_continue(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.head.as_ref().is_some_and(|head| head.fields.expects_continue()),
            Self::Prepared(prepared, _) => prepared.expects_continue(),
            Self::None => false,
        }
    }

    /// Says how long the content is (RFC 9110 §8.6), unless the caller did.
    fn state_length(&mut self, client: &Client, length: Option<usize>) -> Result<(), Error> {
        let Some(length) = length else { return Ok(()) };
        match self {
            Self::Plain(plain) => {
                let head = plain.head.get_or_insert_with(|| client.lend_head());
                if !head.fields.contains(KnownName::CONTENT_LENGTH) {
                    head.fields.append(KnownName::CONTENT_LENGTH, Decimal::of(length as u64).as_bytes())?;
                }
                Ok(())
            }
            Self::Prepared(_, given) => {
                given.length(length as u64);
                Ok(())
            }
            Self::None => Ok(()),
        }
    }
}

impl Plain<'_> {
    fn send(&self, machine: &mut Machine, end: bool, out: &mut OutBuf) -> Result<StreamKey, Refusal> {
        let none = FieldSection::new();
        let head = RequestHead {
            method: self.method,
            scheme: self.origin.scheme,
            authority: &self.origin.authority,
            path: self.path.as_str(),
            protocol: self.protocol,
            fields: self.head.as_ref().map_or(&none, |head| &head.fields),
        };
        machine.send_request(&head, end, out)
    }
}

/// Waits until the server asks for the content, or has waited long enough; false when it has answered without.
async fn goes_ahead(stream: &Stream) -> Result<bool, Error> {
    tokio::time::timeout(CONTINUE_WAIT, stream.go_ahead()).await.unwrap_or(Ok(true))
}

/// Sends the whole content. A response that comes before its end is no failure: the rest is not needed then.
async fn send_content(stream: &Stream, content: &[u8]) -> Result<(), Error> {
    match stream.write(content, true, &mut 0).await {
        Err(error) if matches!(error.cause(), Cause::Reset(code) if *code == alula_net::h2::ErrorCode::NO_ERROR) => {
            Ok(())
        }
        result => result,
    }
}

async fn within<T>(
    ends_at: Option<Instant>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let Some(ends_at) = ends_at else { return work.await };
    match tokio::time::timeout_at(ends_at, work).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(Phase::Connect, Cause::Deadline, Retry::Safe)),
    }
}

fn may_retry(error: &Error) -> bool {
    error.retry() == Retry::Safe && !matches!(error.phase(), Phase::Connect | Phase::Handshake | Phase::Build)
}

/// A response that has not come yet, to a request whose content may still be on its way.
pub struct PendingResponse {
    stream: Stream,
}

impl PendingResponse {
    /// Tells the server that the response is wanted sooner or later than was said; see [`Response::reprioritise`].
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: alula_net::h2::Priority) -> Result<(), Error> {
        self.stream.reprioritise(priority)
    }

    /// Waits for the head of the response. Dropping the future cancels the request.
    ///
    /// # Errors
    /// How the stream ended.
    pub async fn response(self) -> Result<Response, Error> {
        let received = self.stream.head().await?;
        Ok(Response::new(self.stream, received))
    }
}

#[cfg(test)]
mod tests {
    use alula_net::Body;

    #[test]
    fn what_a_task_may_hold_is_send() {
        const fn is_send<T: Send>() {}
        is_send::<Body>();
        is_send::<super::PendingResponse>();
        is_send::<super::Response>();
    }
}
