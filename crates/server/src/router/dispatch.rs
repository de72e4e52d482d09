//! The way of a request to its handler.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use alula_fields::Captures;

#[cfg(feature = "decoding")]
use super::decoding;
use super::{
    app::App,
    entry::{ContentRefusal, Entry},
    hook::{Begun, Ended, Hook},
    routes::{Compiled, Routes},
};
use crate::{
    answer::{Answer, ended::EndedRequest},
    connection::{
        endpoint::{Endpoint, IntoService, NO_ENTRY, Notes, Service},
        work::Running,
    },
    exchange::Exchange,
    observe::failure::RequestFacts,
};

impl Endpoint for Routes {
    fn app(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Routes::app(self))
    }

    fn lend(&self) -> Option<Running> {
        None
    }

    fn begin(
        &self,
        mut exchange: Exchange,
        within: &mut Option<Running>,
        notes: Notes<'_>,
    ) -> Option<Answer> {
        let entry = match self.compiled.route(&mut exchange, notes) {
            Ok(found) => found,
            Err(answer) => return Some(answer),
        };
        let outermost = entry.layers.len() - 1;
        exchange.stand_in(outermost);
        let mut of_layer = NO_ENTRY;
        let of_layer = Notes { entry: &mut of_layer, facts: None };
        let _ = entry.layers[outermost].begin(exchange, within, of_layer);
        if let Some(running) = within {
            running.detach(entry.terms.is_detached);
        }
        None
    }

    fn sees_ends(&self) -> bool {
        self.compiled.has_hooks
    }

    fn pattern(&self, entry: u32) -> Option<&str> {
        self.compiled.place_of(entry).map(|place| place.pattern)
    }

    #[cold]
    fn ended(&self, request: &EndedRequest<'_>) {
        let route = self.compiled.place_of(request.entry).map(|place| place.pattern);
        let ended = Ended { request, route };
        for hook in self.compiled.entry(request.entry).into_iter().flat_map(|entry| &entry.hooks) {
            // One that panics is no reason for the others not to see the end.
            let _ = catch_unwind(AssertUnwindSafe(|| hook.end(&ended)));
        }
    }
}

impl IntoService for Routes {
    fn into_service(self) -> Service {
        Service(Arc::new(self))
    }
}

impl Compiled {
    /// Records the route of a request with its captures, and returns the entry that answers; or the answer of
    /// a hook.
    #[inline]
    fn route(&self, exchange: &mut Exchange, notes: Notes<'_>) -> Result<&Entry, Answer> {
        let (number, captures) = self.find(exchange);
        *notes.entry = number;
        exchange.route_to(number, captures);
        let entry = &self.entries[number as usize];
        if !entry.hooks.is_empty()
            && let Some(answer) = self.begin_hooks(&entry.hooks, exchange, number, notes.facts)
        {
            return Err(answer);
        }
        // The bytes of a tunnel follow the answer to CONNECT.
        if !entry.filters.is_empty() && exchange.request().method() != "CONNECT" {
            exchange.filter();
        }
        match self.keep_terms(entry, exchange) {
            Ok(()) => Ok(entry),
            Err(refusal) => Ok(self.refuse(entry, refusal, exchange, &captures)),
        }
    }

    /// Returns the entry that answers in place of the route, with the same layers.
    #[cold]
    fn refuse(
        &self,
        entry: &Entry,
        refusal: ContentRefusal,
        exchange: &mut Exchange,
        captures: &Captures,
    ) -> &Entry {
        let number = match refusal {
            ContentRefusal::TooLong => entry.refusals.too_long,
            #[cfg(feature = "decoding")]
            ContentRefusal::Coding => entry.refusals.unknown_coding,
        };
        exchange.route_to(number, *captures);
        &self.entries[number as usize]
    }

    /// Applies the settings of a route, and refuses content that exceeds them by its fields.
    #[inline]
    fn keep_terms(&self, entry: &Entry, exchange: &mut Exchange) -> Result<(), ContentRefusal> {
        let terms = entry.terms;
        if terms.allows_slow_peer {
            exchange.allow_slow_peer();
        }
        if let Some(bytes) = terms.content_max {
            exchange.unread_body().set_content_max(bytes);
        }
        #[cfg(feature = "decoding")]
        if terms.decodes && decoding::begin(exchange, &self.decoders)? {
            return Ok(());
        }
        match terms.content_max {
            // A length that is stated is refused before any content is sent or read.
            Some(bytes) if exchange.request().states_more_than(bytes as u64) => Err(ContentRefusal::TooLong),
            Some(bytes) if !exchange.unread_body().is_ended() => {
                exchange.body().bound_content(bytes);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Shows a request to all hooks, so that each sees as many beginnings as ends. The first answer of one
    /// counts.
    ///
    /// # Panics
    /// One of them has panicked, once the others have seen it.
    fn begin_hooks(
        &self,
        hooks: &[Arc<dyn Hook>],
        exchange: &mut Exchange,
        entry: u32,
        facts: Option<&mut RequestFacts>,
    ) -> Option<Answer> {
        let (route, peer) = (self.place_of(entry).map(|place| place.pattern), exchange.peer());
        let request = exchange.request_mut();
        let mut begun = Begun { request, headers: None, peer, route, facts, is_answered: false };
        let (mut planned, mut panicked) = (None, None);
        for hook in hooks {
            match catch_unwind(AssertUnwindSafe(|| hook.begin(&mut begun))) {
                Ok(answer) => {
                    begun.is_answered |= answer.is_some();
                    planned = planned.or(answer);
                }
                Err(panic) => {
                    begun.is_answered = true;
                    panicked = panicked.or(Some(panic));
                }
            }
        }
        if let Some(headers) = begun.headers {
            exchange.keep_answer_headers(headers);
        }
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
        planned
    }

    #[inline]
    fn find(&self, exchange: &Exchange) -> (u32, Captures) {
        let request = exchange.request();
        match self.site(|| request.authority()) {
            Some(site) => site.find(request.method(), request.path_alone()),
            // There is always the site of all others.
            None => (0, Captures::NONE),
        }
    }
}

impl<S> Exchange<S> {
    /// Passes the request to the next inner layer.
    pub(super) fn hand_on(mut self) -> Running {
        let inner = self.layer().checked_sub(1);
        let lent = inner.and_then(|inner| {
            let entry = self.app()?.routes.entry(self.entry())?;
            entry.layers.get(inner)?.lend()
        });
        let mut running = lent.unwrap_or_default();
        self.stand_in(inner.unwrap_or_default());
        running.start(self.for_state());
        running
    }

    /// Returns the program of the connection.
    pub(super) fn app(&self) -> Option<&App> {
        self.any_app()?.downcast_ref()
    }
}
