//! Reports on calls and connections, to the crates `tracing` and `metrics` by the features of those names.
//!
//! Without these features a [`RequestObserver`] is empty and does nothing, and a call is the same code as if
//! it were not there. With them, and nobody listening, nothing is allocated. Names are those of
//! OpenTelemetry's conventions for HTTP where it has one.
//!
//! A call is told of until the head of its response has come; content is not.

use alula_net::Error;

use crate::{request::call::Call, response::Response};

pub(crate) mod connections;
#[cfg(feature = "metrics")]
mod counted;
pub(crate) mod event;
#[cfg(feature = "tracing")]
mod logged;
#[cfg(feature = "tracing")]
mod spanned;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod words;

/// A call, from its beginning to the head of its response. Dropping it before [`end`](Self::end) tells that
/// it was given up.
pub(crate) struct RequestObserver {
    #[cfg(feature = "metrics")]
    counted: counted::Request,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl RequestObserver {
    /// A call begins.
    #[inline]
    pub(crate) fn begin(_call: &Call<'_>) -> Self {
        Self {
            #[cfg(feature = "metrics")]
            counted: counted::Request::begin(),
            #[cfg(feature = "tracing")]
            span: spanned::span(_call),
        }
    }

    /// Runs work within the span of the call.
    #[cfg(feature = "tracing")]
    pub(crate) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(work, self.span.clone())
    }

    /// Runs work within the span of the call.
    #[cfg(not(feature = "tracing"))]
    #[inline]
    pub(crate) fn within<F: Future>(&self, work: F) -> F {
        work
    }

    /// The head of the response has come, or will not.
    #[inline]
    pub(crate) fn end(&mut self, _outcome: Result<&Response, &Error>) {
        #[cfg(feature = "metrics")]
        self.counted.end(_outcome);
        #[cfg(feature = "tracing")]
        spanned::end(&self.span, _outcome);
    }
}

impl<'a> Call<'a> {
    /// Sends the call and tells of it.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(crate) async fn tell(&mut self, content: Option<&[u8]>) -> Result<Response, Error> {
        let mut observer = RequestObserver::begin(self);
        let outcome = observer.within(self.send_all(content)).await;
        observer.end(outcome.as_ref());
        outcome
    }

    /// Sends the call: there is nobody to tell.
    #[cfg(not(any(feature = "metrics", feature = "tracing")))]
    #[inline]
    pub(crate) fn tell<'c>(
        &'c mut self,
        content: Option<&'c [u8]>,
    ) -> impl Future<Output = Result<Response, Error>> + use<'c, 'a> {
        self.send_all(content)
    }
}
