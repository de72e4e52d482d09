//! Routers being built.

use std::sync::Arc;

use super::{
    methods::{Route, wrapped},
    scopes::Scopes,
};
use crate::{
    connection::{endpoint::Boxing, handler::Handler},
    route::{Segments, below},
    router::{filter::Filter, hook::Hook, wrap::Wrap},
};

/// A table of handlers: routes by host, path and method, with layers around them.
///
/// Patterns are made of literals, `{name}` for one segment and `{*rest}` for all that follow. A path that any
/// pattern matches is found; where several do, a literal goes before a capture, segment by segment. An
/// unknown path is answered 404, a known one with another method 405 with `allow`, a method that HTTP does
/// not know 501.
///
/// To route a request allocates nothing, nor does its handler's future; see `docs/performance.md`.
///
/// # What is around what
///
/// [Layers](Self::wrap), [filters](Self::filter) and [hooks](Self::hook) of a router are around all that it answers: its routes, and those of the
/// routers that are [nested](Self::nest) in it, [merged](Self::merge) into it or [for a host](Self::host),
/// within which come those of these routers. They may be added before or after what they are around: only
/// among themselves does the order count.
///
/// | answer | layers, hooks | filters |
/// | --- | --- | --- |
/// | of a handler, also to HEAD | those of all routers around it, then the layers of the route | those of the route, then of all routers |
/// | 413 and 415 that a [route](Route::content_max) refuses content with | as its handler | none |
/// | 405, 501 and a redirect for a known path | those of the routers around its route | none |
/// | 404, 501 and 400 for an unknown path | those of the router whose prefix it is below, and of those around it | none |
/// | of a [fallback](Self::fallback) | the same | the same |
/// | 400, 408, 414 and 431 to a request that is broken before it has a route | none | none |
///
/// Filters do not see answers to errors, whoever errs. Layers of a [`Route`] are around its handlers alone,
/// as axum's `route_layer` is: the methods of one path may be of several routes. An unknown path below the
/// prefix of a nested router is of that router, and of the one with the most specific prefix where there are
/// several; of two routers with one prefix, it is of the one that both stand in. A path that no pattern can
/// match, such as `*` of OPTIONS, is of the outermost router.
///
/// ```no_run
/// use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::get};
///
/// async fn hello(exchange: Exchange) -> Result<Sent, Answer> {
///     let greeting = format!("hello, {}", exchange.param("name")?);
///     Ok(exchange.respond(Status::OK).send(greeting).await?)
/// }
///
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// let routes = Router::new().route("/hello/{name}", get(hello)).build()?;
/// Server::bind("127.0.0.1:8080").await?.serve(routes).await?;
/// # Ok(())
/// # }
/// ```
pub struct Router<S = ()> {
    pub(in crate::router) state: Arc<S>,
    pub(in crate::router) routes: Vec<PlannedRoute<S>>,
    pub(in crate::router) hosts: Vec<PlannedHost<S>>,
    pub(in crate::router) scopes: Scopes,
}

/// A route, and the number of its router.
pub(in crate::router) struct PlannedRoute<S> {
    pub(in crate::router) pattern: String,
    pub(in crate::router) route: Route<S>,
    pub(in crate::router) scope: usize,
}

/// The router of a host, and the number of the router that it was given to.
pub(in crate::router) struct PlannedHost<S> {
    pub(in crate::router) host: String,
    pub(in crate::router) router: Router<S>,
    pub(in crate::router) scope: usize,
}

impl Router {
    /// Creates a router without state.
    pub fn new() -> Self {
        Self::with_state(())
    }
}

impl Default for Router {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Send + Sync + 'static> Router<S> {
    /// Creates a router whose handlers [have this state](crate::Exchange::state), with its type in the type
    /// of their exchange: `Exchange<S>`.
    #[doc(alias("app_data", "Data", "Extension"))]
    pub fn with_state(state: S) -> Self {
        Self { state: Arc::new(state), routes: Vec::new(), hosts: Vec::new(), scopes: Scopes::new() }
    }

    /// Sets the rules for reading paths; [`Segments::STRICT`] unless set.
    #[must_use]
    pub fn segments(mut self, segments: Segments) -> Self {
        self.scopes.own().segments = segments;
        self
    }

    /// Adds a route. Routes of one pattern are one: their methods are put together.
    #[must_use]
    pub fn route(mut self, pattern: impl Into<String>, route: Route<S>) -> Self {
        self.routes.push(PlannedRoute { pattern: pattern.into(), route, scope: 0 });
        self
    }

    /// Adds the routes of another router under a prefix, such as `/api`, with that router's
    /// [options](Self::segments). The handlers have the state of this router.
    ///
    /// Its layers, filters and hooks are around all that it answers, within those of this router: also around
    /// the 404 to paths below the prefix that it does not know, and around redirects and refusals. Its
    /// fallbacks answer there, or else those of this router, within its layers. Layers and fallbacks find the
    /// captures of the prefix.
    ///
    /// A router with [hosts](Self::host) can stand below the empty prefix alone; else [`build`](Self::build)
    /// fails.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Router, Sent, Status, routing::get};
    ///
    /// type App = Vec<&'static str>;
    ///
    /// async fn users(exchange: Exchange<App>) -> Result<Sent, Answer> {
    ///     let names = exchange.state().join("\n");
    ///     Ok(exchange.respond(Status::OK).text(names).await?)
    /// }
    ///
    /// let api = Router::with_state(App::default()).route("/users", get(users));
    /// let routes = Router::with_state(vec!["Ada"]).nest("/api", api).build()?;
    /// # Ok::<(), alula::RouteError>(())
    /// ```
    #[doc(alias("nest_service", "scope", "route_service"))]
    #[must_use]
    pub fn nest(mut self, prefix: &str, inner: Self) -> Self {
        let offset = self.scopes.nest(prefix, inner.scopes);
        self.routes.extend(inner.routes.into_iter().map(|PlannedRoute { pattern, route, scope }| {
            PlannedRoute { pattern: below(prefix, &pattern), route, scope: scope + offset }
        }));
        let hosts = inner.hosts.into_iter();
        self.hosts.extend(hosts.map(|host| PlannedHost { scope: host.scope + offset, ..host }));
        self
    }

    /// Adds the routes of another router unchanged; otherwise like [`nest`](Self::nest): its layers apply to
    /// its own routes, and not to the 404 of this router. Its fallback answers unknown paths where this
    /// router has none, and its hosts are added.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        self.nest("", other)
    }

    /// Answers requests for a host with the routes of another router only; `host` is compared without case,
    /// and with its port if it has one. What the request says of its host decides, which a peer may choose.
    ///
    /// The layers, filters and hooks of this router are around the other as well, which has the state of this
    /// one. Fallbacks are not handed on: a host is a site of its own, and answers 404 unless it has a
    /// fallback.
    ///
    /// ```
    /// use alula::{BearerAuth, Exchange, Router, Status, routing::get};
    ///
    /// let admin = Router::new().route("/", get(|it: Exchange| it.respond(Status::OK).text("for administrators")));
    /// let auth = BearerAuth::new("example").user("ann", "s3cret");
    /// // Nobody sees the host without a token, nor anything else.
    /// let routes = Router::new().host("admin.example", admin).wrap(auth.layer()).build()?;
    /// # Ok::<(), alula::RouteError>(())
    /// ```
    #[must_use]
    pub fn host(mut self, host: &str, inner: Self) -> Self {
        self.hosts.push(PlannedHost { host: host.to_ascii_lowercase(), router: inner, scope: 0 });
        self
    }

    /// Adds a layer around all answers of the router: routes, those of nested routers and of
    /// [hosts](Self::host), and its own answers (404, 405, 501, redirects, refusals). It covers what is added
    /// to the router before it and after it. The layer that was added first sees a request first, and before
    /// those of nested routers and of routes.
    ///
    /// In axum, `layer` covers only what was added before it.
    #[doc(alias("layer", "middleware"))]
    #[must_use]
    pub fn wrap(mut self, wrap: impl Wrap<S>) -> Self {
        self.scopes.own().around.add_wrap(wrapped(wrap));
        self
    }

    /// Adds a filter that sees the answers of all handlers and fallbacks, including those of nested routers
    /// and of [hosts](Self::host), whether added before it or after it. The filter that was added first sees
    /// an answer last, after those of nested routers and of routes. Answers to errors, such as a 404 of the
    /// router's own, are not shown.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter) -> Self {
        self.scopes.own().around.add_filter(filter);
        self
    }

    /// Adds a hook that sees every request of the router, after earlier ones: including those of nested
    /// routers and of [hosts](Self::host), and those without a route. Hooks of a router that is nested or of
    /// a host see the requests of that one, after those of the routers around it. A request that is broken
    /// before it has a route is seen by none.
    #[doc(alias("TraceLayer", "on_request", "on_response"))]
    #[must_use]
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.scopes.own().around.add_hook(hook);
        self
    }

    /// Sets the handler for unknown paths, in place of 404, within the layers and filters of the router.
    /// Routers that are nested in this one have it too, within their layers, unless they have one of their
    /// own; routers of hosts have not.
    #[must_use]
    pub fn fallback(mut self, handler: impl Handler<S>) -> Self {
        self.scopes.own().not_found = Some(Arc::new(Boxing::new(handler)));
        self
    }

    /// Sets the handler for unknown methods of known paths, in place of 405; it finds the known ones with
    /// [`Exchange::allowed`](crate::Exchange::allowed). Nested routers have it too, as
    /// [`fallback`](Self::fallback).
    #[doc(alias = "method_not_allowed_fallback")]
    #[must_use]
    pub fn method_fallback(mut self, handler: impl Handler<S>) -> Self {
        self.scopes.own().not_allowed = Some(Arc::new(Boxing::new(handler)));
        self
    }
}
