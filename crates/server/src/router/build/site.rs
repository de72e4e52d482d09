//! The routes of one host, and their routers.
//!
//! Rule: a request whose path no route takes is of the router with the most specific prefix that the path is
//! below; one whose path a pattern knows is of the router that the pattern is of.

use alula_fields::{Captures, Method};

use crate::route::{Outcome, Prefix, RouteEntry, Segments, Table};

/// The handlers of one pattern.
pub(in crate::router) struct Handlers {
    /// The entries by method, the most usual first.
    pub(in crate::router) by_method: Box<[(Box<str>, u32)]>,
    pub(in crate::router) any: Option<u32>,
    /// The entry for other methods.
    pub(in crate::router) not_allowed: u32,
    /// The value of `allow` (RFC 9110 §10.2.1).
    pub(in crate::router) allow: Box<str>,
    /// The router of its routes.
    pub(in crate::router) scope: usize,
}

/// A router, with its built-in entries.
pub(in crate::router) struct Scope {
    pub(in crate::router) prefix: Prefix,
    /// The names of the captures of the prefix.
    pub(in crate::router) names: Box<[Box<str>]>,
    pub(in crate::router) options: Segments,
    /// The entry for unknown paths.
    pub(in crate::router) not_found: u32,
    /// The entry for paths that break the options of the router.
    pub(in crate::router) malformed: u32,
    /// The entry for redirects with a changed trailing slash.
    pub(in crate::router) other_slash: u32,
    /// The entry for methods that HTTP does not know (RFC 9110 §15.6.2).
    pub(in crate::router) unknown_method: u32,
}

/// The routers, by number, of paths below a prefix that match no pattern.
pub(in crate::router) struct Home {
    /// A router that has the prefix.
    pub(in crate::router) prefix: usize,
    /// The router whose fallback answers unknown paths.
    pub(in crate::router) not_found: usize,
    /// The router for all other answers.
    pub(in crate::router) scope: usize,
}

/// The routes of one host, or of all others.
pub(in crate::router) struct Site {
    /// The host in lower case, with a port if the site is only for that port; empty for all other hosts.
    pub(in crate::router) host: Box<str>,
    pub(in crate::router) table: Table<Handlers>,
    /// The routers of the host, the outermost first.
    pub(in crate::router) scopes: Box<[Scope]>,
    /// The prefixes of the host, the most specific first.
    pub(in crate::router) homes: Box<[Home]>,
}

/// The names of captures, in their order, and the options for decoding them.
#[derive(Clone, Copy)]
pub(in crate::router) struct Names<'a> {
    pub(in crate::router) names: &'a [Box<str>],
    pub(in crate::router) options: Segments,
}

impl<'a> Names<'a> {
    pub(in crate::router) fn of_route<T>(RouteEntry { names, options, .. }: RouteEntry<'a, T>) -> Self {
        Self { names, options }
    }
}

impl Handlers {
    /// Returns the entry that answers a method.
    #[inline]
    fn entry_of(&self, method: &str) -> u32 {
        let of =
            |method: &str| self.by_method.iter().find(|(own, _)| **own == *method).map(|(_, entry)| *entry);
        let found = of(method).or_else(|| if method == "HEAD" { of("GET") } else { None });
        found.or(self.any).unwrap_or(self.not_allowed)
    }
}

impl Site {
    /// Returns the number of the entry that answers, with the captures of the path.
    #[inline]
    pub(in crate::router) fn find(&self, method: &str, path: &[u8]) -> (u32, Captures) {
        match self.table.find(path) {
            Outcome::Found(found) => {
                let entry = found.value.entry_of(method);
                if entry == found.value.not_allowed && Method::standard(method).is_none() {
                    return self.of_scope(found.value.scope, path, |scope| scope.unknown_method);
                }
                (entry, found.captures)
            }
            other => self.without_route(&other, method, path),
        }
    }

    #[cold]
    fn without_route(&self, outcome: &Outcome<'_, Handlers>, method: &str, path: &[u8]) -> (u32, Captures) {
        match outcome {
            Outcome::Redirect(_, found) => self.of_scope(found.value.scope, path, |scope| scope.other_slash),
            Outcome::Refused(_, Some(handlers)) => {
                self.of_scope(handlers.scope, path, |scope| scope.malformed)
            }
            Outcome::Refused(_, None) => self.of_scope(self.home(path).1, path, |scope| scope.malformed),
            _ if Method::standard(method).is_none() => {
                self.of_scope(self.home(path).1, path, |scope| scope.unknown_method)
            }
            _ => self.of_scope(self.home(path).0, path, |scope| scope.not_found),
        }
    }

    /// Returns the routers of a path that matches no pattern: for unknown paths, and for all else.
    fn home(&self, path: &[u8]) -> (usize, usize) {
        let is_below = |home: &&Home| {
            self.scopes.get(home.prefix).is_some_and(|scope| scope.prefix.captures(path).is_some())
        };
        self.homes.iter().find(is_below).map_or((0, 0), |home| (home.not_found, home.scope))
    }

    /// Returns an entry of a router, with the captures of its prefix.
    #[cold]
    fn of_scope(&self, number: usize, path: &[u8], entry: impl Fn(&Scope) -> u32) -> (u32, Captures) {
        let scope = &self.scopes[number];
        (entry(scope), scope.prefix.captures(path).unwrap_or_default())
    }

    /// Returns the names of the captures of a router's prefix.
    pub(in crate::router) fn names_of(&self, scope: usize) -> Option<Names<'_>> {
        self.scopes.get(scope).map(|Scope { names, options, .. }| Names { names, options: *options })
    }
}
