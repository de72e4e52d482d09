//! The trait of handlers, which answer requests.

use std::sync::Arc;

use alula_net::Sent;

use crate::{
    answer::{Answer, IntoAnswer},
    connection::spawned::in_own_task,
    exchange::Exchange,
};

/// Answers requests. Any `Fn(Exchange) -> impl Future<Output = Result<Sent, E>>` is one, where `E` is
/// [`IntoAnswer`].
///
/// The future runs in the task of its connection, in a box that is used again for later requests. Over HTTP/2
/// the handlers of one connection take turns there: one that computes or blocks for long holds up the others,
/// unless it is [`spawned`](Self::spawned). When it ends with an error and the exchange was not answered, the
/// error [becomes the answer](IntoAnswer); when it is dropped or panics, the peer gets 500. After an answer
/// was begun, its stream is reset. Errors of the server and panics are told to
/// [`on_error`](crate::ServerBuilder::on_error).
///
/// `S` is the state that the handler [asks for](Exchange::state).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler of `Exchange<{S}>`",
    note = "a handler is an `Fn(Exchange<{S}>) -> impl Future<Output = Result<Sent, E>>`, where `E` is `IntoAnswer`",
    note = "`Folder`, `Health` and `Metrics` hand their handlers out, as in `get(folder.handler())`"
)]
pub trait Handler<S = ()>: Send + Sync + 'static {
    /// The error type of the handler.
    type Error: IntoAnswer;

    /// The future of one request.
    type Future: Future<Output = Result<Sent, Self::Error>> + Send + 'static;

    /// Begins to answer a request. A panic here is answered like one of the future.
    fn call(&self, exchange: Exchange<S>) -> Self::Future;

    /// Runs the handler in a task for each request, like [`Route::spawned`](crate::Route::spawned).
    ///
    /// Without it the handlers of one connection of HTTP/2 run in its task, one after another: eight that
    /// block for 100 ms take 800. Spawn what computes for more than a millisecond, or blocks; what waits for
    /// other tasks, sockets or timers needs it not. Costs a task for each request, which tokio allocates, and
    /// its way to another thread. A stream that is reset ends the task.
    ///
    /// ```no_run
    /// use alula::{Answer, Exchange, Handler as _, Sent, Server, Status};
    ///
    /// async fn count_primes(exchange: Exchange) -> Result<Sent, Answer> {
    ///     let count = (2..20_000_u32).filter(|n| (2..*n).all(|by| n % by != 0)).count();
    ///     Ok(exchange.respond(Status::OK).text(count.to_string()).await?)
    /// }
    ///
    /// # async fn main_() -> std::io::Result<()> {
    /// Server::bind("127.0.0.1:8080").await?.serve(count_primes.spawned()).await
    /// # }
    /// ```
    fn spawned(self) -> impl Handler<S, Error = Answer>
    where
        Self: Sized,
        S: Send + 'static,
    {
        let handler = Arc::new(self);
        move |exchange: Exchange<S>| {
            let handler = handler.clone();
            in_own_task(async move { handler.call(exchange).await })
        }
    }
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
