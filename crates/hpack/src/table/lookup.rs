//! Lookups in the encoder's dynamic table, by name and by name and value.
//!
//! Entries with one hash form a chain, newest first, that starts in an array of heads and goes on in the
//! entries' links. Entries die from the oldest on, so the first dead one ends its chain and nothing is ever
//! taken out. An id left from long ago may seem alive again after 2^32 insertions; that does no harm because
//! whatever is found is compared.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use alula_fields::KnownName;

use crate::encode::treatment::is_secret;
use crate::table::dynamic::Table;
use crate::table::hash;
use crate::table::same::{self, same};

/// An index by which entries of a table are found.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// The newest entry of each known name.
    latest: LatestOfNames,
    /// The newest entry for each hash: of pairs in the first half, of unknown names in the second.
    heads: Vec<u32>,
    /// The links, one for each slot of the table.
    links: Vec<Link>,
    /// The length of the table's ring when `latest` was filled; a new ring has its bytes elsewhere.
    ring_len: usize,
}

const NAMES: usize = (KnownName::COUNT + 1).next_power_of_two();

/// The newest entry of each known name, by its id: 2 KiB, which an empty table does not need.
#[derive(Debug)]
enum LatestOfNames {
    /// The state in which no known name has an entry.
    None(&'static [Latest; NAMES]),
    Some(Box<[Latest; NAMES]>),
}

/// The table shared by all encoders without entries.
static NO_ENTRIES: [Latest; NAMES] = [Latest::NOTHING; NAMES];

impl LatestOfNames {
    const NEW: Self = Self::None(&NO_ENTRIES);

    /// Returns the place of an id. Both variants are a pointer to the same kind of array, so this is one load
    /// and no branch.
    #[inline(always)]
    fn of(&self, id: usize) -> &Latest {
        let latest: &[Latest; NAMES] = match self {
            Self::None(latest) => latest,
            Self::Some(latest) => latest,
        };
        &latest[id % NAMES]
    }

    fn replace(&mut self, id: usize, newest: Latest) -> Latest {
        if let Self::None(_) = self {
            *self = Self::Some(Box::new(NO_ENTRIES));
        }
        match self {
            Self::None(latest) => latest[id % NAMES],
            Self::Some(latest) => core::mem::replace(&mut latest[id % NAMES], newest),
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::None(_) => 0,
            Self::Some(latest) => size_of_val(&**latest),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    pair: u32,
    name: u32,
    /// The previous entry with the same pair hash, if the heads know it.
    before_pair: u32,
    /// The previous entry with the same known name, or with the same name hash, if the heads know it.
    before_name: u32,
}

/// An entry with a known name, and the place of its value in the ring.
#[derive(Clone, Copy, Debug)]
struct Latest {
    id: u32,
    at: u16,
    /// The length of the value; for a secret or long one, or one far into a large ring, a length that no
    /// value has.
    len: u16,
}

/// The hashes of a field.
#[derive(Clone, Copy)]
pub(crate) struct Hashes {
    pub(crate) pair: u32,
    pub(crate) name: u32,
}

impl Hashes {
    #[inline]
    pub(crate) fn of_known(name: KnownName, value: &[u8]) -> Self {
        let seed = u64::from(name.id()) << 32;
        Self { pair: hash::fold(hash::hash(seed, value)), name: hash::fold(seed) }
    }

    #[inline]
    pub(crate) fn of(name: &[u8], value: &[u8]) -> Self {
        let seed = hash::hash(0, name);
        Self { pair: hash::fold(hash::hash(seed, value)), name: hash::fold(seed) }
    }
}

/// The best entry for a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    /// An entry with this name and value.
    Pair(u64),
    /// An entry with this name.
    Name(u64),
    Nothing,
}

impl Lookup {
    pub(crate) const fn new() -> Self {
        Self { latest: LatestOfNames::NEW, heads: Vec::new(), links: Vec::new(), ring_len: 0 }
    }

    /// Returns the newest entry with a known name.
    #[inline]
    pub(crate) fn latest(&self, table: &Table, name: KnownName) -> Option<u64> {
        alive(table, self.latest.of(usize::from(name.id())).id).filter(|&id| table.has_name(id, name))
    }

    /// Returns the distance from the newest entry of the newest one with this name, if that has the value, is
    /// not secret and is compared fast. A name that is not known is never found.
    #[inline(always)]
    pub(crate) fn quick(&self, table: &Table, name: Option<KnownName>, value: &[u8]) -> Option<u32> {
        let latest = self.latest.of(name.map_or(0, |name| usize::from(name.id())));
        let places = (table.next_id() as u32).wrapping_sub(latest.id).wrapping_sub(1);
        let is_it = usize::from(latest.len) == value.len()
            && places < table.near()
            && table.bytes(usize::from(latest.at), value.len()).is_some_and(|own| same(own, value));
        is_it.then_some(places)
    }

    /// Returns true if there may be an older entry with the same name.
    #[inline]
    pub(crate) fn has_older(&self, table: &Table, id: u64) -> bool {
        alive(table, self.link(id).before_name).is_some()
    }

    /// Returns the newest entry with a known name and a value.
    pub(crate) fn pair_of_known(
        &self,
        table: &Table,
        hashes: Hashes,
        name: KnownName,
        value: &[u8],
    ) -> Option<u64> {
        self.pairs(table, hashes.pair).find(|&id| table.is_known(id, name, value))
    }

    /// Returns the newest entry with an unknown name and a value, or the newest with the name.
    pub(crate) fn find(&self, table: &Table, hashes: Hashes, name: &[u8], value: &[u8]) -> Found {
        let is_named = |id: &u64| {
            let entry = table.entry(*id);
            entry.known.is_none() && entry.name == name
        };
        if let Some(id) =
            self.pairs(table, hashes.pair).find(|id| is_named(id) && table.entry(*id).value == value)
        {
            return Found::Pair(id);
        }
        self.names(table, hashes.name).find(is_named).map_or(Found::Nothing, Found::Name)
    }

    /// Returns the newest entry with an unknown name.
    pub(crate) fn name(&self, table: &Table, name: &[u8]) -> Option<u64> {
        self.names(table, hash::fold(hash::hash(0, name))).find(|&id| {
            let entry = table.entry(id);
            entry.known.is_none() && entry.name == name
        })
    }

    /// Adds the newest entry of the table.
    pub(crate) fn add(&mut self, table: &Table, known: Option<KnownName>, hashes: Hashes) {
        if self.links.len() != table.slots() || self.ring_len != table.ring_len() {
            self.follow(table, table.next_id() - 1);
        }
        self.put(table, table.next_id() - 1, known, hashes.pair, hashes.name);
    }

    /// Returns the bytes of memory outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.latest.memory_bytes()
            + self.heads.capacity() * size_of::<u32>()
            + self.links.capacity() * size_of::<Link>()
    }

    /// Updates the places of entries below this id after the table has moved to another ring.
    #[cold]
    pub(crate) fn follow(&mut self, table: &Table, end: u64) {
        let old = core::mem::replace(&mut self.links, vec![Link::default(); table.slots()]);
        self.heads = vec![0; table.slots() * 2 * HEADS_PER_SLOT];
        match &mut self.latest {
            LatestOfNames::Some(latest) if table.len() > 0 => latest.fill(Latest::NOTHING),
            latest => *latest = LatestOfNames::NEW,
        }
        self.ring_len = table.ring_len();
        for id in table.oldest_id()..end {
            if let Some(link) = old.get(id as usize & old.len().wrapping_sub(1)) {
                self.put(table, id, table.entry(id).known, link.pair, link.name);
            }
        }
    }

    fn put(&mut self, table: &Table, id: u64, known: Option<KnownName>, pair: u32, name: u32) {
        let slots = self.links.len();
        let half = self.heads.len() / 2;
        let short = id as u32;
        let before_pair = core::mem::replace(&mut self.heads[pair as usize & (half - 1)], short);
        let before_name = match known {
            Some(known) => {
                let newest = Latest::of(table, id, known);
                self.latest.replace(usize::from(known.id()), newest).id
            }
            None => core::mem::replace(&mut self.heads[half + (name as usize & (half - 1))], short),
        };
        self.links[id as usize & (slots - 1)] = Link { pair, name, before_pair, before_name };
    }

    /// Returns the entries with this hash of name and value, newest first.
    #[inline]
    fn pairs<'a>(&'a self, table: &'a Table, hash: u32) -> impl Iterator<Item = u64> + 'a {
        let head = self.heads.get(hash as usize & (self.heads.len() / 2).wrapping_sub(1));
        self.chain(table, head, |link| link.before_pair).filter(move |&id| self.link(id).pair == hash)
    }

    /// Returns the entries with this hash of an unknown name, newest first.
    #[inline]
    fn names<'a>(&'a self, table: &'a Table, hash: u32) -> impl Iterator<Item = u64> + 'a {
        let half = self.heads.len() / 2;
        let head = self.heads.get(half + (hash as usize & half.wrapping_sub(1)));
        self.chain(table, head, |link| link.before_name).filter(move |&id| self.link(id).name == hash)
    }

    #[inline]
    fn chain<'a>(
        &'a self,
        table: &'a Table,
        head: Option<&u32>,
        before: fn(&Link) -> u32,
    ) -> impl Iterator<Item = u64> + 'a {
        let first = head.and_then(|&head| alive(table, head));
        core::iter::successors(first, move |&id| {
            alive(table, before(self.link(id))).filter(|&older| older < id)
        })
    }

    #[inline]
    fn link(&self, id: u64) -> &Link {
        &self.links[id as usize & self.links.len().wrapping_sub(1)]
    }
}

impl Latest {
    /// The value for names without an entry, and for ids that are no name.
    const NOTHING: Self = Self { id: 0, at: 0, len: u16::MAX };

    fn of(table: &Table, id: u64, name: KnownName) -> Self {
        let (at, value) = table.value_of_known(id);
        let is_slow = value.len() > same::LEN_MAX || is_secret(name, value);
        match u16::try_from(at) {
            Ok(at) if !is_slow => Self { id: id as u32, at, len: value.len() as u16 },
            _ => Self { id: id as u32, ..Self::NOTHING },
        }
    }
}

/// The ratio of heads to entries, so that most chains have one link.
const HEADS_PER_SLOT: usize = 2;

/// Returns the entry with this id, shortened to 32 bits, if it still exists.
#[inline]
pub(crate) fn alive(table: &Table, short: u32) -> Option<u64> {
    let back = (table.next_id() as u32).wrapping_sub(short);
    if back.wrapping_sub(1) < table.len() { Some(table.next_id() - u64::from(back)) } else { None }
}
