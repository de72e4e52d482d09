//! The methods of one path, and their common settings.

use std::{sync::Arc, time::Duration};

use crate::{
    connection::{
        endpoint::{Boxing, Endpoint},
        handler::Handler,
    },
    router::{
        entry::{Around, RouteSettings},
        filter::Filter,
        layers,
        wrap::{Wrap, Wrapped},
    },
};

/// The handlers of one path by method, with common settings; begun by [`get`], [`post`] and the others.
///
/// A GET handler answers HEAD as well, without content, unless HEAD has a handler of its own. OPTIONS is
/// answered only where it has a handler.
///
/// ```
/// use alula::{Exchange, Router, Sent, Error, Status, routing::get};
/// use std::time::Duration;
///
/// async fn read(exchange: Exchange) -> Result<Sent, Error> {
///     exchange.respond(Status::OK).send("a list").await
/// }
/// async fn create(mut exchange: Exchange) -> Result<Sent, Error> {
///     while exchange.body().chunk().await?.is_some() {}
///     exchange.respond(Status::CREATED).send("").await
/// }
///
/// let lists = get(read).post(create).timeout(Duration::from_secs(5));
/// let routes = Router::new().route("/lists", lists).build()?;
/// # Ok::<(), alula::RouteError>(())
/// ```
pub struct Route<S = ()> {
    pub(in crate::router) handlers: Vec<(Box<str>, Arc<dyn Endpoint>)>,
    pub(in crate::router) any: Option<Arc<dyn Endpoint>>,
    pub(in crate::router) around: Around,
    pub(in crate::router) terms: RouteSettings,
    state: std::marker::PhantomData<fn() -> S>,
}

macro_rules! methods {
    ($($name:ident $method:literal;)*) => {
        $(
            #[doc = concat!("A route that answers ", $method, " with this handler.")]
            pub fn $name<S: Send + Sync + 'static>(handler: impl Handler<S>) -> Route<S> {
                Route::new().on($method, handler)
            }
        )*

        /// The handlers by method.
        impl<S: Send + Sync + 'static> Route<S> {
            $(
                #[doc = concat!("Answers ", $method, " with this handler, in place of one that was given before.")]
                #[must_use]
                pub fn $name(self, handler: impl Handler<S>) -> Self {
                    self.on($method, handler)
                }
            )*
        }
    };
}

methods! {
    get "GET";
    post "POST";
    put "PUT";
    patch "PATCH";
    delete "DELETE";
    head "HEAD";
    options "OPTIONS";
}

/// Creates a route that answers a method with this handler.
pub fn on<S: Send + Sync + 'static>(method: &str, handler: impl Handler<S>) -> Route<S> {
    Route::new().on(method, handler)
}

/// Creates a route that answers every method with this handler.
pub fn any<S: Send + Sync + 'static>(handler: impl Handler<S>) -> Route<S> {
    Route::new().any(handler)
}

impl<S: Send + Sync + 'static> Route<S> {
    pub(in crate::router) fn new() -> Self {
        Self {
            handlers: Vec::new(),
            any: None,
            around: Around::default(),
            terms: RouteSettings::default(),
            state: std::marker::PhantomData,
        }
    }

    /// Sets the handler for a method with this spelling (RFC 9110 §9.1), replacing an earlier one.
    #[must_use]
    pub fn on(mut self, method: &str, handler: impl Handler<S>) -> Self {
        self.handlers.retain(|(own, _)| **own != *method);
        self.handlers.push((method.into(), Arc::new(Boxing::new(handler))));
        self
    }

    /// Sets the handler for all other methods.
    #[must_use]
    pub fn any(mut self, handler: impl Handler<S>) -> Self {
        self.any = Some(Arc::new(Boxing::new(handler)));
        self
    }

    /// Adds a layer around the handlers, and around refusals of content. The layer that was added first sees
    /// a request first.
    ///
    /// The answer to other methods, 405, is not within it; layers of the [router](crate::Router::wrap) are
    /// around that as well.
    #[doc(alias("layer", "route_layer", "middleware"))]
    #[must_use]
    pub fn wrap(mut self, wrap: impl Wrap<S>) -> Self {
        self.around.add_wrap(wrapped(wrap));
        self
    }

    /// Adds a filter that sees the answers of the handlers. The filter that was added first sees an answer
    /// last, as what was encoded by those after it.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter) -> Self {
        self.around.add_filter(filter);
        self
    }

    /// Limits the time of a request from its arrival, [waiting for its turn](Self::concurrency) included:
    /// then the handler is dropped, and the answer is 503 if it was not begun, otherwise its stream is reset.
    /// Costs a timer for each request, and no allocation.
    ///
    /// It stands before [`concurrency`](Self::concurrency), whichever of the two is written first, and so
    /// before layers that were added after that one; else in its place among the layers.
    #[doc(alias = "TimeoutLayer")]
    #[must_use]
    pub fn timeout(mut self, after: Duration) -> Self {
        self.around.add_time_limit(wrapped(layers::time_limit::<S>(after)));
        self
    }

    /// Limits how many requests are handled at once; others wait in the order in which they came. Writes to
    /// memory that all connections share.
    #[doc(alias = "ConcurrencyLimitLayer")]
    #[must_use]
    pub fn concurrency(mut self, max: usize) -> Self {
        self.around.add_queue(wrapped(layers::concurrency::<S>(max)));
        self
    }

    /// Runs each handler in a task, so that one that computes blocks neither its connection nor other
    /// handlers.
    ///
    /// Without it the handlers of one connection of HTTP/2 run in its task, one after another. Spawn what
    /// computes for more than a millisecond, or blocks; what waits for other tasks, sockets or timers needs
    /// it not. A route of which turns took more than 10 ms three times is told of once by the feature
    /// `tracing`. A handler that is served without routes has [`Handler::spawned`].
    ///
    /// Costs a task for each request, which tokio allocates, and its way to another thread.
    #[must_use]
    pub fn spawned(self) -> Self {
        self.wrap(layers::spawned())
    }

    /// Lets handlers finish after their stream was reset or their connection has ended, for example while
    /// they write; otherwise they are dropped. Costs nothing until that happens, and a task then.
    ///
    /// A peer that gives up whatever it asks for leaves as many of them behind: bound them with
    /// [`concurrency`](Self::concurrency), or by a time.
    #[must_use]
    pub fn detached(mut self) -> Self {
        self.terms.is_detached = true;
        self
    }

    /// Limits the content of requests, in bytes, in place of [the server's
    /// limit](crate::ServerBuilder::content_max). A request that says that its content is longer is answered
    /// with 413 in place of the handler. Other content (chunked, or over HTTP/2 without `content-length`) is
    /// bounded while it is read, whichever way: reading more fails with
    /// [`Cause::TooLong`](crate::Cause::TooLong), which is answered 413.
    #[doc(alias("DefaultBodyLimit", "PayloadConfig", "MaxBytesReader"))]
    #[must_use]
    pub fn content_max(mut self, bytes: usize) -> Self {
        self.terms.content_max = Some(bytes);
        self
    }

    /// Decodes the content of requests that is in the codings this server was built with, while it is read
    /// (RFC 9110 §8.4); without this, content is left as it comes. Which codings they are is up to the cargo
    /// features: `gzip` (gzip, x-gzip and deflate), `brotli` (br) and `zstd`.
    ///
    /// The handler, and the layers of the route, see content that is decoded, and a request without
    /// `content-encoding` and `content-length`, which told of the coded bytes;
    /// [`Body::is_decoded`](crate::Body::is_decoded) says so. Content in no coding and in `identity` is left
    /// as it is. Content in two codings, one in the other, is decoded from both.
    ///
    /// - In a coding that is not known, or in three and more, it is answered 415 before the handler is
    ///   called, with the codings that are known in `accept-encoding` (RFC 7694).
    /// - Decoded, it is bounded by [`content_max`](Self::content_max) or [what the server
    ///   says](crate::ServerBuilder::content_max), 2 MiB unless set, whichever way it is read, and coded by
    ///   twice as much and 64 KiB: reading more fails with [`Cause::TooLong`](crate::Cause::TooLong), which
    ///   is answered 413. A `content-length` beyond that is answered 413 at once.
    /// - If it grows to more than a hundred times its bytes and more than 1 MiB, reading fails with
    ///   [`Cause::Growth`](crate::Cause::Growth), which is answered 413.
    /// - If it is malformed or ends early, or is zstd with a window over 8 MiB (RFC 9659 §3), reading fails
    ///   with [`Cause::Coding`](crate::Cause::Coding), which is answered 400.
    ///
    /// Takes a decoder's memory, about 100 KiB, from earlier requests, of which a router keeps up to 32
    /// decoders under one lock. Once warm, gzip and deflate allocate nothing, nor does zstd with windows
    /// below 1 MiB.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Router, Sent, Status, routing::post};
    ///
    /// async fn count(mut exchange: Exchange) -> Result<Sent, Answer> {
    ///     let bytes = exchange.body().bytes().await?.len();
    ///     Ok(exchange.respond(Status::OK).send(format!("{bytes} bytes")).await?)
    /// }
    ///
    /// let router = Router::new().route("/reports", post(count).decompress().content_max(8 << 20));
    /// # router.build().unwrap();
    /// ```
    #[cfg(feature = "decoding")]
    #[doc(alias("RequestDecompression", "gunzip"))]
    #[must_use]
    pub fn decompress(mut self) -> Self {
        self.terms.decodes = true;
        self
    }

    /// Exempts the peers from the limits on slow peers, as
    /// [`Exchange::allow_slow_peer`](crate::Exchange::allow_slow_peer) does.
    #[must_use]
    pub fn allow_slow_peer(mut self) -> Self {
        self.terms.allows_slow_peer = true;
        self
    }
}

impl<S> Route<S> {
    /// Returns true if both have a common method.
    pub(in crate::router) fn shares_method(&self, other: &Self) -> bool {
        let is_theirs = |method: &str| other.handlers.iter().any(|(own, _)| **own == *method);
        (self.any.is_some() && other.any.is_some()) || self.handlers.iter().any(|(own, _)| is_theirs(own))
    }
}

/// Creates a layer with its own boxes, for all routes that it is around.
pub(in crate::router) fn wrapped<S: Send + Sync + 'static>(wrap: impl Wrap<S>) -> Arc<dyn Endpoint> {
    Arc::new(Boxing::<_, S>::new(Wrapped(wrap)))
}
