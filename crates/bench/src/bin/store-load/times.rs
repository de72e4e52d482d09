//! The time that each answer took, by kind of request.

use std::time::Duration;

/// The kind of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Get,
    /// A new object.
    Put,
    /// An object that is written back with its context; its read is a [`Kind::Get`].
    Update,
    Query,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Get, Self::Put, Self::Update, Self::Query];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Update => "update",
            Self::Query => "query",
        }
    }
}

/// Nanoseconds of every answer.
#[derive(Debug, Default)]
pub(crate) struct Times([Vec<u64>; Kind::ALL.len()]);

impl Times {
    pub(crate) fn add(&mut self, kind: Kind, time: Duration) {
        self.0[kind as usize].push(time.as_nanos() as u64);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            own.extend(other);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// In order.
    pub(crate) fn sorted(mut self) -> Self {
        self.0.iter_mut().for_each(|times| times.sort_unstable());
        self
    }

    pub(crate) fn of(&self, kind: Kind) -> &[u64] {
        &self.0[kind as usize]
    }
}

/// Microseconds within which so many of a thousand answers came; the times are in order.
pub(crate) fn within(sorted: &[u64], permille: usize) -> Option<f64> {
    let place = (sorted.len() * permille).div_ceil(1000).saturating_sub(1);
    sorted.get(place).map(|nanos| *nanos as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_taken() {
        let times: Vec<u64> = (1..=1000).map(|number| number * 1000).collect();
        let found = [500, 990, 999, 1000].map(|permille| within(&times, permille));
        assert_eq!(found, [Some(500.0), Some(990.0), Some(999.0), Some(1000.0)]);
        assert_eq!((within(&[], 500), within(&[7000], 999)), (None, Some(7.0)));
    }
}
