//! What answers requests.

use alula_net::Sent;

use crate::{Exchange, IntoAnswer};

/// Answers requests. Any `Fn(Exchange) -> impl Future<Output = Result<Sent, E>>` is one, where `E` is [`IntoAnswer`].
///
/// The future runs in the task of its connection, in a box that is used again for later requests. When it ends with an error
/// and the exchange was not answered, the error [becomes the answer](IntoAnswer); when it is dropped or panics, the peer gets 500.
/// After an answer was begun, its stream is reset. Errors of the server and panics are told to
/// [`on_error`](crate::ServerBuilder::on_error).
///
/// `S` is the state that the handler [asks for](Exchange::state).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler of `Exchange<{S}>`",
    note = "a handler is an `Fn(Exchange<{S}>) -> impl Future<Output = Result<Sent, E>>`, where `E` is `IntoAnswer`",
    note = "`Folder`, `Health` and `Metrics` hand their handlers out, as in `get(folder.handler())`"
)]
pub trait Handler<S = ()>: Send + Sync + 'static {
    /// An error of a handler.
    type Error: IntoAnswer;

    /// The work of one request.
    type Future: Future<Output = Result<Sent, Self::Error>> + Send + 'static;

    /// Begins to answer a request. A panic here is answered like one of the future.
    fn call(&self, exchange: Exchange<S>) -> Self::Future;
}

impl<F, Fut, S, E> Handler<S> for F
where
    F: Fn(Exchange<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Sent, E>> + Send + 'static,
    E: IntoAnswer,
{
    type Error = E;
    type Future = Fut;

    #[inline]
    fn call(&self, exchange: Exchange<S>) -> Fut {
        self(exchange)
    }
}
