//! Compiled routes: entries, and the tables for finding them.

use std::sync::Arc;

#[cfg(feature = "decoding")]
use alula_coding::DecoderPool;

use super::{
    app::App,
    build::site::{Handlers, Names, Site},
    entry::{Entry, PlaceNumber},
    state::AnyState,
};
use crate::route::RouteEntry;

/// A router that is ready to serve. A clone is the same routes, for another server of the process.
#[derive(Clone)]
pub struct Routes {
    pub(super) compiled: Arc<Compiled>,
    /// Creates the state of a connection.
    pub(super) state: Arc<dyn Fn() -> AnyState + Send + Sync>,
}

pub(super) struct Compiled {
    /// The sites, the one for all other hosts last.
    pub(super) sites: Box<[Site]>,
    pub(super) entries: Box<[Entry]>,
    /// True if one of the routers has hooks.
    pub(super) has_hooks: bool,
    /// The decoders of all routes.
    #[cfg(feature = "decoding")]
    pub(super) decoders: Arc<DecoderPool>,
}

impl Routes {
    pub(crate) fn app(&self) -> Arc<App> {
        Arc::new(App { routes: self.compiled.clone(), state: (self.state)() })
    }
}

impl Compiled {
    pub(super) fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    /// Returns the pattern of an entry, if it belongs to a route.
    pub(super) fn place_of(&self, entry: u32) -> Option<RouteEntry<'_, Handlers>> {
        match self.entry(entry)?.place {
            PlaceNumber::Route(site, place) => self.sites.get(site)?.table.place(place),
            PlaceNumber::Scope(..) => None,
        }
    }

    /// Returns the names of the captures of an entry's requests, and the options for decoding them.
    pub(super) fn names_of(&self, entry: u32) -> Option<Names<'_>> {
        match self.entry(entry)?.place {
            PlaceNumber::Route(site, place) => self.sites.get(site)?.table.place(place).map(Names::of_route),
            PlaceNumber::Scope(site, scope) => self.sites.get(site)?.names_of(scope),
        }
    }

    /// Returns the site of a host.
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
