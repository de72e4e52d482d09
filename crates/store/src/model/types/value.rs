//! The value of a data type of any kind.

use super::parts::size::Growth;
use super::{Counter, Distinct, Flag, Kind, Making, Map, NESTING_MAX, Register, Seen, Set, Steps, Unfit};
use crate::model::bytes::Bytes;

/// A value of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// See [`Kind::Counter`].
    Counter(Counter),
    /// See [`Kind::Set`].
    Set(Set<'a>),
    /// See [`Kind::GrowSet`].
    GrowSet(Set<'a>),
    /// See [`Kind::Map`].
    Map(Map<'a>),
    /// See [`Kind::Distinct`].
    Distinct(Distinct),
    /// See [`Kind::Register`].
    Register(Register<'a>),
    /// See [`Kind::Flag`].
    Flag(Flag),
}

impl<'a> Value<'a> {
    /// Creates an empty value of this kind.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter(Counter::default()),
            Kind::Set => Self::Set(Set::default()),
            Kind::GrowSet => Self::GrowSet(Set::default()),
            Kind::Map => Self::Map(Map::default()),
            Kind::Distinct => Self::Distinct(Distinct::default()),
            Kind::Register => Self::Register(Register::default()),
            Kind::Flag => Self::Flag(Flag::default()),
        }
    }

    /// Returns the kind of the value.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Set(_) => Kind::Set,
            Self::GrowSet(_) => Kind::GrowSet,
            Self::Map(_) => Kind::Map,
            Self::Distinct(_) => Kind::Distinct,
            Self::Register(_) => Kind::Register,
            Self::Flag(_) => Kind::Flag,
        }
    }

    pub(super) fn change(
        &mut self,
        steps: &mut Steps<'a>,
        change: &Making<'_>,
        nesting: usize,
        growth: &mut Growth,
    ) -> Result<(), Unfit> {
        if nesting > NESTING_MAX {
            return Err(Unfit::Nesting);
        }
        match self {
            Self::Counter(counter) => counter.add(steps.number(), change)?,
            Self::Set(set) | Self::GrowSet(set) => set.change(steps.elements(), steps.elements(), change)?,
            Self::Map(map) => map.change(steps, change, nesting, growth)?,
            Self::Distinct(distinct) => {
                // Nothing is removed.
                steps.elements();
                distinct.add(steps.elements(), change);
            }
            Self::Register(register) => register.assign(steps.assigned(), change),
            Self::Flag(flag) => flag.turn(steps.is_on(), change),
        }
        Ok(())
    }

    /// Removes what a context has seen of a field that is removed.
    pub(super) fn forget(&mut self, seen: &impl Seen) {
        match self {
            Self::Counter(counter) => counter.forget(seen),
            Self::Set(set) | Self::GrowSet(set) => set.forget(seen),
            Self::Map(map) => map.forget(seen),
            Self::Distinct(distinct) => distinct.forget(seen),
            Self::Register(register) => register.forget(seen),
            Self::Flag(flag) => flag.forget(seen),
        }
    }

    /// Merges two values of one kind; values of two kinds never meet, and this one stays then.
    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        match (self, other) {
            (Self::Counter(counter), Self::Counter(other)) => counter.merge(ours, other, theirs),
            (Self::Set(set), Self::Set(other)) | (Self::GrowSet(set), Self::GrowSet(other)) => {
                set.merge(ours, other, theirs);
            }
            (Self::Map(map), Self::Map(other)) => map.merge(ours, other, theirs),
            (Self::Register(register), Self::Register(other)) => register.merge(ours, other, theirs),
            (Self::Flag(flag), Self::Flag(other)) => flag.merge(ours, other, theirs),
            (Self::Distinct(distinct), Self::Distinct(other)) => distinct.merge(ours, other, theirs),
            _ => {}
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.kind().byte());
        match self {
            Self::Counter(counter) => counter.put(out),
            Self::Set(set) | Self::GrowSet(set) => set.put(out),
            Self::Map(map) => map.put(out),
            Self::Distinct(distinct) => distinct.put(out),
            Self::Register(register) => register.put(out),
            Self::Flag(flag) => flag.put(out),
        }
    }

    /// Reads a value, which may allocate what its own bytes need, beside the bytes reserved for what follows
    /// it.
    pub(super) fn read(bytes: &mut Bytes<'a>, nesting: usize, reserved: usize) -> Option<Self> {
        if nesting > NESTING_MAX {
            return None;
        }
        Some(match Kind::of_byte(bytes.byte()?)? {
            Kind::Counter => Self::Counter(Counter::read(bytes, reserved)?),
            Kind::Set => Self::Set(Set::read(bytes, reserved)?),
            Kind::GrowSet => Self::GrowSet(Set::read(bytes, reserved)?),
            Kind::Map => Self::Map(Map::read(bytes, nesting, reserved)?),
            Kind::Distinct => Self::Distinct(Distinct::read(bytes)?),
            Kind::Register => Self::Register(Register::read(bytes)?),
            Kind::Flag => Self::Flag(Flag::read(bytes)?),
        })
    }
}
