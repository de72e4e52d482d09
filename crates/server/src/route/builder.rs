//! Routes before they are compiled.

use std::collections::BTreeMap;

use super::cut::Cut;
use super::error::{Mistake, RouteError};
use super::pattern::{Part, Pattern};
use super::segments::{Segments, TrailingSlash};
use super::table::Table;

/// Patterns and their values; no two match the same paths.
pub(crate) struct Builder<T> {
    options: Segments,
    routes: Vec<Route<T>>,
    taken: BTreeMap<Key, usize>,
}

/// A pattern, its options, and its value.
pub(super) struct Route<T> {
    pub(super) pattern: Pattern,
    pub(super) options: Segments,
    pub(super) value: T,
}

/// The shape of a pattern, and whether it ends in a slash.
type Key = (Vec<Part>, bool);

impl<T> Builder<T> {
    pub(crate) const fn new(options: Segments) -> Self {
        Self { options, routes: Vec::new(), taken: BTreeMap::new() }
    }

    /// Adds a pattern.
    ///
    /// # Errors
    /// It is malformed, or there is one that matches the same paths.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn insert(&mut self, pattern: &str, value: T) -> Result<(), RouteError> {
        let pattern = Pattern::parse(pattern, self.options)?;
        self.add(Route { pattern, options: self.options, value }, |_, _| false)
    }

    /// Adds a pattern with its own options, which have to agree on the separators of segments. `merge` puts
    /// its value into one that is there for the same paths, and returns false if it cannot.
    ///
    /// # Errors
    /// It is malformed, segments are separated by another rule, or there is one that matches the same paths
    /// and is not merged.
    pub(crate) fn put(
        &mut self,
        pattern: &str,
        options: Segments,
        value: T,
        merge: impl FnMut(&mut T, T) -> bool,
    ) -> Result<(), RouteError> {
        if Cut::of(options) != Cut::of(self.options) {
            return Err(RouteError::new(pattern, 0, Mistake::OtherCut));
        }
        let pattern = Pattern::parse(pattern, options)?;
        self.add(Route { pattern, options, value }, merge)
    }

    /// Compiles the routes; none can be added later.
    pub(crate) fn build(self) -> Table<T> {
        super::compile::table(self.options, self.routes)
    }

    fn add(&mut self, route: Route<T>, mut merge: impl FnMut(&mut T, T) -> bool) -> Result<(), RouteError> {
        let Some(number) = self.same_paths(&route.pattern, route.options) else {
            self.taken.insert(key(&route.pattern), self.routes.len());
            self.routes.push(route);
            return Ok(());
        };
        let there = self.named_alike(number, &route.pattern)?;
        if merge(&mut there.value, route.value) {
            return Ok(());
        }
        Err(RouteError::new(&route.pattern.text, 0, Mistake::Taken(there.pattern.text.clone())))
    }

    /// Returns the route for the same paths, if there is one.
    fn same_paths(&self, pattern: &Pattern, options: Segments) -> Option<usize> {
        let (shape, has_slash) = key(pattern);
        let other = self.taken.get(&(shape.clone(), !has_slash)).copied();
        let ignores = |options: Segments| options.trailing_slash == TrailingSlash::Ignore;
        let other = other.filter(|&number| ignores(options) || ignores(self.routes[number].options));
        self.taken.get(&(shape, has_slash)).copied().or(other)
    }

    fn named_alike(&mut self, number: usize, pattern: &Pattern) -> Result<&mut Route<T>, RouteError> {
        let there = &mut self.routes[number];
        if there.pattern.names().eq(pattern.names()) {
            return Ok(there);
        }
        Err(RouteError::new(&pattern.text, 0, Mistake::OtherNames(there.pattern.text.clone())))
    }
}

fn key(pattern: &Pattern) -> Key {
    (pattern.shape(), pattern.has_slash)
}
