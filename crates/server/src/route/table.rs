//! The compiled trie, and the search for a path in it.

use super::builder::Builder;
use super::cut::{Cut, KEY_BYTES, Next, Segment};
use super::judge::{Refused, refusal};
use super::redirect::SlashChange;
use super::segments::{Segments, TrailingSlash};
use alula_fields::Captures;

/// Compiled routes: values by the paths that their patterns match. Never changes, so that any number of
/// threads may search.
pub(crate) struct Table<T> {
    pub(super) options: Segments,
    pub(super) cut: Cut,
    pub(super) nodes: Vec<Node>,
    pub(super) leaves: Vec<Leaf<T>>,
}

/// The place behind a segment of some patterns.
pub(super) struct Node {
    /// The keys of the literals that may follow, in ascending order. They lie apart, so that a search reads
    /// nothing else before it has found one.
    pub(super) keys: Box<[u64]>,
    /// The literals, in the order of their keys.
    pub(super) literals: Box<[Edge]>,
    /// The node behind a capture.
    pub(super) capture: Option<usize>,
    /// The patterns that continue with `{*rest}`, that end here, and that end here with a slash.
    pub(super) rest: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) end_slash: Option<usize>,
}

/// A literal, whose first bytes are its key: its length, the other bytes, and the next node.
pub(super) struct Edge {
    pub(super) len: usize,
    pub(super) tail: Box<[u8]>,
    pub(super) node: usize,
}

impl Node {
    /// Returns the node after the literal that equals a segment.
    #[inline(always)]
    fn literal(&self, path: &[u8], segment: Segment) -> Option<usize> {
        if self.keys.is_empty() {
            return None;
        }
        let mut at = self.keys.partition_point(|&key| key < segment.key);
        while self.keys.get(at) == Some(&segment.key) {
            let edge = self.literals.get(at)?;
            if edge.is_same(path, segment) {
                return Some(edge.node);
            }
            at += 1;
        }
        None
    }
}

impl Edge {
    /// Returns true if a segment with this literal's key equals the literal.
    #[inline]
    fn is_same(&self, path: &[u8], segment: Segment) -> bool {
        let len = segment.end - segment.start;
        self.len == len && (len <= KEY_BYTES || *self.tail == path[segment.start + KEY_BYTES..segment.end])
    }
}

/// A pattern and its value.
pub(super) struct Leaf<T> {
    pub(super) value: T,
    pub(super) pattern: Box<str>,
    pub(super) names: Box<[Box<str>]>,
    pub(super) options: Segments,
}

/// The outcome of a search.
pub(crate) enum Outcome<'t, T> {
    /// A pattern matches.
    Found(Found<'t, T>),
    /// The path matches nothing, but a pattern under [`TrailingSlash::Redirect`] would match it with its
    /// trailing slash changed.
    Redirect(SlashChange, Found<'t, T>),
    /// The options refuse the path: 400. The value is that of the pattern that would match, if there is one.
    Refused(Refused, Option<&'t T>),
    /// The path matches no pattern.
    Unknown,
}

/// A pattern that matches a path.
pub(crate) struct Found<'t, T> {
    pub(crate) value: &'t T,
    pub(crate) captures: Captures,
    /// The options of the pattern, by which captures are decoded.
    pub(crate) options: Segments,
}

/// A pattern of a table, with its details.
#[derive(Clone, Copy)]
pub(crate) struct RouteEntry<'t, T> {
    pub(crate) value: &'t T,
    /// The pattern as it was written, with its prefixes.
    pub(crate) pattern: &'t str,
    /// The names of the captures, as many as there are captures.
    pub(crate) names: &'t [Box<str>],
    pub(crate) options: Segments,
}

impl<T> Table<T> {
    /// Returns the same table with other values.
    pub(crate) fn map<U>(self, mut change: impl FnMut(T) -> U) -> Table<U> {
        let leaf =
            |Leaf { value, pattern, names, options }| Leaf { value: change(value), pattern, names, options };
        let Self { options, cut, nodes, leaves } = self;
        let leaves = leaves.into_iter().map(leaf).collect();
        Table { options, cut, nodes, leaves }
    }

    /// Returns the patterns, by their number.
    #[cfg(test)]
    pub(crate) fn places(&self) -> impl Iterator<Item = RouteEntry<'_, T>> {
        self.leaves.iter().map(Leaf::place)
    }

    /// Returns the pattern of a number.
    pub(crate) fn place(&self, number: usize) -> Option<RouteEntry<'_, T>> {
        self.leaves.get(number).map(Leaf::place)
    }

    /// Returns a builder of a table.
    pub(crate) const fn builder(options: Segments) -> Builder<T> {
        Builder::new(options)
    }

    /// Searches for a path without its query. Allocates nothing.
    ///
    /// A path that does not begin with a slash, as that of `OPTIONS *`, is unknown; so is one of 4 GiB.
    #[inline]
    pub(crate) fn find(&self, path: &[u8]) -> Outcome<'_, T> {
        if path.first() != Some(&b'/') || u32::try_from(path.len()).is_err() {
            return Outcome::Unknown;
        }
        let captures = Captures::default();
        let mut search = Search { table: self, path, captures, is_doubtful: false, redirect: None };
        match search.descend(0, 0) {
            Some(leaf) if !search.is_doubtful => Outcome::Found(self.found(leaf, &search.captures)),
            Some(leaf) => self.judged(leaf, &search.captures, path, None),
            None => self.unmatched(search.redirect, path),
        }
    }

    #[cold]
    fn unmatched(&self, redirect: Option<Redirect>, path: &[u8]) -> Outcome<'_, T> {
        match redirect {
            Some(Redirect { change, leaf, captures }) => self.judged(leaf, &captures, path, Some(change)),
            None => match refusal(&path[1..], self.options) {
                Some(refused) => Outcome::Refused(refused, None),
                None => Outcome::Unknown,
            },
        }
    }

    /// Checks the captures; literals have nothing that their options refuse.
    #[inline(never)]
    fn judged(
        &self,
        leaf: usize,
        captures: &Captures,
        path: &[u8],
        change: Option<SlashChange>,
    ) -> Outcome<'_, T> {
        let found = self.found(leaf, captures);
        if let Some(refused) = captures.spans().find_map(|span| refusal(&path[span], found.options)) {
            return Outcome::Refused(refused, Some(found.value));
        }
        match change {
            None => Outcome::Found(found),
            Some(change) => Outcome::Redirect(change, found),
        }
    }

    #[inline]
    fn found(&self, leaf: usize, captures: &Captures) -> Found<'_, T> {
        let Leaf { value, options, .. } = &self.leaves[leaf];
        Found { value, captures: *captures, options: *options }
    }

    #[inline]
    fn rule(&self, leaf: usize) -> TrailingSlash {
        self.leaves[leaf].options.trailing_slash
    }
}

impl<T> Leaf<T> {
    fn place(&self) -> RouteEntry<'_, T> {
        RouteEntry { value: &self.value, pattern: &self.pattern, names: &self.names, options: self.options }
    }
}

/// A search in progress, with its captures so far.
struct Search<'a, T> {
    table: &'a Table<T>,
    path: &'a [u8],
    captures: Captures,
    /// A rule may refuse a captured part, perhaps one on a path of the search that failed.
    is_doubtful: bool,
    redirect: Option<Redirect>,
}

/// A match that needs another trailing slash.
struct Redirect {
    change: SlashChange,
    leaf: usize,
    captures: Captures,
}

/// A `{*rest}` that was passed on the way down, used if nothing better matches.
#[derive(Clone, Copy)]
struct Rest {
    leaf: usize,
    start: usize,
    captures: usize,
}

impl<T> Search<'_, T> {
    /// Searches below a node, after the segment that ends at `at`; returns the leaf of the matching pattern.
    ///
    /// It calls itself where there are both a literal and a capture to try, so less often than a pattern has
    /// segments.
    fn descend(&mut self, node: usize, at: usize) -> Option<usize> {
        let table = self.table;
        let (mut node, mut at) = (&table.nodes[node], at);
        let mut rest: Option<Rest> = None;
        loop {
            let segment = match table.cut.next(self.path, at) {
                Next::Segment(segment) => segment,
                Next::Slash(len) => match self.at_slash(node, len) {
                    Some(leaf) => return Some(leaf),
                    None => break,
                },
                Next::End => match self.at_end(node) {
                    Some(leaf) => return Some(leaf),
                    None => break,
                },
            };
            if let Some(leaf) = node.rest {
                rest = Some(Rest { leaf, start: segment.start, captures: self.captures.len() });
            }
            let literal = node.literal(self.path, segment);
            let capture = node.capture.filter(|_| segment.end > segment.start);
            at = segment.end;
            node = match (literal, capture) {
                (Some(literal), None) => &table.nodes[literal],
                (None, None) => break,
                (literal, Some(capture)) => {
                    let before = self.captures.len();
                    if let Some(leaf) = literal.and_then(|literal| self.descend(literal, at)) {
                        return Some(leaf);
                    }
                    self.captures.truncate(before);
                    self.captures.push(segment.start, at);
                    self.is_doubtful |= table.cut.is_doubtful(self.path, segment);
                    &table.nodes[capture]
                }
            };
        }
        let Rest { leaf, start, captures } = rest?;
        self.captures.truncate(captures);
        self.captures.push(start, self.path.len());
        self.is_doubtful |= table.cut.is_rest_doubtful(self.path, start);
        Some(leaf)
    }

    /// Returns the pattern for a path that ends here with a slash.
    fn at_slash(&mut self, node: &Node, len: usize) -> Option<usize> {
        let is_ignored = |leaf: &usize| self.table.rule(*leaf) == TrailingSlash::Ignore;
        if let Some(leaf) = node.end_slash.or(node.end.filter(is_ignored)) {
            return Some(leaf);
        }
        if let Some(leaf) = node.rest {
            self.captures.push(len, len);
            return Some(leaf);
        }
        self.note_redirect(SlashChange::Removed, node.end);
        None
    }

    /// Returns the pattern for a path that ends here without a slash.
    fn at_end(&mut self, node: &Node) -> Option<usize> {
        let is_ignored = |leaf: &usize| self.table.rule(*leaf) == TrailingSlash::Ignore;
        if let Some(leaf) = node.end.or(node.end_slash.filter(is_ignored)) {
            return Some(leaf);
        }
        if let Some(leaf) = node.rest.filter(is_ignored) {
            self.captures.push(self.path.len(), self.path.len());
            return Some(leaf);
        }
        self.note_redirect(SlashChange::Added, node.end_slash);
        let before = self.captures;
        self.captures.push(self.path.len(), self.path.len());
        self.note_redirect(SlashChange::Added, node.rest);
        self.captures = before;
        None
    }

    /// Keeps the first match by a redirect, which counts only if nothing else matches.
    fn note_redirect(&mut self, change: SlashChange, leaf: Option<usize>) {
        let redirects = |leaf: &usize| self.table.rule(*leaf) == TrailingSlash::Redirect;
        if let (Some(leaf), None) = (leaf.filter(redirects), &self.redirect) {
            self.redirect = Some(Redirect { change, leaf, captures: self.captures });
        }
    }
}
