//! Known field names: small numbers instead of text.
//!
//! Rule 1: a known name is always held as its id, so two known names are compared as integers.
//! Rule 2: finding one never hashes the whole name. A name of less than eight bytes fits a word and is that
//! word; of a longer one the last eight bytes and the length go into the hash, and the seed is chosen so that
//! no two names meet in a slot. The name found is then compared once: up to sixteen bytes as two words,
//! longer ones as a slice.

use core::fmt;
use core::num::NonZeroU8;

use crate::name::known_table::{CANONICAL, FLAGS, LOWER, START_BYTES_MAX, STARTS};
use crate::name::word;

/// A field name that Alula knows: the names of HPACK's static table (RFC 7541 Appendix A), then other common
/// ones.
///
/// Pseudo-field names such as `:method` are among them, since HPACK carries them, but are never in a
/// [`FieldSection`](crate::FieldSection). One byte; `Debug` prints the name. Ids differ between versions of
/// Alula.
///
/// ```
/// use alula::KnownName;
///
/// let name = KnownName::lookup(b"content-type").unwrap();
/// assert_eq!(name, KnownName::CONTENT_TYPE);
/// assert_eq!((name.as_str(), name.canonical()), ("content-type", "Content-Type"));
/// assert_eq!(KnownName::lookup(b"Content-Type"), None);
/// assert_eq!(KnownName::lookup_folded(b"Content-TYPE"), Some(name));
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct KnownName(NonZeroU8);

pub(crate) const PSEUDO: u8 = 1 << 0;
pub(crate) const CONNECTION: u8 = 1 << 1;
pub(crate) const SINGLE: u8 = 1 << 2;
pub(crate) const SECRET: u8 = 1 << 3;
pub(crate) const LIST: u8 = 1 << 4;

impl KnownName {
    /// Returns the known name with exactly these lower-case bytes, in about twenty instructions.
    #[inline]
    pub fn lookup(lower: &[u8]) -> Option<Self> {
        find::<false>(lower)
    }

    /// Returns the known name with these bytes in any case; nothing is copied. About ten instructions more.
    pub fn lookup_folded(any_case: &[u8]) -> Option<Self> {
        find::<true>(any_case)
    }

    /// Returns the name with this id, if there is one.
    #[inline]
    pub const fn from_id(id: u8) -> Option<Self> {
        match NonZeroU8::new(id) {
            Some(id) if id.get() as usize <= Self::COUNT => Some(Self(id)),
            _ => None,
        }
    }

    /// Returns the id, from 1 to [`COUNT`](Self::COUNT).
    #[inline]
    pub const fn id(self) -> u8 {
        self.0.get()
    }

    /// Returns the name as HTTP/2 writes it, in lower case.
    #[inline]
    pub const fn as_str(self) -> &'static str {
        LOWER[self.id() as usize]
    }

    /// Returns the length of the name.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "no name is empty")]
    pub const fn len(self) -> usize {
        LENGTHS[self.id() as usize] as usize
    }

    /// Returns the usual spelling in HTTP/1, such as `ETag` or `WWW-Authenticate`.
    #[inline]
    pub const fn canonical(self) -> &'static str {
        CANONICAL[self.id() as usize]
    }

    /// Returns the usual spelling with a colon and a space, padded with zeros; `None` of a name that is too
    /// long for that.
    #[inline]
    pub(crate) fn line_start(self) -> Option<&'static [u8; START_BYTES_MAX]> {
        (self.len() + 2 <= START_BYTES_MAX).then_some(&STARTS[self.id() as usize])
    }

    /// Returns true if this is a pseudo-field such as `:path` (RFC 9113 §8.3).
    #[inline]
    pub const fn is_pseudo(self) -> bool {
        self.has(PSEUDO)
    }

    /// Returns true if the field is about one HTTP/1 connection and must not be in HTTP/2 (RFC 9113 §8.2.2).
    ///
    /// `te` is not counted: it is allowed there with the one value `trailers`.
    #[inline]
    pub const fn is_connection_specific(self) -> bool {
        self.has(CONNECTION)
    }

    /// Returns true if the field has one value and not a list, so that a second line is a mistake (RFC 9110
    /// §5.3).
    #[inline]
    pub const fn is_singleton(self) -> bool {
        self.has(SINGLE)
    }

    /// Returns true if values are usually secrets, so that `Debug` hides them.
    #[inline]
    pub const fn is_sensitive(self) -> bool {
        self.has(SECRET)
    }

    /// Returns true if the field is defined as a comma-separated list, so that lines may be joined (RFC 9110
    /// §5.6.1).
    #[inline]
    pub const fn is_list(self) -> bool {
        self.has(LIST)
    }

    /// Returns all known names, in the order of their ids.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..Self::COUNT).map(|before| Self::row(before as u8 + 1))
    }

    /// Returns the name of a row that exists.
    pub(crate) const fn row(id: u8) -> Self {
        Self::from_id(id).expect("a row of the table")
    }

    #[inline]
    const fn has(self, flag: u8) -> bool {
        FLAGS[self.id() as usize] & flag != 0
    }
}

impl fmt::Debug for KnownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for KnownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Lengths by id, in an array of bytes: the list size of every field needs one.
static LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut id = 1;
    while id <= KnownName::COUNT {
        lengths[id] = LOWER[id].len() as u8;
        id += 1;
    }
    lengths
};

/// The words of a name and its length, which a search compares. Unused rows have length zero and match
/// nothing.
#[derive(Copy, Clone)]
struct Words {
    head: u64,
    tail: u64,
    len: usize,
}

static WORDS: [Words; 256] = {
    let mut words = [Words { head: 0, tail: 0, len: 0 }; 256];
    let mut id = 1;
    while id <= KnownName::COUNT {
        words[id] = Words::of(LOWER[id].as_bytes());
        id += 1;
    }
    words
};

const SLOT_BITS: u32 = 11;

/// The first seed of the search; after a change of the table the search goes on from here at compile time.
const SEED_HINT: u64 = 0x7d37_a532_9aa4_4b4f;

// One row more or less makes the search start, which takes a second or two.
#[allow(long_running_const_eval)]
const SEED: u64 = {
    let (mut seed, mut tries) = (SEED_HINT, 0);
    while slots(seed).is_none() {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c16);
        tries += 1;
        assert!(tries < 10_000, "two names may have the same length and the same end");
    }
    seed
};

static SLOTS: [u8; 1 << SLOT_BITS] = slots(SEED).expect("the seed was chosen so");

impl Words {
    /// Returns the words of a name; `find` loads the same ones at run time.
    const fn of(name: &[u8]) -> Self {
        let len = name.len();
        match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (Some(head), Some(tail)) => {
                Self { head: u64::from_le_bytes(*head), tail: u64::from_le_bytes(*tail), len }
            }
            _ => Self { head: word::short(name, b' '), tail: word::short(name, b' '), len },
        }
    }
}

/// Returns the slot of a name with this last word and length.
#[inline]
const fn slot(seed: u64, tail: u64, len: usize) -> usize {
    (((tail ^ (len as u64) << 8).wrapping_mul(seed)) >> (64 - SLOT_BITS)) as usize
}

/// Returns the ids in their slots, unless two collide.
const fn slots(seed: u64) -> Option<[u8; 1 << SLOT_BITS]> {
    let mut slots = [0; 1 << SLOT_BITS];
    let mut id = 1;
    while id <= KnownName::COUNT {
        let slot = slot(seed, WORDS[id].tail, WORDS[id].len);
        if slots[slot] != 0 {
            return None;
        }
        slots[slot] = id as u8;
        id += 1;
    }
    Some(slots)
}

#[inline]
fn find<const FOLD: bool>(name: &[u8]) -> Option<KnownName> {
    let (head, tail) = match (word::head(name), word::tail(name)) {
        (Some(head), Some(tail)) => (head, tail),
        _ => {
            let only = word::short(name, b' ');
            (only, only)
        }
    };
    // Setting the bit of lower case folds letters and leaves names of the table alone; what else it changes
    // `same` finds.
    let hashed = if FOLD { tail | word::each(CASE) } else { tail };
    let id = SLOTS[slot(SEED, hashed, name.len())];
    let row = &WORDS[id as usize];
    if row.len != name.len() || !same::<FOLD>(tail, row.tail) || !same::<FOLD>(head, row.head) {
        return None;
    }
    if name.len() > 16 && !same_middle::<FOLD>(name, LOWER[id as usize].as_bytes()) {
        return None;
    }
    NonZeroU8::new(id).map(KnownName)
}

/// The bit that makes a letter lower case. Every byte of a known name has it, and letters alone have the bit
/// above it.
const CASE: u8 = 0x20;

const _: () = {
    let mut id = 1;
    while id <= KnownName::COUNT {
        let (name, mut at) = (LOWER[id].as_bytes(), 0);
        while at < name.len() {
            assert!(name[at].is_ascii_lowercase() || matches!(name[at], b'0'..=b'9' | b'-' | b':'));
            at += 1;
        }
        id += 1;
    }
};

/// Returns true if a word of a name equals that of a row; when folding, the case of letters does not count.
#[inline]
const fn same<const FOLD: bool>(word: u64, row: u64) -> bool {
    if FOLD { (word ^ row) & !(row >> 1 & word::each(CASE)) == 0 } else { word == row }
}

/// Returns true if all whole words from the front are equal; the last eight bytes have been compared.
#[inline]
fn same_middle<const FOLD: bool>(name: &[u8], lower: &[u8]) -> bool {
    let word = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk);
    let (words, rows) = (name.as_chunks().0, lower.as_chunks().0);
    words.iter().zip(rows).all(|(chunk, row)| same::<FOLD>(word(chunk), word(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_row_finds_itself_in_any_case() {
        for name in KnownName::all() {
            let lower = name.as_str().as_bytes();
            assert_eq!(KnownName::lookup(lower), Some(name));
            assert_eq!(KnownName::lookup_folded(name.canonical().as_bytes()), Some(name));
            assert_eq!(KnownName::lookup_folded(&lower.to_ascii_uppercase()), Some(name));
            assert_eq!(KnownName::from_id(name.id()), Some(name));
        }
        assert_eq!(KnownName::all().len(), KnownName::COUNT);
        assert_eq!(KnownName::from_id(0), None);
        assert_eq!(KnownName::from_id(KnownName::COUNT as u8 + 1), None);
    }

    #[test]
    fn near_misses_find_nothing() {
        for name in KnownName::all() {
            let lower = name.as_str().as_bytes();
            for at in 0..lower.len() {
                for byte in [b'!', b'z', 0, 0xff, lower[at].wrapping_add(1), lower[at].to_ascii_uppercase()] {
                    let mut near = lower.to_vec();
                    near[at] = byte;
                    let expected = KnownName::all().find(|other| other.as_str().as_bytes() == near);
                    assert_eq!(KnownName::lookup(&near), expected, "{name} with {byte} at {at}");
                }
                let mut shorter = lower.to_vec();
                shorter.remove(at);
                let expected = KnownName::all().find(|other| other.as_str().as_bytes() == shorter);
                assert_eq!(KnownName::lookup(&shorter), expected);
            }
            assert_eq!(KnownName::lookup(&[lower, b"x"].concat()), None);
            assert_eq!(KnownName::lookup(&[b"x", lower].concat()), None);
        }
        assert_eq!(KnownName::lookup(b""), None);
        assert_eq!(KnownName::lookup_folded(b""), None);
    }

    #[test]
    fn the_first_rows_are_the_names_of_rfc_7541_appendix_a() {
        let static_table = ":authority :method :method :path :path :scheme :scheme :status :status :status :status \
            :status :status :status accept-charset accept-encoding accept-language accept-ranges accept \
            access-control-allow-origin age allow authorization cache-control content-disposition \
            content-encoding content-language content-length content-location content-range content-type cookie \
            date etag expect expires from host if-match if-modified-since if-none-match if-range \
            if-unmodified-since last-modified link location max-forwards proxy-authenticate \
            proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security \
            transfer-encoding user-agent vary via www-authenticate";
        let mut names: Vec<&str> = static_table.split_whitespace().collect();
        assert_eq!(names.len(), 61);
        names.dedup();
        let known: Vec<&str> = KnownName::all().take(names.len()).map(KnownName::as_str).collect();
        assert_eq!(known, names);
        assert_eq!(KnownName::all().nth(names.len()), Some(KnownName::PSEUDO_PROTOCOL));
    }

    #[test]
    fn rows_are_unique() {
        let mut names: Vec<&str> = KnownName::all().map(KnownName::as_str).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KnownName::COUNT);
    }

    #[test]
    fn no_name_is_both_single_and_a_list() {
        assert!(KnownName::all().all(|name| !(name.is_list() && name.is_singleton())));
        assert!(KnownName::all().all(|name| name.is_pseudo() == name.as_str().starts_with(':')));
    }

    #[test]
    fn the_seed_hint_is_the_seed() {
        assert_eq!(SEED, SEED_HINT, "set SEED_HINT to {SEED:#x}, so that compiling searches for nothing");
    }
}
