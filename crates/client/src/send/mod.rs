//! The sending of a call: connection, head and content, and again where that is safe.

pub(crate) mod expect_continue;
mod held;
mod held_stream;
pub(crate) mod interim;
pub(crate) mod pending;
pub(crate) mod time_limit;

use std::sync::Arc;

use alula_machine::{OutBuf, StreamKey};
use alula_net::{
    BodyWriter, Cause, Conn, Deadlines, Error, Machine, Phase, Received, Refusal, Stream, Written,
};
use tokio::time::Instant;

use crate::{
    follow::{go_on, is_settled},
    observe::{
        BuiltIn,
        event::{ConnectionFacts, ExchangeEvent, ReceivedHead, SentHead},
        observer::Watcher,
    },
    pool::queue_deadlines::QueueDeadlines,
    request::call::{Call, CallTimes},
    response::Response,
    send::{
        expect_continue::goes_ahead,
        held::hold,
        pending::{AwaitedStream, PendingResponse},
    },
};

/// Sends a call, of which the observers are told.
#[cfg(any(feature = "metrics", feature = "tracing"))]
pub(crate) async fn send(call: &mut Call<'_>, content: Option<&[u8]>) -> Result<Response, Error> {
    let built_in = BuiltIn::begin(call);
    let outcome = built_in.within(send_all(call, content)).await;
    built_in.tell_end(None, outcome.as_ref());
    outcome
}

/// Sends a call: there are no built-in observers.
#[cfg(not(any(feature = "metrics", feature = "tracing")))]
#[inline]
pub(crate) fn send<'c>(
    call: &'c mut Call<'_>,
    content: Option<&'c [u8]>,
) -> impl Future<Output = Result<Response, Error>> {
    send_all(call, content)
}

/// Sends the head of the request, and returns the writer of its content and the response to come.
pub(crate) async fn open(call: &mut Call<'_>) -> Result<(BodyWriter, PendingResponse), Error> {
    if call.parts.has_content() {
        return Err(Error::usage(
            "the call was given content and is opened: write the content to the writer instead",
        ));
    }
    let times = call.times();
    let built_in = BuiltIn::begin(call);
    let opened = match call.request.may_end_with_head() {
        true => {
            let held = built_in.within(Box::pin(hold(call, times))).await;
            held.map(|(writer, stream)| (writer, AwaitedStream::Held(Box::new(stream))))
        }
        false => built_in.within(start(call, None, false, times)).await.map(|stream| {
            let (receive, send) = stream.split();
            (send.into_writer(), AwaitedStream::Open(receive))
        }),
    };
    let (writer, stream) = opened.map_err(|error| {
        let error = call.named(error);
        built_in.tell_end(call.watcher(), Err(&error));
        error
    })?;
    let pending = PendingResponse {
        stream,
        decoding: call.decoding().cloned(),
        on_interim: call.parts.take_hook(),
        watcher: call.watcher().cloned(),
        built_in,
        #[cfg(feature = "cookies")]
        cookies: call.awaited_cookies(),
    };
    Ok((writer, pending))
}

pub(crate) async fn send_all(call: &mut Call<'_>, content: Option<&[u8]>) -> Result<Response, Error> {
    let times = call.times();
    let outcome = attempt(call, content, times).await;
    if outcome.as_ref().is_ok_and(|response| is_settled(call, response)) {
        return told(call, outcome);
    }
    let outcome = Box::pin(go_on(call, outcome, content, times)).await;
    told(call, outcome.map_err(|error| call.named(error)))
}

/// Tells the observer of the end of the call.
#[inline]
fn told(call: &Call<'_>, outcome: Result<Response, Error>) -> Result<Response, Error> {
    if let Some(watcher) = call.watcher() {
        watcher.event(&ExchangeEvent::end(outcome.as_ref()));
    }
    outcome
}

/// Returns true if the peer cannot have acted on the request; or is not likely to, since a connection
/// that had been used before ended without a word, and it would not matter (RFC 9112 §9.3.1).
pub(crate) fn may_try_again(call: &Call<'_>, error: &Error) -> bool {
    may_retry(error) || (error.is_unanswered() && call.request.is_idempotent())
}

pub(crate) async fn attempt(
    call: &mut Call<'_>,
    content: Option<&[u8]>,
    times: CallTimes,
) -> Result<Response, Error> {
    // Boxed, since readers and files are rare: their future would enlarge that of every call.
    if content.is_none() && call.parts.has_content() {
        return Box::pin(call.attempt_content(times)).await;
    }
    let empty = content.is_none_or(<[u8]>::is_empty);
    let mut stream = match try_start(call, content.map(<[u8]>::len), empty)? {
        Ok(stream) => stream,
        Err(conn) => start_on(call, conn, empty, times.ends_at).await?,
    };
    set_up(call, &stream, empty, times);
    let mut is_sent = false;
    if let Some(content) = content.filter(|_| !empty) {
        let is_wanted = !call.request.expects_continue() || goes_ahead(&stream).await?;
        let mut sent = 0;
        let written =
            if is_wanted { send_content(&stream, content, &mut sent).await? } else { Written::Declined };
        if written == Written::Answered {
            return Box::pin(answered_early(call, stream, &content[sent..])).await;
        }
        is_sent = written == Written::Whole;
    }
    if call.parts.hears_interim() {
        Box::pin(hear_interim(call, &stream)).await?;
    }
    let sent = if is_sent { content.map_or(0, <[u8]>::len) } else { 0 };
    let received = stream.head().await.map_err(|error| error.with_sent(sent as u64))?;
    if is_sent {
        stream.sent_all();
    }
    Ok(answered(call, stream, received))
}

/// Hands over a response that has begun before all of the content was sent. The rest is copied, since
/// the caller's bytes are not there for longer than this call.
async fn answered_early(call: &mut Call<'_>, stream: Stream, rest: &[u8]) -> Result<Response, Error> {
    if call.parts.hears_interim() {
        hear_interim(call, &stream).await?;
    }
    let received = stream.head().await?;
    let (receive, send) = stream.split();
    let (writer, rest) = (send.into_writer(), rest.to_vec());
    // It ends when all is sent, the response is whole, or nobody reads that.
    tokio::spawn(async move { writer.finish_content(rest).await.map(drop) });
    Ok(answered(call, receive, received))
}

/// Tells whoever wants to hear of the responses that come before the head of the one that counts, until
/// that is there.
pub(crate) async fn hear_interim(call: &mut Call<'_>, stream: &Stream) -> Result<(), Error> {
    let watcher = call.watcher().cloned();
    interim::hear(stream, call.parts.on_interim(), watcher.as_ref()).await
}

/// Makes the response that the caller is handed once its head has come.
pub(crate) fn answered(call: &Call<'_>, stream: Stream, received: Received) -> Response {
    if let Some(watcher) = call.watcher() {
        watcher.event(&ExchangeEvent::Response(&ReceivedHead::new(stream.version(), &received.head)));
    }
    #[cfg(feature = "cookies")]
    call.keep_cookies(&received.head.fields);
    call.decoded(Response::new(stream, received))
}

/// Opens a stream with the head of the request.
pub(crate) async fn start(
    call: &mut Call<'_>,
    length: Option<usize>,
    end: bool,
    times: CallTimes,
) -> Result<Stream, Error> {
    let stream = match try_start(call, length, end)? {
        Ok(stream) => stream,
        Err(conn) => start_on(call, conn, end, times.ends_at).await?,
    };
    set_up(call, &stream, end, times);
    Ok(stream)
}

/// Completes the request, whose content has this length if that is known.
#[inline]
fn prepare(call: &mut Call<'_>, length: Option<usize>) -> Result<(), Error> {
    if let Some(mistake) = call.parts.take_mistake() {
        return Err(mistake);
    }
    call.complete()?;
    call.accept_codings()?;
    call.request.state_length(&call.client, length)?;
    call.settle()
}

/// Completes the request and sends its head, if a connection takes it at once.
#[inline]
fn try_start(
    call: &mut Call<'_>,
    length: Option<usize>,
    end: bool,
) -> Result<Result<Stream, Option<Arc<Conn>>>, Error> {
    prepare(call, length)?;
    // A watched call goes by way of `start_watched`, which reports each step.
    if call.parts.is_watched {
        return Ok(Err(None));
    }
    let (request, bare) = (&call.request, call.bare_fields());
    Ok(request.origin()?.try_open(request.noted(), |machine, out| request.send(bare, machine, end, out)))
}

/// Sends the head of the request, which is complete, on this connection or another that has to be waited
/// for.
async fn start_on(
    call: &Call<'_>,
    conn: Option<Arc<Conn>>,
    end: bool,
    ends_at: Option<Instant>,
) -> Result<Stream, Error> {
    if let Some(watcher) = call.watcher() {
        return Box::pin(start_watched(call, watcher, conn, end, (Instant::now(), ends_at))).await;
    }
    let (request, bare) = (&call.request, call.bare_fields());
    open_with(call, conn, end, ends_at, |machine, out| request.send(bare, machine, end, out)).await
}

/// The same with the head sent as `send` does it.
pub(crate) async fn open_with<F>(
    call: &Call<'_>,
    conn: Option<Arc<Conn>>,
    end: bool,
    ends_at: Option<Instant>,
    send: F,
) -> Result<Stream, Error>
where
    F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
{
    let (request, bare) = (&call.request, call.bare_fields());
    let deadlines = QueueDeadlines::new(ends_at, call.client.settings().deadlines.queue);
    let origin = request.origin()?;
    if conn.is_none() {
        // A request that no connection would take must not open one.
        request.check(bare, origin.speaks(), end, &call.client.settings().protocol.config.limits)?;
    }
    origin.open(conn, deadlines, call.watcher(), request.noted(), send).await
}

/// Says how the stream is waited for and watched.
#[inline]
fn set_up(call: &Call<'_>, stream: &Stream, end: bool, times: CallTimes) {
    if call.parts.hears_interim() {
        stream.keep_interim();
    }
    let deadlines = Deadlines {
        ends_at: times.ends_at,
        total: call.deadline.get(),
        head: call.head_timeout.get(),
        idle: call.read_timeout.get(),
    };
    if deadlines.are_any() {
        stream.set_deadlines(deadlines);
    }
    if let Some(began) = times.began {
        stream.time_since(began, end);
    }
}

/// Sends the head of the request, which is complete, on this connection or another, and tells of it. A
/// connection that was opened since the call `began` is told of as a new one.
async fn start_watched(
    call: &Call<'_>,
    watcher: &Watcher,
    conn: Option<Arc<Conn>>,
    end: bool,
    (began, ends_at): (Instant, Option<Instant>),
) -> Result<Stream, Error> {
    let mut bytes = Vec::new();
    let opened = open_with(call, conn, end, ends_at, |machine, out| {
        let mark = out.end();
        machine.keep_sent_head();
        let sent = call.request.send(call.bare_fields(), machine, end, out);
        bytes = machine.take_sent_head(out.since(mark));
        sent
    });
    let stream = opened.await?;
    let opened = stream.opened().and_then(|opened| opened.secured.or(opened.connected));
    let is_reused = opened.is_none_or(|opened| opened <= began);
    let is_proxied = call.request.origin().is_ok_and(|origin| origin.is_proxied());
    watcher.event(&ExchangeEvent::Connected(&ConnectionFacts::new(&stream, is_reused, is_proxied)));
    watcher.event(&ExchangeEvent::Request(&SentHead::new(stream.version(), bytes)));
    Ok(stream)
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
