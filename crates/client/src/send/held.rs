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
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use alula_net::{BodyWriter, Conn, Error, HeldHead, Stream, h2::Priority};
use tokio::{
    sync::{OnceCell, oneshot},
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
    send::{pending::AwaitedStream, time_limit::TimeLimit},
};

/// The time that a head is held back at the most. A program that asks for content before it writes any is not
/// kept waiting for long.
const HOLD: Duration = Duration::from_millis(200);

impl Call<'_> {
    /// Finds a connection for the request, and holds its head back.
    pub(super) async fn hold(&mut self, times: CallTimes) -> Result<(BodyWriter, AwaitedStream), Error> {
        let began = Instant::now();
        self.prepare(None)?;
        let (bare, settings) = (self.bare_fields(), self.client.settings());
        let origin = self.request.origin()?.clone();
        self.request.check(bare, origin.speaks(), false, &settings.protocol.config.limits)?;
        let deadlines = QueueDeadlines::new(times.ends_at, settings.deadlines.queue);
        let conn = Reserved { conn: origin.connection(deadlines, self.watcher()).await?, is_used: false };
        let held = self.held(conn, began, times)?;
        Ok(held.begin())
    }

    /// Takes what the task needs of the call, whose request stays as it is.
    fn held(&mut self, conn: Reserved, began: Instant, times: CallTimes) -> Result<HeldRequest, Error> {
        let plain = self.request.make_plain(&self.client)?;
        Ok(HeldRequest {
            client: self.client.clone(),
            request: Request::Plain(plain.to_owned(&self.client)),
            conn,
            began,
            times,
            limits: [self.deadline, self.head_timeout, self.read_timeout],
            watcher: self.watcher().cloned(),
            hears_interim: self.parts.hears_interim(),
        })
    }
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
    fn begin(self) -> (BodyWriter, AwaitedStream) {
        let (to_writer, writer) = ends();
        let (to_response, response) = ends();
        let conn = self.conn.conn.clone();
        tokio::spawn(self.run(to_writer, to_response));
        let stream = HeldStream {
            opened: OnceCell::new(),
            end: tokio::sync::Mutex::new(response),
            priority: Mutex::default(),
        };
        (conn.writer_of_held(Box::new(writer)), AwaitedStream::Held(Box::new(stream)))
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
            Some(watcher) => call.start_watched(watcher, conn, ends, (began, times.ends_at)).await,
            None => call.start_on(conn, ends, times.ends_at).await,
        };
        let stream = opened.map_err(|error| call.named(error))?;
        if hears_interim {
            stream.keep_interim();
        }
        call.set_up(&stream, ends, times);
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

/// The end of a handle: it asks once, and is told once.
struct HandleEnd<A, T> {
    ask: Option<oneshot::Sender<A>>,
    told: Option<oneshot::Receiver<Result<T, Error>>>,
}

/// The end of the task.
struct TaskEnd<A, T> {
    asked: oneshot::Receiver<A>,
    told: oneshot::Sender<Result<T, Error>>,
}

fn ends<A, T>() -> (TaskEnd<A, T>, HandleEnd<A, T>) {
    let (ask, asked) = oneshot::channel();
    let (tell, told) = oneshot::channel();
    (TaskEnd { asked, told: tell }, HandleEnd { ask: Some(ask), told: Some(told) })
}

impl<A, T> HandleEnd<A, T> {
    fn poll(&mut self, question: A, cx: &mut Context<'_>) -> Poll<Result<T, Error>> {
        if let Some(ask) = self.ask.take() {
            // A task that has ended has told why, or is gone with its runtime.
            let _ = ask.send(question);
        }
        let Some(told) = &mut self.told else { return Poll::Ready(Err(Error::cancelled())) };
        let outcome = ready!(Pin::new(told).poll(cx));
        self.told = None;
        Poll::Ready(outcome.unwrap_or_else(|_| Err(Error::cancelled())))
    }
}

impl HeldHead for HandleEnd<bool, Option<Stream>> {
    fn poll_send(&mut self, ends: bool, cx: &mut Context<'_>) -> Poll<Result<Option<Stream>, Error>> {
        self.poll(ends, cx)
    }
}

/// The stream of a response to a request whose head may not have been sent yet.
pub(crate) struct HeldStream {
    opened: OnceCell<Stream>,
    end: tokio::sync::Mutex<HandleEnd<(), Stream>>,
    /// The priority that is to be told once there is a stream.
    priority: Mutex<Option<Priority>>,
}

impl HeldStream {
    /// Has the head sent and returns the stream. Safe to drop and call again.
    pub(crate) async fn get(&self) -> Result<&Stream, Error> {
        let open = async || {
            let mut end = self.end.lock().await;
            let stream = poll_fn(|cx| end.poll((), cx)).await?;
            let priority = self.priority.lock().unwrap_or_else(PoisonError::into_inner).take();
            priority.map_or(Ok(()), |priority| stream.reprioritise(priority))?;
            Ok(stream)
        };
        self.opened.get_or_try_init(open).await
    }

    pub(crate) async fn into_stream(self) -> Result<Stream, Error> {
        self.get().await?;
        self.opened.into_inner().ok_or_else(Error::cancelled)
    }

    /// Tells the priority, or keeps it until there is a stream.
    pub(crate) fn reprioritise(&self, priority: Priority) -> Result<(), Error> {
        match self.opened.get() {
            Some(stream) => stream.reprioritise(priority),
            None => {
                *self.priority.lock().unwrap_or_else(PoisonError::into_inner) = Some(priority);
                Ok(())
            }
        }
    }
}
