//! Nested routers before they are compiled.

use std::sync::Arc;

use super::site::Home;
use crate::{
    connection::endpoint::Endpoint,
    route::{Prefix, RouteError, Segments, below},
    router::entry::Around,
};

/// A router before it is compiled: what is around its answers, and its fallbacks.
#[derive(Default)]
pub(in crate::router) struct PlannedScope {
    /// The prefix of the router, with those of its outer routers.
    pub(in crate::router) prefix: String,
    /// The number of its outer router; its own for the outermost.
    outer: usize,
    pub(in crate::router) segments: Segments,
    pub(in crate::router) around: Around,
    pub(in crate::router) not_found: Option<Arc<dyn Endpoint>>,
    pub(in crate::router) not_allowed: Option<Arc<dyn Endpoint>>,
}

/// A router with its nested routers. Each comes after the one that it is nested in.
pub(in crate::router) struct Scopes {
    own: PlannedScope,
    nested: Vec<PlannedScope>,
}

impl Scopes {
    pub(in crate::router) fn new() -> Self {
        Self { own: PlannedScope::default(), nested: Vec::new() }
    }

    /// Returns the outermost router.
    pub(in crate::router) fn own(&mut self) -> &mut PlannedScope {
        &mut self.own
    }

    /// Adds a router with its nested ones; returns the offset of their numbers.
    pub(in crate::router) fn nest(&mut self, prefix: &str, inner: Self) -> usize {
        let offset = self.len();
        let own = PlannedScope { prefix: below(prefix, &inner.own.prefix), outer: 0, ..inner.own };
        self.nested.push(own);
        self.nested.extend(inner.nested.into_iter().map(|scope| PlannedScope {
            prefix: below(prefix, &scope.prefix),
            outer: scope.outer + offset,
            ..scope
        }));
        offset
    }

    pub(in crate::router) fn len(&self) -> usize {
        1 + self.nested.len()
    }

    pub(in crate::router) fn get(&self, number: usize) -> &PlannedScope {
        number.checked_sub(1).map_or(&self.own, |nested| &self.nested[nested])
    }

    /// Puts what is around each router around its nested ones, and `around` around all.
    pub(in crate::router) fn put_around(&mut self, around: &Around) {
        for number in 0..self.len() {
            let outer =
                if number == 0 { around.clone() } else { self.get(self.get(number).outer).around.clone() };
            let scope = if number == 0 { &mut self.own } else { &mut self.nested[number - 1] };
            scope.around = std::mem::take(&mut scope.around).within(&outer);
        }
    }

    /// Returns the value of the innermost router that has it, from this one outwards.
    pub(in crate::router) fn inherited<T>(
        &self,
        number: usize,
        of: impl Fn(&PlannedScope) -> Option<T>,
    ) -> Option<T> {
        let (scope, outer) = (self.get(number), self.get(number).outer);
        of(scope).or_else(|| if number == outer { None } else { self.inherited(outer, of) })
    }

    /// Returns the innermost router that contains both.
    pub(in crate::router) fn common(&self, mut one: usize, mut other: usize) -> usize {
        while one != other {
            // A router has a higher number than the one that it is nested in.
            if one < other {
                other = self.get(other).outer;
            } else {
                one = self.get(one).outer;
            }
        }
        one
    }

    /// Returns the prefixes of all, for paths that are split like those of the outermost.
    ///
    /// # Errors
    /// One is malformed.
    pub(in crate::router) fn prefixes(&self) -> Result<Vec<Prefix>, RouteError> {
        let prefix = |number| {
            let scope = self.get(number);
            Prefix::of(&scope.prefix, scope.segments, self.own.segments)
        };
        (0..self.len()).map(prefix).collect()
    }

    /// Returns the routers by prefix, the most specific first.
    ///
    /// Several routers may have one prefix, such as one and another that is merged into it. Paths that no
    /// pattern takes belong to the router that all of them are in, and unknown ones are answered by the first
    /// fallback among them.
    pub(in crate::router) fn homes(&self, prefixes: &[Prefix]) -> Vec<Home> {
        let mut homes: Vec<Home> = Vec::new();
        for (number, prefix) in prefixes.iter().enumerate() {
            let has_fallback = |number: usize| self.get(number).not_found.is_some();
            match homes.iter_mut().find(|home| prefixes[home.prefix].is_same(prefix)) {
                Some(home) => {
                    home.scope = self.common(home.scope, number);
                    if has_fallback(number) && !has_fallback(home.not_found) {
                        home.not_found = number;
                    }
                }
                None => homes.push(Home { prefix: number, not_found: number, scope: number }),
            }
        }
        for home in &mut homes {
            // Without a fallback of their own, they have that of the router around them.
            if self.get(home.not_found).not_found.is_none() {
                home.not_found = home.scope;
            }
        }
        homes.sort_by_cached_key(|home| prefixes[home.prefix].rank());
        homes
    }
}
