//! Routers being built.

use std::sync::Arc;

#[cfg(feature = "decoding")]
use super::decoding;
use super::{
    answers,
    entry::{Around, Entry, RouteSettings},
    filter::Filter,
    hook::Hook,
    methods::{Route, wrapped},
    routes::{Compiled, Handlers, Routes, Site},
    state::State,
    wrap::Wrap,
};
use crate::{
    Handler, RouteError, Segments,
    endpoint::{Boxing, Endpoint},
    route::{Builder, Table, below},
};

/// A table of handlers: routes by host, path and method, with layers around them.
///
/// Patterns are made of literals, `{name}` for one segment and `{*rest}` for all that follow. A path that any pattern matches is
/// found; where several do, a literal goes before a capture, segment by segment. An unknown path is answered 404, a known one with
/// another method 405 with `allow`, a method that HTTP does not know 501.
///
/// To route a request allocates nothing, nor does its handler's future; see `docs/performance.md`.
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
    state: Arc<S>,
    segments: Segments,
    routes: Vec<Planned<S>>,
    hosts: Vec<(String, Self)>,
    around: Around,
    hooks: Vec<Box<dyn Hook>>,
    not_found: Option<Arc<dyn Endpoint>>,
    not_allowed: Option<Arc<dyn Endpoint>>,
}

/// A route of a router, under the options of the router that it was given to first.
struct Planned<S> {
    pattern: String,
    route: Route<S>,
    segments: Option<Segments>,
}

impl Router {
    /// A router without state.
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
    /// A router whose handlers [have this state](crate::Exchange::state), which stands in the type of their exchange: `Exchange<S>`.
    #[doc(alias("app_data", "Data", "Extension"))]
    pub fn with_state(state: S) -> Self {
        Self {
            state: Arc::new(state),
            segments: Segments::default(),
            routes: Vec::new(),
            hosts: Vec::new(),
            around: Around::default(),
            hooks: Vec::new(),
            not_found: None,
            not_allowed: None,
        }
    }

    /// Sets the rules by which paths are read; [`Segments::STRICT`] unless set.
    #[must_use]
    pub fn segments(mut self, segments: Segments) -> Self {
        self.segments = segments;
        self
    }

    /// Adds a route. Routes of one pattern are one: their methods are put together.
    #[must_use]
    pub fn route(mut self, pattern: impl Into<String>, route: Route<S>) -> Self {
        self.routes.push(Planned { pattern: pattern.into(), route, segments: None });
        self
    }

    /// Adds the routes of another router under a prefix, such as `/api`, with the layers and filters and under the [options](Self::segments) of
    /// that one. Its fallbacks, hooks, hosts and state are left out: the handlers have the state of this router.
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
        let (segments, around) = (inner.segments, inner.around);
        for Planned { pattern, mut route, segments: own } in inner.routes {
            route.around = route.around.within(&around);
            let pattern = below(prefix, &pattern);
            self.routes.push(Planned { pattern, route, segments: Some(own.unwrap_or(segments)) });
        }
        self
    }

    /// Adds the routes of another router as they are; else as [`nest`](Self::nest).
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        self.nest("", other)
    }

    /// Answers requests to a host with the routes of another router, and no others; `host` is compared without case, and with its
    /// port if it has one. What the request says of its host decides, which a peer may choose.
    #[must_use]
    pub fn host(mut self, host: &str, inner: Self) -> Self {
        self.hosts.push((host.to_ascii_lowercase(), inner));
        self
    }

    /// Puts a layer around all routes, also the answers to what no route has. The layer that was added first sees a request first,
    /// and before those of the routes.
    #[doc(alias("layer", "middleware"))]
    #[must_use]
    pub fn wrap(mut self, wrap: impl Wrap<S>) -> Self {
        self.around.add_wrap(wrapped(wrap));
        self
    }

    /// Shows the answers of all handlers to a filter. The filter that was added first sees an answer last, and after those of the routes.
    #[must_use]
    pub fn filter(mut self, filter: impl Filter) -> Self {
        self.around.add_filter(filter);
        self
    }

    /// Has a hook see every request, after those that were added before. Hooks of routers that are nested or of a host are left out.
    #[doc(alias("TraceLayer", "on_request", "on_response"))]
    #[must_use]
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Box::new(hook));
        self
    }

    /// Answers unknown paths with this handler, in place of 404.
    #[must_use]
    pub fn fallback(mut self, handler: impl Handler<S>) -> Self {
        self.not_found = Some(Arc::new(Boxing::new(handler)));
        self
    }

    /// Answers known paths with unknown methods with this handler, in place of 405; it finds the known ones with
    /// [`Exchange::allowed`](crate::Exchange::allowed).
    #[doc(alias = "method_not_allowed_fallback")]
    #[must_use]
    pub fn method_fallback(mut self, handler: impl Handler<S>) -> Self {
        self.not_allowed = Some(Arc::new(Boxing::new(handler)));
        self
    }

    /// The routes, ready to be served.
    ///
    /// # Errors
    /// A pattern is malformed, has more than eight captures, or is in conflict with another; the error names them.
    pub fn build(mut self) -> Result<Routes, RouteError> {
        let (state, hooks) = (self.state.clone(), std::mem::take(&mut self.hooks));
        let mut entries = Vec::new();
        let own = |handler, around: &Around| Entry::new(handler, around.clone(), RouteSettings::default());
        entries.push(own(Arc::new(Boxing::new(answers::unknown_method::<S>)), &self.around));
        entries.push(own(Arc::new(Boxing::new(answers::malformed::<S>)), &self.around));
        entries.push(own(Arc::new(Boxing::new(answers::other_slash::<S>)), &self.around));
        entries.push(own(Arc::new(Boxing::new(answers::too_long::<S>)), &self.around));
        #[cfg(feature = "decoding")]
        entries.push(own(Arc::new(Boxing::new(decoding::unknown_coding::<S>)), &self.around));
        let mut sites = Vec::new();
        self.compile("", &mut sites, &mut entries)?;
        if entries.len() > usize::from(u16::MAX) {
            return Err(RouteError::too_many_handlers());
        }
        let compiled = Compiled {
            sites: sites.into(),
            entries: entries.into(),
            hooks: hooks.into(),
            too_long: 3,
            #[cfg(feature = "decoding")]
            unknown_coding: 4,
            #[cfg(feature = "decoding")]
            decoders: Arc::default(),
            unknown_method: 0,
            malformed: 1,
            other_slash: 2,
        };
        let state = Arc::new(move || State::for_connection(&state));
        Ok(Routes { compiled: Arc::new(compiled), state })
    }

    /// Compiles the sites of the hosts, then that of all others.
    fn compile(self, host: &str, sites: &mut Vec<Site>, entries: &mut Vec<Entry>) -> Result<(), RouteError> {
        for (host, inner) in self.hosts {
            inner.compile(&host, sites, entries)?;
        }
        let around = self.around;
        let not_found = self.not_found.unwrap_or_else(|| Arc::new(Boxing::new(answers::not_found::<S>)));
        let not_allowed =
            self.not_allowed.unwrap_or_else(|| Arc::new(Boxing::new(answers::not_allowed::<S>)));
        let mut adding = Adding { around, not_allowed, site: sites.len(), entries };
        let not_found = adding.add(not_found, Around::default(), RouteSettings::default());
        let mut plan = Table::builder(self.segments);
        for Planned { pattern, route, segments } in self.routes {
            add_route(&mut plan, &pattern, route, segments.unwrap_or(self.segments))?;
        }
        let table = plan.build().map(|routes| adding.handlers(routes));
        for (number, place) in table.places().enumerate() {
            adding.place(place.value, number);
        }
        sites.push(Site { host: host.into(), table, not_found });
        Ok(())
    }
}

/// Adds a route to the plan of a table; routes of one pattern that share no method are put together.
fn add_route<S>(
    plan: &mut Builder<Vec<Route<S>>>,
    pattern: &str,
    route: Route<S>,
    segments: Segments,
) -> Result<(), RouteError> {
    plan.put(pattern, segments, vec![route], |there, new| {
        let is_new = new.iter().all(|new| !there.iter().any(|own| own.shares_method(new)));
        if is_new {
            there.extend(new);
        }
        is_new
    })
}

/// Entries being added for the routes of one site.
struct Adding<'a> {
    around: Around,
    not_allowed: Arc<dyn Endpoint>,
    site: usize,
    entries: &'a mut Vec<Entry>,
}

impl Adding<'_> {
    fn add(&mut self, handler: Arc<dyn Endpoint>, around: Around, terms: RouteSettings) -> u32 {
        self.entries.push(Entry::new(handler, around.within(&self.around), terms));
        (self.entries.len() - 1) as u32
    }

    /// The entries of the routes of one pattern.
    fn handlers<S>(&mut self, routes: Vec<Route<S>>) -> Handlers {
        let (mut by_method, mut any) = (Vec::new(), None);
        for route in routes {
            for (method, handler) in route.handlers {
                by_method.push((method, self.add(handler, route.around.clone(), route.terms)));
            }
            any = route.any.map(|handler| self.add(handler, route.around, route.terms)).or(any);
        }
        let not_allowed = self.add(self.not_allowed.clone(), Around::default(), RouteSettings::default());
        let allow = allow(by_method.iter().map(|(method, _)| &**method));
        Handlers { by_method: by_method.into(), any, not_allowed, allow }
    }

    /// Notes the pattern of entries.
    fn place(&mut self, handlers: &Handlers, number: usize) {
        let by_method = handlers.by_method.iter().map(|(_, entry)| *entry);
        for entry in by_method.chain(handlers.any).chain([handlers.not_allowed]) {
            self.entries[entry as usize].place = Some((self.site, number));
        }
    }
}

/// The value of `allow` for these methods; who answers GET answers HEAD.
fn allow<'m>(methods: impl Iterator<Item = &'m str> + Clone) -> Box<str> {
    let mut all: Vec<_> = methods.collect();
    if all.contains(&"GET") && !all.contains(&"HEAD") {
        all.push("HEAD");
    }
    all.sort_unstable();
    all.join(", ").into()
}
