//! Pages: a bounded part of a list, in one buffer that is used again.

/// The bytes with which a page is full, whatever its items: keys may be 64 KiB long.
const BYTES_MAX: usize = 256 * 1024;

/// A part of a list of keys, of buckets, or of entries of an index.
///
/// It is full when it has as many items as it was made for, or bytes of 256 KiB. Filling it again allocates
/// nothing once it is warm.
#[derive(Debug)]
pub struct Page {
    items_max: usize,
    bytes_max: usize,
    bytes: Vec<u8>,
    items: Vec<Ends>,
    longest: usize,
    is_last: bool,
}

/// The ends of a term and of the key behind it, among the bytes of a page.
#[derive(Clone, Copy, Debug)]
struct Ends {
    term: usize,
    key: usize,
}

/// An item of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The term of an index's entry, as the engine orders terms; empty for keys and buckets.
    pub term: &'a [u8],
    /// The key or the bucket.
    pub key: &'a [u8],
}

impl Page {
    /// Creates an empty page for so many items, at least one.
    pub fn new(items_max: usize) -> Self {
        Self {
            items_max: items_max.max(1),
            bytes_max: BYTES_MAX,
            bytes: Vec::new(),
            items: Vec::new(),
            longest: 0,
            is_last: false,
        }
    }

    /// Bounds the bytes of the items, to 256 KiB at most, from the next fill on.
    pub(crate) fn set_bytes_max(&mut self, bytes: usize) {
        self.bytes_max = bytes.min(BYTES_MAX);
    }

    /// Returns the memory that it holds.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity() + self.items.capacity() * size_of::<Ends>()
    }

    /// Returns the bytes of its longest item.
    pub(crate) const fn longest(&self) -> usize {
        self.longest
    }

    /// Empties the page, for an engine that begins to fill it.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        (self.longest, self.is_last) = (0, false);
    }

    /// Adds an item if there is room for it; an empty page has room for any. Returns false if there is none:
    /// the list goes on.
    pub fn push(&mut self, item: Item<'_>) -> bool {
        let length = item.term.len() + item.key.len();
        let bytes = self.bytes.len() + length;
        if self.items.len() >= self.items_max || (!self.items.is_empty() && bytes > self.bytes_max) {
            return false;
        }
        self.make_room(bytes);
        self.bytes.extend_from_slice(item.term);
        self.bytes.extend_from_slice(item.key);
        self.items.push(Ends { term: bytes - item.key.len(), key: bytes });
        self.longest = self.longest.max(length);
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

    /// Returns the items.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Item<'_>> + DoubleEndedIterator + Clone {
        (0..self.items.len()).map(|place| {
            let start = place.checked_sub(1).map_or(0, |before| self.items[before].key);
            let Ends { term, key } = self.items[place];
            Item { term: &self.bytes[start..term], key: &self.bytes[term..key] }
        })
    }

    /// Grows to room for so many bytes: twice as much, but no more than a page may have.
    fn make_room(&mut self, bytes: usize) {
        let room = self.bytes.capacity();
        if room < bytes {
            let grown = bytes.max(self.bytes_max.min(2 * room));
            self.bytes.reserve_exact(grown - self.bytes.len());
        }
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
    fn a_page_is_full_by_its_bytes_but_holds_one_item() {
        let long = vec![b'k'; BYTES_MAX + 1];
        let mut page = Page::new(10);
        assert!(page.push(key(&long)) && !page.push(key(b"")));
        page.clear();
        assert!(page.push(key(b"a")) && !page.push(key(&long)));
    }
}
