//! Receive windows that grow with the capacity of the path (see `bandwidth`), up to the limits, and never
//! shrink.
//!
//! A WINDOW_UPDATE gives the occasion: an application has consumed so much of a window that the peer is told.
//! Small messages, idle connections and slow readers are therefore never measured. The sample starts when the
//! reader has caught up with what came, and all that it has consumed is announced with that. From then on
//! each DATA frame tells when the peer has used up what it was allowed, and each release when the reader has
//! caught up with that as well: then the windows grow.
//!
//! At most one PING is out, and each that has changed nothing makes the next one rarer; samples without a
//! PING go by the round trip that is known.

pub(super) mod sampling;

use alula_machine::{StreamKey, Time};

use self::sampling::{Ping, Sample, State, Use};
use super::Connection;
use crate::flow::bandwidth::Span;
use crate::frame::ping as ping_frame;

/// The payload of PINGs that measure the round trip.
pub(super) const MEASURE: [u8; 8] = *b"window?\0";

/// The most samples between two PINGs.
const PAUSE_MAX: u32 = 1023;

/// The events after which a window may grow.
impl Connection {
    /// Records that enough of a window was consumed for a WINDOW_UPDATE.
    #[cold]
    pub(super) fn occasion_to_measure(&mut self, stream: Option<StreamKey>) {
        let is_better = match self.growth.state {
            State::Rest => true,
            State::Wanted(known) => known.is_none_or(|known| !self.is_open_to_data(known)),
            State::Running(_) => false,
        };
        if is_better && self.may_grow(stream) {
            self.growth.set(State::Wanted(stream));
            self.growth.is_due = self.has_caught_up(stream);
        }
    }

    /// Records that more was announced for a window.
    #[inline]
    pub(super) fn note_announced(&mut self, id: u32, increment: u32) {
        if self.growth.is_active
            && let Some(sample) = self.growth.sample()
        {
            match id {
                0 => sample.of_connection.announced += i64::from(increment),
                id if id == sample.id => sample.of_stream.announced += i64::from(increment),
                _ => {}
            }
        }
    }

    /// Records received DATA.
    #[inline]
    pub(super) fn data_came(&mut self, now: Time) {
        if self.growth.is_active {
            self.note_data(now);
        }
    }

    #[cold]
    fn note_data(&mut self, now: Time) {
        let (connection, streams) = (self.window_in, &self.streams);
        if let Some(sample) = self.growth.sample() {
            sample.of_connection.note(connection, now);
            if let Some(entry) = sample.stream.and_then(|stream| streams.get(stream)) {
                sample.of_stream.note(entry.window_in, now);
            }
            self.end_sample_if_over(now);
        }
    }

    /// Records consumed DATA.
    #[inline]
    pub(super) fn data_released(&mut self) {
        if self.growth.is_active && !self.growth.is_due {
            self.growth.is_due = self.is_worth_a_look();
        }
    }

    /// Returns true if the reader has caught up with what the sample waits for.
    #[cold]
    fn is_worth_a_look(&self) -> bool {
        match self.growth.state {
            State::Rest => false,
            State::Wanted(stream) => self.has_caught_up(stream),
            State::Running(Sample { of_connection, of_stream, stream, .. }) => {
                (of_stream.up_at.is_some() && self.has_caught_up(stream))
                    || (of_connection.up_at.is_some() && self.has_caught_up(None))
            }
        }
    }

    /// Records the answer to a PING; returns whether one was sent.
    pub(super) fn measured(&mut self, now: Time) -> bool {
        let Some(sample) = self.growth.sample().filter(|sample| sample.ping == Ping::Out) else {
            return false;
        };
        sample.ping = Ping::Answered;
        let took = now.saturating_since(sample.since);
        self.growth.path.note_round_trip(took);
        self.end_sample_if_over(now);
        true
    }

    /// Ends or starts a sample, if it is due.
    #[inline]
    pub(super) fn measure_if_due(&mut self, now: Time) {
        if self.growth.is_due {
            self.measure_now(now);
        }
    }

    #[cold]
    fn measure_now(&mut self, now: Time) {
        self.growth.is_due = false;
        self.end_sample_if_over(now);
        if let State::Wanted(stream) = self.growth.state
            && self.has_caught_up(stream)
        {
            self.start_sample(stream, now);
        }
    }
}

/// The state of streams and windows that growth depends on.
impl Connection {
    fn may_grow(&self, stream: Option<StreamKey>) -> bool {
        let of_stream = stream.and_then(|stream| self.streams.get(stream));
        self.window_in.size() < self.growth.connection_max
            || of_stream.is_some_and(|entry| entry.window_in.size() < self.growth.stream_max)
    }

    fn is_open_to_data(&self, stream: StreamKey) -> bool {
        self.streams.get(stream).is_some_and(|entry| entry.state.is_receiving())
    }

    /// Returns true if little of a stream's window, or of the connection's, waits to be consumed.
    fn has_caught_up(&self, stream: Option<StreamKey>) -> bool {
        let window = match stream {
            Some(stream) => self.streams.get(stream).map(|entry| entry.window_in),
            None => Some(self.window_in),
        };
        window.is_none_or(|window| window.held() <= window.size() / 8)
    }
}

/// The samples.
impl Connection {
    fn start_sample(&mut self, stream: Option<StreamKey>, now: Time) {
        let stream = stream.filter(|stream| self.is_open_to_data(*stream));
        if !self.may_grow(stream) {
            return self.growth.set(State::Rest);
        }
        self.announce_all(stream);
        let ping = match self.growth.pauses.checked_sub(1) {
            Some(left) => {
                self.growth.pauses = left;
                Ping::None
            }
            None => Ping::Out,
        };
        let entry = stream.and_then(|stream| self.streams.get(stream));
        let sample = Sample {
            since: now,
            ping,
            of_connection: Use::begin(self.window_in),
            stream,
            id: entry.map_or(0, |entry| entry.id),
            of_stream: entry.map(|entry| Use::begin(entry.window_in)).unwrap_or_default(),
        };
        self.growth.set(State::Running(sample));
        if ping == Ping::Out {
            self.queue(&ping_frame(false, MEASURE));
        }
    }

    /// Announces everything that was consumed, so that the peer can use the whole windows.
    fn announce_all(&mut self, stream: Option<StreamKey>) {
        let increment = self.window_in.announce();
        if increment > 0 {
            self.queue_window_update(0, increment);
        }
        if let Some(entry) = stream.and_then(|stream| self.streams.get_mut(stream)) {
            let (id, increment) = (entry.id, entry.window_in.announce());
            if increment > 0 {
                self.queue_window_update(id, increment);
            }
        }
    }

    /// Ends the sample if the peer has used up a window and the reader has caught up, or if its time is over.
    fn end_sample_if_over(&mut self, now: Time) {
        let State::Running(sample) = self.growth.state else { return };
        let Some(round_trip) = self.growth.path.round_trip().filter(|_| sample.ping != Ping::Out) else {
            return;
        };
        let span = Span::new(now.saturating_since(sample.since), round_trip);
        let is_up = |of: Use| of.up_at.is_some_and(|at| span.is_in_time(at.saturating_since(sample.since)));
        let of_stream =
            is_up(sample.of_stream) && sample.stream.is_some_and(|stream| self.is_open_to_data(stream));
        let of_connection = is_up(sample.of_connection);
        let stream_grows = of_stream && self.has_caught_up(sample.stream);
        let connection_grows = of_connection && self.has_caught_up(None);
        let is_over = if of_stream || of_connection { span.is_long_over() } else { span.is_over() };
        if !stream_grows && !connection_grows && !is_over {
            return;
        }
        self.growth.set(State::Rest);
        self.growth.path.measure(sample.of_connection.bytes(self.window_in), span);
        let has_grown = !span.is_long_over() && self.grow(&sample, stream_grows, connection_grows);
        if has_grown || sample.ping == Ping::Answered {
            self.growth.pause = if has_grown { 0 } else { (2 * self.growth.pause + 1).min(PAUSE_MAX) };
            self.growth.pauses = self.growth.pause;
        }
        if has_grown {
            self.growth.set(State::Wanted(sample.stream));
            self.growth.is_due = true;
        }
    }

    /// Makes windows larger; returns whether one has grown.
    fn grow(&mut self, sample: &Sample, stream: bool, connection: bool) -> bool {
        let mut has_grown = false;
        let mut least = 0;
        if stream
            && let Some(stream) = sample.stream
            && let Some(size) = self.streams.get(stream).map(|entry| entry.window_in.size())
            && let Some(wanted) = self.growth.path.grown(size, self.growth.stream_max)
        {
            has_grown |= self.grow_stream_window(stream, wanted).is_ok();
            // A stream is of no use that is larger than the connection.
            least = wanted.min(self.growth.connection_max);
        }
        let wanted = self.growth.path.grown(self.window_in.size(), self.growth.connection_max);
        let wanted = wanted.filter(|_| connection).unwrap_or(0).max(least);
        if wanted > self.window_in.size() {
            has_grown |= self.grow_window(wanted).is_ok();
        }
        has_grown
    }
}
