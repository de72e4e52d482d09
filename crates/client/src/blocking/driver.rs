//! The runtime of a blocking client and its driver: a tokio runtime for one thread is passed from caller to
//! caller.
//!
//! Rule 1: nobody waits here inside of a runtime: tokio would panic.
//! Rule 2: who comes after a time in which nobody drove looks at the connections before it sends.
//! Rule 3: what was given up is told to the peer before the caller goes on, since nobody may come for hours.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use alula_net::{Cause, Error, Phase, Retry};
use tokio::runtime::{Builder, Handle, Runtime};

use super::resolver::OnCallersThread;
use crate::{builder::ClientBuilder, client::Client};

/// The time without a driver after which connections count as neglected. If a peer closes a connection within
/// this time of the last call, the next call finds that out while it runs, as on any connection.
const REST: Duration = Duration::from_millis(1);

const INSIDE: &str = "a blocking client cannot wait inside of a tokio runtime, which would stand still: use the async client there";

/// A client and the runtime of its connections.
pub(super) struct Driver {
    /// The client, present until the driver is dropped, as is `runtime`.
    client: Option<Client>,
    runtime: Option<Runtime>,
    started: Instant,
    /// The number of threads that are waiting; one of them drives the runtime.
    callers: AtomicUsize,
    /// The time at which the last caller left, in nanoseconds from `started`.
    left_at: AtomicU64,
}

impl Driver {
    pub(super) fn new(mut builder: ClientBuilder) -> Result<Arc<Self>, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            let cause = Cause::Io(error.kind(), error.raw_os_error());
            Error::new(Phase::Build, cause, Retry::Safe).because(error).with_work("no runtime could be made")
        })?;
        builder.settings.connect.resolver.ask_unless_set(OnCallersThread);
        // Nobody would be there to read the rest of what was given up.
        builder.settings.protocol.config.limits.drain_bytes = 0;
        let entered = runtime.enter();
        let client = builder.build()?;
        drop(entered);
        let (callers, left_at) = (AtomicUsize::new(0), AtomicU64::new(0));
        let driver =
            Self { client: Some(client), runtime: Some(runtime), started: Instant::now(), callers, left_at };
        Ok(Arc::new(driver))
    }

    pub(super) fn client(&self) -> &Client {
        self.client.as_ref().expect("there until it is dropped")
    }

    /// Waits for `work`, and drives the runtime unless another caller does.
    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let runtime = self.runtime.as_ref().filter(|_| may_wait()).ok_or_else(|| Error::usage(INSIDE))?;
        let _caller = Caller::arrive(self);
        // The work stays where it is: tokio would box it for its size.
        runtime.block_on(pin!(work))
    }

    /// Waits for `work`, which sends a request. If nobody has driven for a while, it first notices what has
    /// become of the connections.
    pub(super) fn wait_for_call<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let has_rested = self.has_rested();
        self.wait(async move {
            if has_rested {
                self.client().look_in();
                let_tasks_run().await;
            }
            work.await
        })
    }

    /// Waits for `work`, which ends a message. One that may be cut, since its response is whole or became so
    /// while this waited, is told to the peer before the caller goes on.
    pub(super) fn wait_to_end<T>(
        &self,
        mut may_be_cut: bool,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.wait(async move {
            let mut work = pin!(work);
            let ended = poll_fn(|cx| {
                let polled = work.as_mut().poll(cx);
                may_be_cut |= polled.is_pending();
                polled
            })
            .await;
            if may_be_cut {
                all_tasks_ran().await;
            }
            ended
        })
    }

    /// Tells peers at once what was given up, if blocking is allowed here; otherwise the next call does.
    pub(super) fn settle(&self) {
        let _ = self.wait(async {
            all_tasks_ran().await;
            Ok(())
        });
    }

    fn has_rested(&self) -> bool {
        let left_at = Duration::from_nanos(self.left_at.load(Ordering::Relaxed));
        self.callers.load(Ordering::Relaxed) == 0 && self.started.elapsed().saturating_sub(left_at) > REST
    }
}

impl Drop for Driver {
    /// Closes the connections properly if blocking is allowed here; otherwise they just end.
    fn drop(&mut self) {
        // The client goes first: its connections say goodbye in tasks that the runtime still has to run.
        self.client = None;
        self.settle();
        if let Some(runtime) = self.runtime.take() {
            // Dropping it would wait, and panic where that is not allowed.
            runtime.shutdown_background();
        }
    }
}

/// A waiting thread, counted in `callers` until dropped.
struct Caller<'a>(&'a Driver);

impl<'a> Caller<'a> {
    fn arrive(driver: &'a Driver) -> Self {
        driver.callers.fetch_add(1, Ordering::Relaxed);
        Self(driver)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        let now = self.0.started.elapsed().as_nanos() as u64;
        self.0.left_at.store(now, Ordering::Relaxed);
        self.0.callers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns true if this thread belongs to no runtime. One whose thread-local values are gone must not wait
/// either.
fn may_wait() -> bool {
    Handle::try_current().is_err_and(|error| error.is_missing_context())
}

/// Waits until the connections' tasks have run, then those that the sockets wake, even if another caller
/// drives: it may leave before a woken task has its turn. Tasks run in their order, those that are made here
/// behind them. Allocates.
async fn all_tasks_ran() {
    for _ in 0..2 {
        // It fails with the runtime alone, which then has no tasks.
        let _ = tokio::spawn(async {}).await;
    }
}

/// Lets the connections' tasks run, then those that the sockets wake. Tokio's own way to yield would
/// allocate.
async fn let_tasks_run() {
    for _ in 0..2 {
        let mut has_yielded = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut has_yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
