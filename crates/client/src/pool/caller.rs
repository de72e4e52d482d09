//! A call that asks its runtime's pool for a connection, and waits for it.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use alula_net::{Conn, Error, Phase};

use super::{machine::Answer, queue::Ticket};
use crate::{
    observe::observer::Watcher,
    pool::queue_deadlines::QueueDeadlines,
    pool::{
        opening::Opening,
        pools::{RuntimePool, left},
    },
};

pub(crate) struct Caller<'c> {
    of_runtime: RuntimePool,
    /// The place in the queue; `None` until the call has to wait for others.
    ticket: Option<Ticket>,
    /// The connection that is being opened for this call.
    own: Option<Arc<Opening>>,
    /// The observer of the call.
    watcher: Option<&'c Watcher>,
}

impl<'c> Caller<'c> {
    pub(crate) fn of(of_runtime: RuntimePool, watcher: Option<&'c Watcher>) -> Self {
        Self { of_runtime, ticket: None, own: None, watcher }
    }

    /// Returns true if the call runs on the runtime of its pool.
    pub(crate) fn is_here(&self) -> bool {
        self.of_runtime.is_here()
    }

    /// Returns a connection that takes a request now, or as soon as the peer allows one more.
    ///
    /// # Errors
    /// There is none in time, or the one that was opened for this call could not be. The runtime has ended.
    pub(crate) async fn conn(&mut self, deadlines: &mut QueueDeadlines) -> Result<Arc<Conn>, Error> {
        loop {
            self.of_runtime.check()?;
            match self.of_runtime.pool.ask(&mut self.ticket, self.own.is_some(), self.watcher) {
                Answer::Take(conn) => {
                    self.own = None;
                    return Ok(conn);
                }
                Answer::First(opening) => {
                    deadlines.while_opening(&opening, opening.outcome()).await?;
                }
                Answer::Own(opening) => self.own = Some(opening),
                Answer::Wait(opening) => {
                    if let Some(conn) = self.wait(opening, deadlines).await? {
                        return Ok(conn);
                    }
                }
                Answer::Closed => return Err(left()),
            }
        }
    }

    /// Waits for a change after which the pool may have a connection. Returns the connection that was opened
    /// for this call if it has closed.
    async fn wait(
        &mut self,
        opening: Option<Arc<Opening>>,
        deadlines: &mut QueueDeadlines,
    ) -> Result<Option<Arc<Conn>>, Error> {
        let Some(own) = self.own.take() else {
            // That one more could not be opened is no failure of those that wait for the others.
            let change = async { Ok(self.change(opening.as_deref()).await.ok()) };
            return deadlines.in_queue(change).await.map(|_| None);
        };
        // Another call may have taken the one that was opened. That it could not be opened is what this call
        // is told, even if it heard of room for another one first.
        if let Some(outcome) = own.known() {
            // One that has closed by now is counted as gone; a peer that closes each at once would have
            // others opened forever.
            return outcome.map(|conn| Some(conn).filter(|conn| !conn.is_open()));
        }
        deadlines.while_opening(&own, self.change(Some(&own))).await?;
        self.own = Some(own);
        Ok(None)
    }

    /// Waits until a connection may be free, there may be room for one, or the present opening has ended.
    async fn change(&self, opening: Option<&Opening>) -> Result<(), Error> {
        let mut outcome = pin!(async {
            match opening {
                Some(opening) => opening.outcome().await.map(drop),
                None => std::future::pending().await,
            }
        });
        poll_fn(|cx| {
            let is_called =
                !self.ticket.as_ref().is_some_and(|ticket| self.of_runtime.pool.watch(ticket, cx.waker()));
            if is_called { Poll::Ready(Ok(())) } else { outcome.as_mut().poll(cx) }
        })
        .await
    }

    /// Forgets a connection that takes no more requests.
    pub(crate) fn forget(&self, gone: &Arc<Conn>) {
        self.of_runtime.pool.forget(gone);
    }

    /// Adds to an error what holds the connections.
    #[cold]
    pub(crate) fn explained(&self, error: Error) -> Error {
        if error.phase() == Phase::Queue {
            error.with_occupied(self.of_runtime.pool.occupied())
        } else {
            error
        }
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.of_runtime.pool.left(ticket);
        }
    }
}
