//! A handler of compiled routes, with the layers around it and the settings of its requests.

use std::sync::Arc;

use super::{filter::Filter, hook::Hook};
use crate::connection::endpoint::Endpoint;

/// The settings of a route's requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouteSettings {
    /// The handler finishes even if nobody waits for its answer.
    pub(super) is_detached: bool,
    pub(super) allows_slow_peer: bool,
    /// The most bytes of content.
    pub(super) content_max: Option<usize>,
    /// Coded content is decoded.
    #[cfg(feature = "decoding")]
    pub(super) decodes: bool,
}

impl RouteSettings {
    /// Returns true if content may be refused before the handler is called.
    pub(super) fn may_refuse(self) -> bool {
        #[cfg(feature = "decoding")]
        if self.decodes {
            return true;
        }
        self.content_max.is_some()
    }
}

/// The reason for which the content of a request is refused before its handler is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ContentRefusal {
    TooLong,
    /// The content is in an unknown coding, or in too many.
    #[cfg(feature = "decoding")]
    Coding,
}

/// The number of a site, and of the part of it that an entry belongs to.
#[derive(Clone, Copy)]
pub(super) enum PlaceNumber {
    /// A pattern of the table.
    Route(usize, usize),
    /// A router, for requests without a route.
    Scope(usize, usize),
}

/// The filters of a route, the first one added first.
pub(crate) type Filters = Arc<[Arc<dyn Filter>]>;

/// Layers, filters and hooks around handlers, the first one added first.
#[derive(Clone, Default)]
pub(super) struct Around {
    wraps: Vec<Arc<dyn Endpoint>>,
    filters: Vec<Arc<dyn Filter>>,
    hooks: Vec<Arc<dyn Hook>>,
    /// The place of the first layer in which requests wait for their turn.
    queue: Option<usize>,
}

/// The entries that refuse content in place of a route, within the same layers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refusals {
    pub(super) too_long: u32,
    #[cfg(feature = "decoding")]
    pub(super) unknown_coding: u32,
}

pub(super) struct Entry {
    /// The handler, then the layers around it, the innermost first.
    pub(super) layers: Box<[Arc<dyn Endpoint>]>,
    pub(super) filters: Filters,
    pub(super) hooks: Box<[Arc<dyn Hook>]>,
    pub(super) terms: RouteSettings,
    /// The entries for refused content; used only if some may be refused.
    pub(super) refusals: Refusals,
    pub(super) place: PlaceNumber,
}

impl Around {
    /// Adds a layer inside the present ones.
    pub(super) fn add_wrap(&mut self, wrap: Arc<dyn Endpoint>) {
        self.wraps.push(wrap);
    }

    /// Adds a layer in which requests wait for their turn, inside the present ones.
    pub(super) fn add_queue(&mut self, wrap: Arc<dyn Endpoint>) {
        self.queue.get_or_insert(self.wraps.len());
        self.add_wrap(wrap);
    }

    /// Adds a layer that limits the time of requests, outside those in which they wait: the wait counts.
    pub(super) fn add_time_limit(&mut self, wrap: Arc<dyn Endpoint>) {
        self.wraps.insert(self.queue.unwrap_or(self.wraps.len()), wrap);
        self.queue = self.queue.map(|at| at + 1);
    }

    /// Adds a filter that sees answers before the present ones.
    pub(super) fn add_filter(&mut self, filter: impl Filter) {
        self.filters.push(Arc::new(filter));
    }

    /// Adds a hook that sees requests after the present ones.
    pub(super) fn add_hook(&mut self, hook: impl Hook) {
        self.hooks.push(Arc::new(hook));
    }

    /// Returns the number of layers.
    pub(super) fn layers(&self) -> usize {
        self.wraps.len()
    }

    /// Returns these layers, filters and hooks with those of `outer` around them.
    pub(super) fn within(mut self, outer: &Self) -> Self {
        self.wraps.splice(0..0, outer.wraps.iter().cloned());
        self.queue = self.queue.map(|at| at + outer.wraps.len());
        self.filters.splice(0..0, outer.filters.iter().cloned());
        self.hooks.splice(0..0, outer.hooks.iter().cloned());
        self
    }
}

impl Entry {
    pub(super) fn new(handler: Arc<dyn Endpoint>, around: Around, place: PlaceNumber) -> Self {
        let Around { wraps, filters, hooks, .. } = around;
        Self {
            layers: std::iter::once(handler).chain(wraps.into_iter().rev()).collect(),
            filters: filters.into(),
            hooks: hooks.into(),
            terms: RouteSettings::default(),
            refusals: Refusals::default(),
            place,
        }
    }
}
