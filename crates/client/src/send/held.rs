//! Heads that are held back until it is known whether content follows: those of opened requests whose method
//! mostly has none.
//!
//! A task sends the head, so that it leaves in time though nobody polls either handle. It has a connection
//! from the beginning, and ends when one of the handles is dropped.
//!
//! Rule: whoever is first decides, the writer before the response when both have come by the time the task
//! looks.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use alula_net::{BodyWriter, Conn, Error, Stream};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use crate::{
    client::Client,
    observe::observer::Watcher,
    pool::queue_deadlines::QueueDeadlines,
    request::{
        Request,
        call::{Call, CallTimes},
    },
    send::{
        held_stream::{HeldStream, TaskEnd, ends},
        prepare, set_up, start_on, start_watched,
        time_limit::TimeLimit,
    },
};

/// The time that a head is held back at the most. A program that asks for content before it writes any is not
/// kept waiting for long.
const HOLD: Duration = Duration::from_millis(200);

/// Finds a connection for the request, and holds its head back.
pub(super) async fn hold(call: &mut Call<'_>, times: CallTimes) -> Result<(BodyWriter, HeldStream), Error> {
    let began = Instant::now();
    prepare(call, None)?;
    let (bare, settings) = (call.bare_fields(), call.client.settings());
    let origin = call.request.origin()?.clone();
    call.request.check(bare, origin.speaks(), false, &settings.protocol.config.limits)?;
    let deadlines = QueueDeadlines::new(times.ends_at, settings.deadlines.queue);
    let conn = Reserved { conn: origin.connection(deadlines, call.watcher()).await?, is_used: false };
    let held = held(call, conn, began, times)?;
    Ok(held.begin())
}

/// Takes what the task needs of the call, whose request stays as it is.
fn held(call: &mut Call<'_>, conn: Reserved, began: Instant, times: CallTimes) -> Result<HeldRequest, Error> {
    let plain = call.request.make_plain(&call.client)?;
    Ok(HeldRequest {
        client: call.client.clone(),
        request: Request::Plain(plain.to_owned(&call.client)),
        conn,
        began,
        times,
        limits: [call.deadline, call.head_timeout, call.read_timeout],
        watcher: call.watcher().cloned(),
        hears_interim: call.parts.hears_interim(),
    })
}

/// A request whose head is held back, with all that is needed to send it.
struct HeldRequest {
    client: Client,
    request: Request<'static>,
    conn: Reserved,
    /// The time at which it was opened.
    began: Instant,
    times: CallTimes,
    /// The limits on the time of the call, of the response head, and of content.
    limits: [TimeLimit; 3],
    watcher: Option<Watcher>,
    hears_interim: bool,
}

impl HeldRequest {
    /// Spawns its task, and returns the handles.
    fn begin(self) -> (BodyWriter, HeldStream) {
        let (to_writer, writer) = ends();
        let (to_response, response) = ends();
        let conn = self.conn.conn.clone();
        tokio::spawn(self.run(to_writer, to_response));
        (conn.writer_of_held(Box::new(writer)), HeldStream::new(response))
    }

    async fn run(self, mut writer: TaskEnd<bool, Option<Stream>>, mut response: TaskEnd<(), Stream>) {
        let left = self.request.named(Error::cancelled());
        let opened = match decided(&mut writer.asked, &mut response.asked).await {
            None => Err(left),
            Some(ends) => {
                let mut opening = pin!(self.open(ends));
                let opened = poll_fn(|cx| {
                    let is_left =
                        writer.told.poll_closed(cx).is_ready() || response.told.poll_closed(cx).is_ready();
                    if is_left { Poll::Ready(Err(left.clone())) } else { opening.as_mut().poll(cx) }
                });
                opened.await.map(|stream| (stream, ends))
            }
        };
        // A handle that was dropped meanwhile drops its stream, which tells the peer.
        let (_, _) = match opened {
            Ok((stream, true)) => (writer.told.send(Ok(None)), response.told.send(Ok(stream))),
            Ok((stream, false)) => {
                let (receive, send) = stream.split();
                (writer.told.send(Ok(Some(send))), response.told.send(Ok(receive)))
            }
            Err(error) => (writer.told.send(Err(error.clone())), response.told.send(Err(error))),
        };
    }

    /// Sends the head.
    async fn open(self, ends: bool) -> Result<Stream, Error> {
        let Self { client, request, mut conn, began, times, limits, watcher, hears_interim } = self;
        let mut call = Call::new(client, request);
        [call.deadline, call.head_timeout, call.read_timeout] = limits;
        watcher.into_iter().for_each(|watcher| call.parts.watch(watcher));
        let conn = Some(conn.take());
        let opened = match call.watcher() {
            Some(watcher) => start_watched(&call, watcher, conn, ends, (began, times.ends_at)).await,
            None => start_on(&call, conn, ends, times.ends_at).await,
        };
        let stream = opened.map_err(|error| call.named(error))?;
        if hears_interim {
            stream.keep_interim();
        }
        set_up(&call, &stream, ends, times);
        Ok(stream)
    }
}

/// Waits until the head is to be sent, and says whether the request ends with it; none if a handle was
/// dropped.
async fn decided(writer: &mut oneshot::Receiver<bool>, response: &mut oneshot::Receiver<()>) -> Option<bool> {
    let mut late = pin!(sleep(HOLD));
    poll_fn(|cx| {
        if let Poll::Ready(ends) = Pin::new(&mut *writer).poll(cx) {
            return Poll::Ready(ends.ok());
        }
        if let Poll::Ready(asked) = Pin::new(&mut *response).poll(cx) {
            // The response was asked for before any content: more may come, so the head does not end the
            // request.
            return Poll::Ready(asked.ok().map(|()| false));
        }
        late.as_mut().poll(cx).map(|()| Some(false))
    })
    .await
}

/// A connection that is kept for a request, and given back if that is never sent.
struct Reserved {
    conn: Arc<Conn>,
    is_used: bool,
}

impl Reserved {
    fn take(&mut self) -> Arc<Conn> {
        self.is_used = true;
        self.conn.clone()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_used {
            self.conn.give_back();
        }
    }
}
