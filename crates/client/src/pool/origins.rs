//! The origins that a client has called.
//!
//! Rule 1: the one called last is tried first: who calls one origin all the time pays for no look-up.
//! Rule 2: there are no more than there may be, beside those that calls and prepared requests hold. Of the
//! others those go first that have no connection, and of these the one that was not called for longest.

use std::{collections::HashMap, sync::Arc};

use crate::{pool::origin::Origin, url::location::path_within};

/// The length of the shortest origin at the beginning of a URL: `http://a`.
const PREFIX_MIN: usize = 8;

#[derive(Default)]
pub(crate) struct Origins {
    /// The origins by the prefix of their URLs.
    known: HashMap<Arc<str>, Known>,
    last: Option<Arc<Origin>>,
    /// The number of calls to another origin than the one before.
    changes: u64,
}

struct Known {
    origin: Arc<Origin>,
    /// The count of changes at its last call. Whichever changed to it later was called later.
    called: u64,
}

impl Origins {
    /// Returns the origin of this URL and its path, if the origin is known and the path needs no normalising.
    /// Allocates nothing.
    #[inline]
    pub(crate) fn find<'u>(&mut self, url: &'u str) -> Option<(Arc<Origin>, &'u str)> {
        if let Some(last) = &self.last
            && let Some(path) = path_within(&last.prefix, url)
        {
            return Some((last.clone(), path));
        }
        let prefix = prefix_of(url);
        let path = path_within(prefix, url)?;
        Some((self.get(prefix)?, path))
    }

    /// Returns the origin with this prefix.
    pub(crate) fn get(&mut self, prefix: &str) -> Option<Arc<Origin>> {
        let known = self.known.get_mut(prefix)?;
        self.changes += 1;
        known.called = self.changes;
        self.last = Some(known.origin.clone());
        Some(known.origin.clone())
    }

    /// Adds an origin; returns one that is forgotten for it, to be dropped without the lock.
    pub(crate) fn add(&mut self, origin: Arc<Origin>, most: usize) -> Option<Arc<Origin>> {
        self.last = None;
        let forgotten = if self.known.len() < most { None } else { self.forget_one() };
        self.changes += 1;
        let known = Known { origin: origin.clone(), called: self.changes };
        self.known.insert(origin.prefix.clone(), known);
        self.last = Some(origin);
        forgotten
    }

    /// Returns an iterator over all origins.
    #[cfg(feature = "blocking")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Origin>> {
        self.known.values().map(|known| &known.origin)
    }

    fn forget_one(&mut self) -> Option<Arc<Origin>> {
        // An origin in use must stay: a second one of its name would open connections beyond the limits.
        let not_held = self.known.iter().filter(|(_, known)| Arc::strong_count(&known.origin) == 1);
        let (prefix, _) =
            not_held.min_by_key(|(_, known)| (!known.origin.is_without_connections(), known.called))?;
        let prefix = prefix.clone();
        self.known.remove(&prefix).map(|known| known.origin)
    }

    #[cfg(test)]
    fn prefixes(&self) -> Vec<&str> {
        let mut prefixes: Vec<&str> = self.known.keys().map(|prefix| &**prefix).collect();
        prefixes.sort_unstable();
        prefixes
    }
}

/// Returns the part of this URL that would be its origin.
fn prefix_of(url: &str) -> &str {
    let bytes = url.as_bytes().iter().skip(PREFIX_MIN);
    match bytes.clone().position(|byte| *byte == b'/') {
        Some(place) => &url[..PREFIX_MIN + place],
        None => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client::Client, url::location::Location};

    fn origin(host: &str) -> Arc<Origin> {
        let client = Client::new().unwrap();
        let location = Location::parse(&format!("http://{host}/")).unwrap();
        Arc::new(Origin::new(&location, client.route_settings().clone(), None))
    }

    #[test]
    fn the_origin_ends_where_the_path_begins() {
        for (url, prefix) in [
            ("http://a/b/c", "http://a"),
            ("http://a", "http://a"),
            ("https://example.com:8443/?q=/", "https://example.com:8443"),
            ("http://", "http://"),
            ("", ""),
            ("http:///é/", "http:///é"),
        ] {
            assert_eq!(prefix_of(url), prefix, "{url}");
        }
    }

    #[test]
    fn the_one_that_was_not_called_for_longest_is_forgotten() {
        let mut origins = Origins::default();
        for host in ["a", "b", "c"] {
            assert!(origins.add(origin(host), 3).is_none());
        }
        assert_eq!(origins.find("http://a/x").map(|(_, path)| path), Some("/x"));
        assert_eq!(origins.find("http://d/x").map(|(_, path)| path), None);
        let forgotten = origins.add(origin("d"), 3).expect("there are too many");
        assert_eq!(
            (&*forgotten.prefix, &*origins.prefixes()),
            ("http://b", &["http://a", "http://c", "http://d"][..])
        );
    }

    #[test]
    fn what_is_held_is_not_forgotten() {
        let mut origins = Origins::default();
        let held = origin("a");
        origins.add(held.clone(), 1);
        assert!(origins.add(origin("b"), 1).is_none(), "the only other one is held");
        assert_eq!(&*origins.add(origin("c"), 1).expect("one is not held").prefix, "http://b");
        drop(held);
        assert_eq!(&*origins.add(origin("d"), 1).expect("neither is held").prefix, "http://a");
    }
}
