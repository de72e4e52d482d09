//! One handler of compiled routes: the layers around it, and what holds for its requests.

use std::sync::Arc;

use super::filter::Filter;
use crate::endpoint::Endpoint;

/// The terms of the requests of a route.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouteSettings {
    /// A handler finishes though nobody waits for its answer.
    pub(super) is_detached: bool,
    pub(super) allows_slow_peer: bool,
    /// The octets that the content of a request may have.
    pub(super) content_max: Option<usize>,
    /// Content in codings is decoded.
    #[cfg(feature = "decoding")]
    pub(super) decodes: bool,
}

/// The reason for which the content of a request is refused before its handler is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ContentRefusal {
    TooLong,
    /// It is in a coding that is not known, or in too many.
    #[cfg(feature = "decoding")]
    Coding,
}

/// The number of a table among the tables of hosts, and that of a pattern in it.
pub(super) type PlaceNumber = (usize, usize);

/// The filters of a route, the first one to be added first.
pub(crate) type Filters = Arc<[Arc<dyn Filter>]>;

/// Layers and filters around handlers, the first one to be added first.
#[derive(Clone, Default)]
pub(super) struct Around {
    wraps: Vec<Arc<dyn Endpoint>>,
    filters: Vec<Arc<dyn Filter>>,
}

pub(super) struct Entry {
    /// The handler, then the layers around it, the innermost first.
    pub(super) layers: Box<[Arc<dyn Endpoint>]>,
    pub(super) filters: Filters,
    pub(super) terms: RouteSettings,
    /// Its pattern, if it has one.
    pub(super) place: Option<PlaceNumber>,
}

impl Around {
    /// Adds a layer within those that are there.
    pub(super) fn add_wrap(&mut self, wrap: Arc<dyn Endpoint>) {
        self.wraps.push(wrap);
    }

    /// Adds a filter that sees answers before those that are there.
    pub(super) fn add_filter(&mut self, filter: impl Filter) {
        self.filters.push(Arc::new(filter));
    }

    /// These, within others.
    pub(super) fn within(mut self, outer: &Self) -> Self {
        self.wraps.splice(0..0, outer.wraps.iter().cloned());
        self.filters.splice(0..0, outer.filters.iter().cloned());
        self
    }
}

impl Entry {
    pub(super) fn new(handler: Arc<dyn Endpoint>, around: Around, terms: RouteSettings) -> Self {
        let layers = std::iter::once(handler).chain(around.wraps.into_iter().rev()).collect();
        Self { layers, filters: around.filters.into(), terms, place: None }
    }
}
