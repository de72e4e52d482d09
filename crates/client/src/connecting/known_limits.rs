//! The limits that an origin has stated: those that its next connection is expected to have, until it states
//! them itself.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use alula_net::{Conn, Connect};

pub(crate) struct KnownLimits {
    /// The number of streams that it allows at once.
    streams: AtomicU32,
    /// The bytes of a field section that it takes; the largest number where it has stated none.
    field_section_bytes: AtomicU32,
}

impl KnownLimits {
    /// Returns limits of an origin of which nothing is known but that it probably allows so many streams.
    pub(crate) const fn expecting(streams: u32) -> Self {
        Self { streams: AtomicU32::new(streams), field_section_bytes: AtomicU32::new(u32::MAX) }
    }

    /// Keeps the limits of a connection in mind. Returns false if its peer has stated none yet.
    pub(crate) fn learn(&self, conn: &Conn) -> bool {
        let (Some(streams), Some(bytes)) = (conn.streams_allowed(), conn.field_section_allowed()) else {
            return false;
        };
        self.streams.store(streams, Relaxed);
        self.field_section_bytes.store(bytes, Relaxed);
        true
    }

    /// Tells the limits to a connection that is to be opened.
    pub(crate) fn inform(&self, next: &mut Connect) {
        next.streams_expected = self.streams.load(Relaxed);
        next.field_section_expected = self.field_section_bytes.load(Relaxed);
    }
}
