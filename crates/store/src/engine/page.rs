//! Pages: a bounded part of a list, in one buffer that is used again.

use std::ops::Range;

/// The octets with which a page is full, whatever its items: keys may be 64 KiB long.
const OCTETS_MAX: usize = 256 * 1024;

/// A part of a list of keys, of buckets, or of entries of an index.
///
/// It is full when it has as many items as it was made for, or octets of 256 KiB. Filling it again allocates nothing once it is warm.
#[derive(Debug)]
pub struct Page {
    items_max: usize,
    octets: Vec<u8>,
    items: Vec<(Range<usize>, Range<usize>)>,
    is_last: bool,
}

/// One item of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The term of an index's entry, as the engine orders terms; empty for keys and buckets.
    pub term: &'a [u8],
    /// The key or the bucket.
    pub key: &'a [u8],
}

impl Page {
    /// An empty page for so many items, at least one.
    pub fn new(items_max: usize) -> Self {
        Self { items_max: items_max.max(1), octets: Vec::new(), items: Vec::new(), is_last: false }
    }

    /// Empties the page, for an engine that begins to fill it.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.items.clear();
        self.is_last = false;
    }

    /// Adds an item if there is room for it; an empty page has room for any. Returns false if there is none: the list goes on.
    pub fn push(&mut self, item: Item<'_>) -> bool {
        let octets = self.octets.len() + item.term.len() + item.key.len();
        if self.items.len() >= self.items_max || (!self.items.is_empty() && octets > OCTETS_MAX) {
            return false;
        }
        let (term, key) = (self.put(item.term), self.put(item.key));
        self.items.push((term, key));
        true
    }

    /// Notes that the list has no items after these.
    pub fn end(&mut self) {
        self.is_last = true;
    }

    /// Returns true if the list has no items after these.
    pub const fn is_last(&self) -> bool {
        self.is_last
    }

    /// The items.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Item<'_>> + DoubleEndedIterator + Clone {
        let item = |(term, key): &(Range<usize>, Range<usize>)| Item {
            term: &self.octets[term.clone()],
            key: &self.octets[key.clone()],
        };
        self.items.iter().map(item)
    }

    fn put(&mut self, octets: &[u8]) -> Range<usize> {
        let start = self.octets.len();
        self.octets.extend_from_slice(octets);
        start..self.octets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn key(key: &[u8]) -> Item<'_> {
        Item { term: b"", key }
    }

    #[test]
    fn a_page_is_full_by_its_items() {
        let mut page = Page::new(2);
        assert!(page.push(key(b"a")) && page.push(Item { term: b"t", key: b"b" }) && !page.push(key(b"c")));
        assert_eq!(page.items().collect::<Vec<_>>(), [key(b"a"), Item { term: b"t", key: b"b" }]);
        page.clear();
        assert!(page.push(key(b"c")) && !page.is_last());
    }

    #[test]
    fn a_page_is_full_by_its_octets_but_holds_one_item() {
        let long = vec![b'k'; OCTETS_MAX + 1];
        let mut page = Page::new(10);
        assert!(page.push(key(&long)) && !page.push(key(b"")));
        page.clear();
        assert!(page.push(key(b"a")) && !page.push(key(&long)));
    }
}
