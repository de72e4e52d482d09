//! The time of a write.

/// Microseconds since the start of 1970 in UTC. Seconds are shown to clients; the rest orders writes within
/// one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// Returns the moment of this many microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since the start of 1970.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the whole seconds since the start of 1970, for `last-modified`.
    pub const fn seconds(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the moment directly after this one; the last moment returns itself.
    pub(super) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}
