//! Receive windows that grow with what the path carries (see `bandwidth`), up to the limits, and never become smaller.
//!
//! A measurement is thought of when an application has consumed so much of a window that the peer is told, so that nothing is measured for small
//! messages, on idle connections, or for readers that are slow. At most one PING is out, and each that has changed nothing
//! makes the next one rarer.

use alula_fields::{Limits, StreamKey, Time};

use super::Connection;
use crate::bandwidth::{Bandwidth, Used};
use crate::frame::{MAX_31, ping};
use crate::half::Receiving;

pub(super) struct Growth {
    stream_max: u32,
    connection_max: u32,
    path: Bandwidth,
    measure: Measure,
    /// How many occasions to let pass before the next measurement, and how many after the last one.
    pauses: u32,
    pause: u32,
}

#[derive(Clone, Copy, Debug)]
enum Measure {
    None,
    /// A PING is to go out with the WINDOW_UPDATE that gave the occasion: for a stream, or for the connection alone.
    Due(Option<StreamKey>, u32),
    Running(Sample),
}

/// What the windows were when the PING went out. Since what is announced meanwhile is added, the difference to what is
/// available in the end is what has come.
#[derive(Clone, Copy, Debug)]
struct Sample {
    since: Time,
    /// What gave the occasion: so much was consumed.
    consumed: u32,
    connection: i64,
    stream: Option<StreamKey>,
    /// Zero is none.
    id: u32,
    of_stream: i64,
}

/// The payload of PINGs that measure.
pub(super) const MEASURE: [u8; 8] = *b"window?\0";

/// After so many occasions the next measurement comes at the latest.
const PAUSE_MAX: u32 = 1023;

impl Growth {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            stream_max: limits.stream_window_max.min(MAX_31),
            connection_max: limits.connection_window_max.min(MAX_31),
            path: Bandwidth::default(),
            measure: Measure::None,
            pauses: 0,
            pause: 0,
        }
    }
}

impl Connection {
    /// So much of a window was consumed, which was worth a WINDOW_UPDATE.
    #[cold]
    pub(super) fn occasion_to_measure(&mut self, stream: Option<StreamKey>, consumed: u32) {
        if !matches!(self.growth.measure, Measure::None) || !self.may_grow(stream) {
            return;
        }
        match self.growth.pauses.checked_sub(1) {
            Some(left) => self.growth.pauses = left,
            None => self.growth.measure = Measure::Due(stream, consumed),
        }
    }

    fn may_grow(&self, stream: Option<StreamKey>) -> bool {
        let of_stream = stream.and_then(|stream| self.streams.get(stream));
        self.window_in.size() < self.growth.connection_max
            || of_stream.is_some_and(|entry| entry.window_in.size() < self.growth.stream_max)
    }

    /// Sends the PING of a measurement that is due.
    #[inline]
    pub(super) fn measure_if_due(&mut self, now: Time) {
        if let Measure::Due(stream, consumed) = self.growth.measure {
            self.start_to_measure(stream, consumed, now);
        }
    }

    #[cold]
    fn start_to_measure(&mut self, stream: Option<StreamKey>, consumed: u32, now: Time) {
        let entry = stream.and_then(|stream| self.streams.get(stream));
        self.growth.measure = Measure::Running(Sample {
            since: now,
            consumed,
            connection: self.window_in.available(),
            stream,
            id: entry.map_or(0, |entry| entry.id),
            of_stream: entry.map_or(0, |entry| entry.window_in.available()),
        });
        self.queue(&ping(false, MEASURE));
    }

    /// More was announced for a window.
    #[inline]
    pub(super) fn note_announced(&mut self, id: u32, increment: u32) {
        if let Measure::Running(sample) = &mut self.growth.measure {
            match id {
                0 => sample.connection += i64::from(increment),
                id if id == sample.id => sample.of_stream += i64::from(increment),
                _ => {}
            }
        }
    }

    /// The PING is answered; says whether one was out.
    pub(super) fn measured(&mut self, now: Time) -> bool {
        let Measure::Running(sample) = self.growth.measure else { return false };
        self.growth.measure = Measure::None;
        let octets = came(sample.connection, self.window_in.available());
        let is_faster = self.growth.path.measure(octets, now.saturating_since(sample.since));
        let has_grown =
            self.grow_stream(&sample, is_faster) | self.grow_connection(&sample, octets, is_faster);
        self.growth.pause = if has_grown { 0 } else { (2 * self.growth.pause + 1).min(PAUSE_MAX) };
        self.growth.pauses = self.growth.pause;
        true
    }

    fn grow_stream(&mut self, sample: &Sample, is_faster: bool) -> bool {
        let Some(stream) = sample.stream else { return false };
        let Some(entry) = self.streams.get(stream) else { return false };
        if entry.is_closed || entry.receiving == Receiving::Ended {
            return false;
        }
        let octets = came(sample.of_stream, entry.window_in.available());
        let used = Used { size: entry.window_in.size(), consumed: sample.consumed, octets };
        let grown = self.growth.path.grown(used, self.growth.stream_max, is_faster);
        grown.is_some_and(|size| self.grow_stream_window(stream, size).is_ok())
    }

    fn grow_connection(&mut self, sample: &Sample, octets: u64, is_faster: bool) -> bool {
        let used = Used { size: self.window_in.size(), consumed: sample.consumed, octets };
        let grown = self.growth.path.grown(used, self.growth.connection_max, is_faster);
        grown.is_some_and(|size| self.grow_window(size).is_ok())
    }
}

fn came(announced: i64, available: i64) -> u64 {
    u64::try_from(announced - available).unwrap_or(0)
}
