//! The present sample, and the results of earlier ones.

use alula_machine::{Limits, StreamKey, Time};

use crate::flow::bandwidth::Bandwidth;
use crate::flow::window::ReceiveWindow;
use crate::frame::MAX_31;

pub(crate) struct Growth {
    pub(super) stream_max: u32,
    pub(super) connection_max: u32,
    pub(super) path: Bandwidth,
    /// True while a sample runs, or is about to start: DATA and releases are of interest.
    pub(super) is_active: bool,
    /// The next [`Connection::poll_transmit`](crate::Connection::poll_transmit) has to check the sample, or
    /// to start it.
    pub(super) is_due: bool,
    pub(super) state: State,
    /// The samples without a PING before the next one with it, and how many follow that one.
    pub(super) pauses: u32,
    pub(super) pause: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Rest,
    /// A sample is wanted, for a stream or for the connection alone; the reader has to catch up first.
    Wanted(Option<StreamKey>),
    Running(Sample),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) since: Time,
    pub(super) ping: Ping,
    pub(super) of_connection: Use,
    pub(super) stream: Option<StreamKey>,
    /// The stream; zero for none.
    pub(super) id: u32,
    pub(super) of_stream: Use,
}

/// The PING of a sample.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ping {
    /// No PING is needed, because the round trip is known.
    None,
    Out,
    Answered,
}

/// The use of a window since the sample began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// The bytes that the peer could send at the beginning.
    allowed: i64,
    /// The same with those announced since.
    pub(super) announced: i64,
    /// The time at which everything allowed at the beginning was used up.
    pub(super) up_at: Option<Time>,
}

impl Growth {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            stream_max: limits.stream_window_max.min(MAX_31),
            connection_max: limits.connection_window_max.min(MAX_31),
            path: Bandwidth::default(),
            is_active: false,
            is_due: false,
            state: State::Rest,
            pauses: 0,
            pause: 0,
        }
    }

    /// Returns true if the next [`Connection::poll_transmit`](crate::Connection::poll_transmit) has work to
    /// do.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    pub(super) fn set(&mut self, state: State) {
        self.is_active = !matches!(state, State::Rest);
        self.state = state;
    }

    pub(super) fn sample(&mut self) -> Option<&mut Sample> {
        if let State::Running(sample) = &mut self.state { Some(sample) } else { None }
    }
}

impl Use {
    pub(super) fn begin(window: ReceiveWindow) -> Self {
        Self { allowed: window.available(), announced: window.available(), up_at: None }
    }

    /// Returns the received bytes.
    pub(super) fn bytes(&self, window: ReceiveWindow) -> u64 {
        u64::try_from(self.announced - window.available()).unwrap_or(0)
    }

    /// Records received DATA. A peer may leave less than a frame unused.
    pub(super) fn note(&mut self, window: ReceiveWindow, now: Time) {
        let came = self.announced - window.available();
        if self.up_at.is_none() && came >= self.allowed - self.allowed / 8 {
            self.up_at = Some(now);
        }
    }
}
