//! Compilation of routers: each handler with everything around it.

use std::sync::Arc;

use super::{
    builder::{PlannedHost, PlannedRoute},
    methods::Route,
    scopes::{PlannedScope, Scopes},
    site::{Handlers, Scope, Site},
};
#[cfg(feature = "decoding")]
use crate::router::decoding;
use crate::{
    connection::endpoint::{Boxing, Endpoint},
    route::{Builder, Prefix, RouteError, Table},
    router::{
        Router, answers,
        entry::{Around, Entry, PlaceNumber, Refusals, RouteSettings},
        routes::{Compiled, Routes},
        state::State,
    },
};

/// The most layers around a route, which a request counts in a byte.
const LAYERS_MAX: usize = 255;

impl<S: Send + Sync + 'static> Router<S> {
    /// Builds the routes, ready to serve.
    ///
    /// # Errors
    /// A pattern is malformed, has more than eight captures, or is in conflict with another; the error names
    /// them. A route has more than 255 layers around it, or a router with [hosts](Self::host) is nested below
    /// a prefix.
    pub fn build(self) -> Result<Routes, RouteError> {
        let state = self.state.clone();
        let (own, mut sites, mut entries) = (OwnHandlers::new::<S>(), Vec::new(), Vec::new());
        self.compile("", &Around::default(), &own, &mut sites, &mut entries)?;
        if entries.len() > usize::from(u16::MAX) {
            return Err(RouteError::too_many_handlers());
        }
        let compiled = Compiled {
            sites: sites.into(),
            has_hooks: entries.iter().any(|entry| !entry.hooks.is_empty()),
            entries: entries.into(),
            #[cfg(feature = "decoding")]
            decoders: Arc::default(),
        };
        let state = Arc::new(move || State::for_connection(&state));
        Ok(Routes { compiled: Arc::new(compiled), state })
    }

    /// Compiles the sites of the hosts, then that of all others.
    fn compile(
        mut self,
        host: &str,
        around: &Around,
        own: &OwnHandlers,
        sites: &mut Vec<Site>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), RouteError> {
        self.scopes.put_around(around);
        for PlannedHost { host, router, scope } in self.hosts {
            let scope = self.scopes.get(scope);
            if !scope.prefix.is_empty() {
                return Err(RouteError::host_below(&scope.prefix, host));
            }
            router.compile(&host, &scope.around, own, sites, entries)?;
        }
        let prefixes = self.scopes.prefixes()?;
        let homes = self.scopes.homes(&prefixes).into();
        let mut plan = Table::builder(self.scopes.get(0).segments);
        for route in self.routes {
            add_route(&mut plan, route, &self.scopes)?;
        }
        let mut adding = Adding { scopes: &self.scopes, own, site: sites.len(), pattern: 0, entries };
        let scopes =
            prefixes.into_iter().enumerate().map(|(number, prefix)| adding.scope(number, prefix)).collect();
        let table = plan.build().map(|routes| adding.handlers(routes));
        sites.push(Site { host: host.into(), table, scopes, homes });
        Ok(())
    }
}

/// Adds a route to the plan of a table; routes of one pattern without a common method are merged.
fn add_route<S>(
    plan: &mut Builder<Vec<(usize, Route<S>)>>,
    PlannedRoute { pattern, route, scope }: PlannedRoute<S>,
    scopes: &Scopes,
) -> Result<(), RouteError> {
    let PlannedScope { segments, around, .. } = scopes.get(scope);
    if around.layers() + route.around.layers() > LAYERS_MAX {
        return Err(RouteError::too_many_layers(&pattern));
    }
    plan.put(&pattern, *segments, vec![(scope, route)], |there, new| {
        let is_new = new.iter().all(|(_, new)| !there.iter().any(|(_, own)| own.shares_method(new)));
        if is_new {
            there.extend(new);
        }
        is_new
    })
}

/// The built-in handlers of routers.
struct OwnHandlers {
    not_found: Arc<dyn Endpoint>,
    not_allowed: Arc<dyn Endpoint>,
    unknown_method: Arc<dyn Endpoint>,
    malformed: Arc<dyn Endpoint>,
    other_slash: Arc<dyn Endpoint>,
    too_long: Arc<dyn Endpoint>,
    #[cfg(feature = "decoding")]
    unknown_coding: Arc<dyn Endpoint>,
}

impl OwnHandlers {
    fn new<S: Send + Sync + 'static>() -> Self {
        Self {
            not_found: Arc::new(Boxing::new(answers::not_found::<S>)),
            not_allowed: Arc::new(Boxing::new(answers::not_allowed::<S>)),
            unknown_method: Arc::new(Boxing::new(answers::unknown_method::<S>)),
            malformed: Arc::new(Boxing::new(answers::malformed::<S>)),
            other_slash: Arc::new(Boxing::new(answers::other_slash::<S>)),
            too_long: Arc::new(Boxing::new(answers::too_long::<S>)),
            #[cfg(feature = "decoding")]
            unknown_coding: Arc::new(Boxing::new(decoding::unknown_coding::<S>)),
        }
    }
}

/// The entries of one site under construction.
struct Adding<'a> {
    scopes: &'a Scopes,
    own: &'a OwnHandlers,
    site: usize,
    /// The number of the next pattern.
    pattern: usize,
    entries: &'a mut Vec<Entry>,
}

impl Adding<'_> {
    fn add(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Adds the built-in entries of a router.
    fn scope(&mut self, number: usize, prefix: Prefix) -> Scope {
        let (own, planned) = (self.own, self.scopes.get(number));
        let not_found = self.scopes.inherited(number, |scope| scope.not_found.clone());
        let place = PlaceNumber::Scope(self.site, number);
        let mut add = |handler: &Arc<dyn Endpoint>| {
            self.add(Entry::new(handler.clone(), planned.around.clone(), place))
        };
        Scope {
            names: prefix.names().map(Into::into).collect(),
            options: planned.segments,
            not_found: add(not_found.as_ref().unwrap_or(&own.not_found)),
            malformed: add(&own.malformed),
            other_slash: add(&own.other_slash),
            unknown_method: add(&own.unknown_method),
            prefix,
        }
    }

    /// Adds the entries of the routes of one pattern.
    fn handlers<S>(&mut self, routes: Vec<(usize, Route<S>)>) -> Handlers {
        let scope =
            routes.iter().map(|(scope, _)| *scope).reduce(|one, other| self.scopes.common(one, other));
        let (scope, mut by_method, mut any) = (scope.unwrap_or_default(), Vec::new(), None);
        for (scope, route) in routes {
            let around = route.around.within(&self.scopes.get(scope).around);
            for (method, handler) in route.handlers {
                by_method.push((method, self.route(handler, around.clone(), route.terms)));
            }
            any = route.any.map(|handler| self.route(handler, around, route.terms)).or(any);
        }
        let not_allowed = self.scopes.inherited(scope, |scope| scope.not_allowed.clone());
        let not_allowed = not_allowed.unwrap_or_else(|| self.own.not_allowed.clone());
        let around = self.scopes.get(scope).around.clone();
        let not_allowed = self.add(Entry::new(not_allowed, around, self.place()));
        self.pattern += 1;
        let allow = allow(by_method.iter().map(|(method, _)| &**method));
        Handlers { by_method: by_method.into(), any, not_allowed, allow, scope }
    }

    /// Adds the entry of a handler, and those that refuse content in its place.
    fn route(&mut self, handler: Arc<dyn Endpoint>, around: Around, terms: RouteSettings) -> u32 {
        let refusals = if terms.may_refuse() { self.refusals(&around) } else { Refusals::default() };
        self.add(Entry { terms, refusals, ..Entry::new(handler, around, self.place()) })
    }

    fn refusals(&mut self, around: &Around) -> Refusals {
        let own = self.own;
        let mut add =
            |handler: &Arc<dyn Endpoint>| self.add(Entry::new(handler.clone(), around.clone(), self.place()));
        Refusals {
            too_long: add(&own.too_long),
            #[cfg(feature = "decoding")]
            unknown_coding: add(&own.unknown_coding),
        }
    }

    fn place(&self) -> PlaceNumber {
        PlaceNumber::Route(self.site, self.pattern)
    }
}

/// Returns the value of `allow` for these methods; GET implies HEAD.
fn allow<'m>(methods: impl Iterator<Item = &'m str> + Clone) -> Box<str> {
    let mut all: Vec<_> = methods.collect();
    if all.contains(&"GET") && !all.contains(&"HEAD") {
        all.push("HEAD");
    }
    all.sort_unstable();
    all.join(", ").into()
}
