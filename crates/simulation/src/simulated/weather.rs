//! What a connection of the simulated network suffers.

use std::time::Duration;

use alula_testkit::Rng;

/// How a connection carries bytes, decided when it is opened.
#[derive(Clone, Debug)]
pub(super) struct Weather {
    /// The time that a byte takes.
    pub(super) delay: Duration,
    /// How much longer at most.
    pub(super) jitter_ms: usize,
    /// The number of bytes that are under way at most, sent and not read, in each direction.
    pub(super) bytes_max: usize,
    /// Reads and writes take less than they could, or nothing although they could, now and then.
    pub(super) is_choppy: bool,
    /// Bytes that arrived before a reset can still be read, as Linux has it.
    pub(super) keeps_what_arrived: bool,
    /// What befalls it, and when.
    pub(super) blow: Option<(Duration, Blow)>,
    /// The way on which it is reset after so many bytes.
    pub(super) cut: Option<(usize, usize)>,
    /// When a response arrives that nobody asked for, if the client waits for none; over HTTP/1.1.
    pub(super) stray: Option<Duration>,
}

/// What befalls a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Blow {
    /// Both ends are told that it is broken.
    Reset,
    /// Both ends are told that nothing more comes, and what they send is answered by a reset.
    End,
    /// What is sent is lost, and nobody is told: to the server, to the client.
    Silence([bool; 2]),
    /// Nothing arrives for a while.
    Pause(Duration),
}

/// What comes of opening a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Knock {
    Opens,
    IsRefused,
    IsNotHeard,
}

impl Weather {
    pub(super) fn of(rng: &mut Rng, has_blows: bool) -> Self {
        Self {
            delay: milliseconds(*rng.pick(&[0, 0, 1, 5, 20, 50])),
            jitter_ms: *rng.pick(&[0, 0, 3, 20]),
            bytes_max: *rng.pick(&[300, 2_000, 16_000, 64_000, 256_000]),
            is_choppy: rng.one_in(2),
            keeps_what_arrived: rng.one_in(2),
            blow: (has_blows && rng.one_in(2)).then(|| (milliseconds(rng.below(600)), Blow::of(rng))),
            cut: (has_blows && rng.one_in(8)).then(|| (rng.below(2), rng.range(1..2_000))),
            stray: (has_blows && rng.one_in(3)).then(|| milliseconds(rng.below(300))),
        }
    }
}

impl Blow {
    fn of(rng: &mut Rng) -> Self {
        match rng.below(6) {
            0 | 1 => Self::Reset,
            2 => Self::End,
            3 => Self::Silence(*rng.pick(&[[true, false], [false, true]])),
            4 => Self::Silence([true, true]),
            _ => Self::Pause(milliseconds(rng.range(10..3_000))),
        }
    }
}

impl Knock {
    pub(super) fn of(rng: &mut Rng, has_blows: bool) -> Self {
        match rng.below(16) {
            0 if has_blows => Self::IsRefused,
            1 if has_blows => Self::IsNotHeard,
            _ => Self::Opens,
        }
    }
}

pub(super) fn milliseconds(count: usize) -> Duration {
    Duration::from_millis(count as u64)
}
