//! The target of a connection's requests: a handler, or the routes of a router.

use std::{any::Any, marker::PhantomData, sync::Arc};

use crate::{
    answer::{Answer, ended::EndedRequest},
    connection::{
        handler::Handler,
        work::{Boxes, Cell, Running},
    },
    exchange::Exchange,
    observe::failure::RequestFacts,
};

/// The number that stands for no route.
pub(crate) const NO_ENTRY: u32 = u32::MAX;

/// The facts of a request that are recorded before its handler is called.
pub(crate) struct Notes<'a> {
    /// The number of its route.
    pub(crate) entry: &'a mut u32,
    /// The facts for hooks, if there are any hooks.
    pub(crate) facts: Option<&'a mut RequestFacts>,
}

/// Begins to answer requests.
pub(crate) trait Endpoint: Send + Sync {
    /// Begins to answer a request: creates its future without polling it. The box that `within` holds from
    /// the request before is used again if it fits. The number of its route is noted as soon as that is
    /// known, so that it stands there after a panic as well. Returns the answer where no handler was called.
    fn begin(&self, exchange: Exchange, within: &mut Option<Running>, notes: Notes<'_>) -> Option<Answer>;

    /// Lends a box for the future of a request, if one handler answers all requests.
    fn lend(&self) -> Option<Running>;

    /// Returns true if one handler answers all requests, so that every box fits.
    fn is_single(&self) -> bool {
        false
    }

    /// Returns true if hooks see the ends of requests.
    fn sees_ends(&self) -> bool {
        false
    }

    /// Returns the pattern of a route, if it has one.
    fn pattern(&self, entry: u32) -> Option<&str> {
        let _ = entry;
        None
    }

    /// Called when a request has ended.
    fn ended(&self, request: &EndedRequest<'_>) {
        let _ = request;
    }

    /// Returns the program of a connection, called once, if its exchanges share something.
    fn app(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
}

/// Converts into the endpoint of a server: a [`Handler`], or [`Routes`](crate::Routes).
#[diagnostic::on_unimplemented(
    message = "a server cannot serve `{Self}`",
    note = "build a `Router` first: `serve(router.build()?)`",
    note = "a handler is an `Fn(Exchange) -> impl Future<Output = Result<Sent, E>>`, where `E` is `IntoAnswer`"
)]
pub trait IntoService: Sized {
    #[doc(hidden)]
    fn into_service(self) -> Service;
}

/// A service: a handler, or a router.
#[doc(hidden)]
pub struct Service(pub(crate) Arc<dyn Endpoint>);

impl<H: Handler> IntoService for H {
    fn into_service(self) -> Service {
        Service(Arc::new(Boxing::<H, ()>::new(self)))
    }
}

/// A handler with the boxes for its futures.
pub(crate) struct Boxing<H, S> {
    handler: Arc<H>,
    boxes: Arc<Boxes>,
    state: PhantomData<fn() -> S>,
}

impl<H: Handler<S>, S: 'static> Boxing<H, S> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler: Arc::new(handler), boxes: Boxes::new(), state: PhantomData }
    }
}

impl<H: Handler<S>, S: 'static> Endpoint for Boxing<H, S> {
    #[inline]
    fn begin(&self, exchange: Exchange, within: &mut Option<Running>, _: Notes<'_>) -> Option<Answer> {
        if !within.as_ref().is_some_and(|running| running.is_of(&self.boxes)) {
            *within = self.lend();
        }
        if let Some(running) = within {
            running.start(exchange);
        }
        None
    }

    fn is_single(&self) -> bool {
        true
    }

    fn lend(&self) -> Option<Running> {
        Some(self.boxes.take(|| Box::pin(Cell::<H, S>::new(self.handler.clone()))))
    }
}
