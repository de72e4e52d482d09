//! The state of a program for its handlers.

use std::{any::Any, fmt, ops::Deref, sync::Arc};

/// An owned handle of the state of a router, which derefs to the state.
///
/// It can be cloned and kept. Connections have their own counts of these handles, so that taking one writes
/// to no memory that connections share.
pub struct State<S>(Arc<Shared<S>>);

/// The state on one connection.
pub(crate) struct Shared<S>(Arc<S>);

/// The state of one connection, of any type.
pub(crate) type AnyState = Arc<dyn Any + Send + Sync>;

impl<S: Send + Sync + 'static> State<S> {
    /// Returns the state for one more connection.
    pub(crate) fn for_connection(state: &Arc<S>) -> AnyState {
        Arc::new(Shared(state.clone()))
    }

    pub(crate) fn of(state: AnyState) -> Option<Self> {
        state.downcast().ok().map(Self)
    }
}

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.0.0
    }
}

impl<S: fmt::Debug> fmt::Debug for State<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
