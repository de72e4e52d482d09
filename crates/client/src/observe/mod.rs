//! Reports on calls, to the observers that a client or a call is given, and to the crates `tracing` and
//! `metrics` by the features of those names, which are observers of every call.
//!
//! Rule 1: a call that nobody observes pays a branch where its head is sent, one where the head of the
//! response is taken, and one where it ends. One that is observed goes the longer way of those that have to
//! wait for a connection, and allocates.
//! Rule 2: without these features a [`BuiltIn`] is empty and does nothing, and a call is the same code as if
//! it were not there. With them, and nobody listening, nothing is allocated. Names are those of
//! OpenTelemetry's conventions for HTTP where it has one.
//! Rule 3: a call is told of until the head of its response has come; content is not.

pub(crate) mod connections;
#[cfg(feature = "metrics")]
mod counted;
pub(crate) mod event;
#[cfg(feature = "tracing")]
mod logged;
pub(crate) mod observer;
#[cfg(feature = "tracing")]
mod spanned;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod words;

use alula_net::Error;

use self::{
    event::ExchangeEvent,
    observer::{Observer, Watcher},
};
use crate::{request::call::Call, response::Response};

/// The observers of one call that the features bring. Dropping it before the call has ended tells that the
/// call was given up.
pub(crate) struct BuiltIn {
    #[cfg(feature = "metrics")]
    counted: counted::Request,
    #[cfg(feature = "tracing")]
    span: spanned::Request,
}

impl BuiltIn {
    /// A call begins.
    #[inline]
    pub(crate) fn begin(_call: &Call<'_>) -> Self {
        Self {
            #[cfg(feature = "metrics")]
            counted: counted::Request::begin(),
            #[cfg(feature = "tracing")]
            span: spanned::Request::begin(_call),
        }
    }

    /// Runs work within the span of the call.
    #[cfg(feature = "tracing")]
    pub(crate) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.span.within(work)
    }

    /// Runs work within the span of the call.
    #[cfg(not(feature = "tracing"))]
    #[inline]
    pub(crate) fn within<F: Future>(&self, work: F) -> F {
        work
    }

    /// Tells these observers and that of the call of its end.
    #[inline]
    pub(crate) fn tell_end(&self, watcher: Option<&Watcher>, outcome: Result<&Response, &Error>) {
        let end = ExchangeEvent::end(outcome);
        self.event(&end);
        watcher.into_iter().for_each(|watcher| watcher.event(&end));
    }
}

impl Observer for BuiltIn {
    #[inline]
    fn event(&self, _event: &ExchangeEvent<'_>) {
        #[cfg(feature = "metrics")]
        self.counted.event(_event);
        #[cfg(feature = "tracing")]
        self.span.event(_event);
    }
}
