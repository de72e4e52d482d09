//! The kinds of data types, by their names and by the bytes that stand for them on disk.

/// A kind of data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A whole number that is added to and taken from.
    Counter,
    /// A set whose elements can be removed.
    Set,
    /// A set that only grows.
    GrowSet,
    /// Fields with a data type each.
    Map,
    /// An estimate of how many different elements were added.
    Distinct,
    /// The bytes that were assigned last. Within maps only.
    Register,
    /// A flag, on or off. Within maps only.
    Flag,
}

impl Kind {
    /// The kinds, all of them.
    pub const ALL: [Self; 7] =
        [Self::Counter, Self::Set, Self::GrowSet, Self::Map, Self::Distinct, Self::Register, Self::Flag];

    /// Returns the name that clients use for the kind.
    ///
    /// ```
    /// use alula_store::model::types::Kind;
    ///
    /// assert_eq!(Kind::Distinct.name(), "hll");
    /// assert_eq!(Kind::named("gset"), Some(Kind::GrowSet));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Set => "set",
            Self::GrowSet => "gset",
            Self::Map => "map",
            Self::Distinct => "hll",
            Self::Register => "register",
            Self::Flag => "flag",
        }
    }

    /// Returns the kind of this name, or `None`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the byte that stands for the kind on disk. It never changes.
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::Counter => 1,
            Self::Set => 2,
            Self::GrowSet => 3,
            Self::Map => 4,
            Self::Distinct => 5,
            Self::Register => 6,
            Self::Flag => 7,
        }
    }

    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.byte() == byte)
    }
}
