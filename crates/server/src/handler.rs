//! What answers requests.

use alula_net::{Error, Sent};

use crate::Exchange;

/// Answers requests. Any `Fn(Exchange) -> impl Future<Output = Result<Sent, Error>>` is one.
///
/// The future runs in the task of its connection and its memory is used again for later requests. When it ends with
/// an error, is dropped or panics before the answer was begun, the peer gets 500; after that, the stream is reset. Errors and panics are
/// told to [`on_error`](crate::ServerBuilder::on_error); work of the handler's own fails with [`Error::other`].
pub trait Handler: Send + Sync + 'static {
    /// The work of one request.
    type Future: Future<Output = Result<Sent, Error>> + Send + 'static;

    /// Begins to answer a request. A panic here is answered like one of the future.
    fn call(&self, exchange: Exchange) -> Self::Future;
}

impl<F, Fut> Handler for F
where
    F: Fn(Exchange) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Sent, Error>> + Send + 'static,
{
    type Future = Fut;

    fn call(&self, exchange: Exchange) -> Fut {
        self(exchange)
    }
}
