//! Compiled routes: entries, and the tables that lead to them.

use std::sync::Arc;

#[cfg(feature = "decoding")]
use alula_coding::DecoderPool;

use super::{
    app::App,
    entry::{Entry, PlaceNumber},
    hook::Hook,
    state::AnyState,
};
use crate::route::{RouteEntry, Table};

/// A router that is ready to be served. A clone is the same routes, for another server of the process.
#[derive(Clone)]
pub struct Routes {
    pub(super) compiled: Arc<Compiled>,
    /// Makes the state of a connection.
    pub(super) state: Arc<dyn Fn() -> AnyState + Send + Sync>,
}

/// The handlers of one pattern.
pub(super) struct Handlers {
    /// By method, the most usual first.
    pub(super) by_method: Box<[(Box<str>, u32)]>,
    pub(super) any: Option<u32>,
    /// The entry for methods without a handler.
    pub(super) not_allowed: u32,
    /// The value of `allow` (RFC 9110 §10.2.1).
    pub(super) allow: Box<str>,
}

/// The routes of one host, or of all others.
pub(super) struct Site {
    /// In lower case, with a port if it is only for that; empty for all others.
    pub(super) host: Box<str>,
    pub(super) table: Table<Handlers>,
    /// The entry for unknown paths.
    pub(super) not_found: u32,
}

pub(super) struct Compiled {
    /// The site of all other hosts comes last.
    pub(super) sites: Box<[Site]>,
    pub(super) entries: Box<[Entry]>,
    pub(super) hooks: Box<[Box<dyn Hook>]>,
    /// The entry for requests with more content than their routes take.
    pub(super) too_long: u32,
    /// The entry for requests with content in codings that their routes do not take.
    #[cfg(feature = "decoding")]
    pub(super) unknown_coding: u32,
    /// The decoders of all routes.
    #[cfg(feature = "decoding")]
    pub(super) decoders: Arc<DecoderPool>,
    /// The entry for methods that no route knows (RFC 9110 §15.6.2).
    pub(super) unknown_method: u32,
    /// The entry for paths that break the options of the router.
    pub(super) malformed: u32,
    /// The entry for redirects to the same path with another slash.
    pub(super) other_slash: u32,
}

impl Routes {
    pub(crate) fn app(&self) -> Arc<App> {
        Arc::new(App { routes: self.compiled.clone(), state: (self.state)() })
    }
}

impl Handlers {
    /// The entry that answers a method.
    #[inline]
    pub(super) fn entry_of(&self, method: &str) -> u32 {
        let of =
            |method: &str| self.by_method.iter().find(|(own, _)| **own == *method).map(|(_, entry)| *entry);
        let found = of(method).or_else(|| if method == "HEAD" { of("GET") } else { None });
        found.or(self.any).unwrap_or(self.not_allowed)
    }
}

impl Compiled {
    pub(super) fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    pub(super) fn place(&self, (site, place): PlaceNumber) -> Option<RouteEntry<'_, Handlers>> {
        self.sites.get(site)?.table.place(place)
    }

    /// The pattern that an entry stands for.
    pub(super) fn place_of(&self, entry: u32) -> Option<RouteEntry<'_, Handlers>> {
        self.place(self.entry(entry)?.place?)
    }

    /// The site of a host.
    #[inline]
    pub(super) fn site<'a>(&self, authority: impl FnOnce() -> Option<&'a str>) -> Option<&Site> {
        match &*self.sites {
            [only] => Some(only),
            sites => authority().and_then(|host| named(sites, host)).or(sites.last()),
        }
    }
}

fn named<'s>(sites: &'s [Site], authority: &str) -> Option<&'s Site> {
    let host = alula_fields::Authority::parse(authority).map_or(authority, |authority| authority.host());
    let is_of =
        |site: &&Site| site.host.eq_ignore_ascii_case(authority) || site.host.eq_ignore_ascii_case(host);
    sites.iter().find(is_of)
}
