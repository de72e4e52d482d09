//! The trait of observers, which are told of the steps of calls.

use std::sync::Arc;

use crate::observe::event::ExchangeEvent;

/// Is told of each step of calls: of one ([`Call::observe`](crate::Call::observe)), or of all of a client
/// ([`ClientBuilder::observe`](crate::ClientBuilder::observe)).
///
/// Functions of the event are observers. Where a client and its call both have one, the client's is told of
/// each step first, then the call's; observers that a call is given one after the other are told in that
/// order. They run where the step is done, which waits for them. A call that is observed allocates; one that
/// is not costs nothing.
///
/// The opening of a connection is told to the call that began it, which may be served by another in the end.
/// Others that wait for the same connection are told that they have it.
///
/// Heads hold credentials: [`Debug`](std::fmt::Debug) shows the names of their fields only.
///
/// ```no_run
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// use alula::{ExchangeEvent, Observer};
///
/// /// Counts the requests that calls have taken.
/// #[derive(Default)]
/// struct Requests(AtomicU32);
///
/// impl Observer for Requests {
///     fn event(&self, event: &ExchangeEvent<'_>) {
///         if let ExchangeEvent::Request(_) = event {
///             self.0.fetch_add(1, Relaxed);
///         }
///     }
/// }
///
/// # async fn main_() -> Result<(), alula::Error> {
/// let client = alula::Client::builder().observe(Requests::default()).build()?;
/// let slow = |event: &ExchangeEvent<'_>| println!("{event:?}");
/// let response = client.get("https://example.com/slow").observe(slow).send().await?;
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync {
    /// Takes note of a step.
    fn event(&self, event: &ExchangeEvent<'_>);
}

impl<F: Fn(&ExchangeEvent<'_>) + Send + Sync> Observer for F {
    fn event(&self, event: &ExchangeEvent<'_>) {
        self(event);
    }
}

/// The observer of a call.
pub(crate) type Watcher = Arc<dyn Observer>;

/// Returns an observer that is told after the first one, if there is one.
pub(crate) fn after(first: Option<&Watcher>, then: impl Observer + 'static) -> Watcher {
    match first {
        Some(first) => Arc::new(Both(first.clone(), then)),
        None => Arc::new(then),
    }
}

/// Two observers, in the order in which they are told.
struct Both<O>(Watcher, O);

impl<O: Observer> Observer for Both<O> {
    fn event(&self, event: &ExchangeEvent<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}
