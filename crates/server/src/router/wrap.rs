//! Layers around handlers.

use std::marker::PhantomData;

use alula_net::Sent;

use crate::{
    answer::{Answer, IntoAnswer},
    connection::handler::Handler,
    exchange::Exchange,
};

/// A layer around handlers, which sees a request before them, and their result after. Any `Fn(Exchange, Next)
/// -> impl Future<Output = Result<Sent, E>>` is one, where `E` is [`IntoAnswer`].
///
/// It may answer itself, wait, change the exchange, or turn an error into another. Each request has a future
/// of the layer, in a box that is used again: nothing is allocated once warm. What it sees of an answer that
/// was sent is that it was; who wants to see heads and content has hooks and filters.
///
/// ```
/// use alula::{Answer, Exchange, Next, Sent, Status};
///
/// async fn only_in_json(exchange: Exchange, next: Next) -> Result<Sent, Answer> {
///     if exchange.request().headers().text("content-type") != Some("application/json") {
///         return Err(Answer::new(Status::UNSUPPORTED_MEDIA_TYPE));
///     }
///     next.run(exchange).await
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no layer for handlers of `Exchange<{S}>`",
    note = "a layer is an `Fn(Exchange<{S}>, Next<{S}>) -> impl Future<Output = Result<Sent, E>>`, where `E` is `IntoAnswer`",
    note = "`BasicAuth`, `BearerAuth`, `ConcurrencyLimit`, `OriginGuard` and `RateLimit` are made into layers by `layer()`, as in `wrap(auth.layer())`",
    note = "hooks such as `AccessLog`, `Cors`, `Metrics`, `OriginGuard`, `RateLimit` and `RequestId` are added by `hook`, filters by `filter`"
)]
#[doc(alias("Layer", "Middleware", "from_fn"))]
pub trait Wrap<S = ()>: Send + Sync + 'static {
    /// The error type of the layer.
    type Error: IntoAnswer;

    /// The future of one request.
    type Future: Future<Output = Result<Sent, Self::Error>> + Send + 'static;

    /// Begins to handle a request.
    fn call(&self, exchange: Exchange<S>, next: Next<S>) -> Self::Future;
}

impl<F, Fut, S, E> Wrap<S> for F
where
    F: Fn(Exchange<S>, Next<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Sent, E>> + Send + 'static,
    E: IntoAnswer,
{
    type Error = E;
    type Future = Fut;

    #[inline]
    fn call(&self, exchange: Exchange<S>, next: Next<S>) -> Fut {
        self(exchange, next)
    }
}

/// The layers within this one, and the handler.
pub struct Next<S = ()>(PhantomData<fn() -> S>);

impl<S> Next<S> {
    /// Passes the request on. Dropping the future drops the handler, as a reset stream does.
    pub fn run(self, exchange: Exchange<S>) -> impl Future<Output = Result<Sent, Answer>> + Send + use<S> {
        exchange.hand_on()
    }
}

/// A layer as a handler, which a route begins with.
pub(super) struct Wrapped<W>(pub(super) W);

impl<W: Wrap<S>, S> Handler<S> for Wrapped<W> {
    type Error = W::Error;
    type Future = W::Future;

    #[inline]
    fn call(&self, exchange: Exchange<S>) -> W::Future {
        self.0.call(exchange, Next(PhantomData))
    }
}
