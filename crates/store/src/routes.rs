//! The routes of a store, for a server.

use alula::{RouteError, Router, Routes};

use crate::engine::Engine;
use crate::http::router;
use crate::store::Store;

impl<E: Engine> Store<E> {
    /// Returns the routes of the store, to which hooks, layers and other routes can be added.
    pub fn router(&self) -> Router<Self> {
        router(self.clone())
    }

    /// Returns the routes of the store, for a server.
    ///
    /// # Errors
    /// Two routes are in conflict, which a test rules out.
    pub fn routes(&self) -> Result<Routes, RouteError> {
        self.router().build()
    }
}
