//! The stream of a response to a request whose head may not have been sent yet, and the ends by which its
//! handles and the task that sends the head ask and tell each other.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use alula_net::{Error, HeldHead, Stream, h2::Priority};
use tokio::sync::{OnceCell, oneshot};

/// The end of a handle: it asks once, and is told once.
pub(super) struct HandleEnd<A, T> {
    ask: Option<oneshot::Sender<A>>,
    told: Option<oneshot::Receiver<Result<T, Error>>>,
}

/// The end of the task.
pub(super) struct TaskEnd<A, T> {
    pub(super) asked: oneshot::Receiver<A>,
    pub(super) told: oneshot::Sender<Result<T, Error>>,
}

/// Makes the two ends.
pub(super) fn ends<A, T>() -> (TaskEnd<A, T>, HandleEnd<A, T>) {
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
    pub(super) fn new(end: HandleEnd<(), Stream>) -> Self {
        Self { opened: OnceCell::new(), end: tokio::sync::Mutex::new(end), priority: Mutex::default() }
    }

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
