//! The program of a connection: its routes, and its state.

use std::sync::Arc;

use alula_fields::{FieldSection, Status};
use alula_net::Stream;

use super::{entry::Filters, routes::Compiled, state::AnyState};

/// The state and routes shared by the exchanges of one connection, through which they find them.
pub(crate) struct App {
    pub(super) routes: Arc<Compiled>,
    pub(super) state: AnyState,
}

impl App {
    #[inline]
    pub(crate) fn has_hooks(&self) -> bool {
        self.routes.has_hooks
    }

    /// Adds the fields that hooks have planned for the answer on this stream, and shows its head to the hooks
    /// of its route.
    pub(crate) fn see_head(&self, stream: &Stream, entry: u16, status: Status, headers: &mut FieldSection) {
        stream.add_answer_headers(headers);
        let hooks = self.routes.entry(entry.into()).into_iter().flat_map(|entry| &entry.hooks);
        hooks.for_each(|hook| hook.head(status, headers));
    }

    /// Returns the filters of a route.
    pub(crate) fn filters(&self, entry: u16) -> Option<Filters> {
        self.routes.entry(entry.into()).map(|entry| entry.filters.clone())
    }

    pub(crate) fn state(&self) -> AnyState {
        self.state.clone()
    }
}
