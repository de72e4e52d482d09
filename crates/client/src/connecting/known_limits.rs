//! The limits that an origin has announced, which its next connection is expected to have.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use alula_net::{Conn, Connect};

pub(crate) struct KnownLimits {
    /// The number of streams that the origin allows at once.
    streams: AtomicU32,
    /// The bytes of a field section that the origin accepts; the largest number if it has announced none.
    field_section_bytes: AtomicU32,
}

impl KnownLimits {
    /// Creates limits for an unknown origin, with an expected number of streams.
    pub(crate) const fn expecting(streams: u32) -> Self {
        Self { streams: AtomicU32::new(streams), field_section_bytes: AtomicU32::new(u32::MAX) }
    }

    /// Records the limits of a connection. Returns false if its peer has stated none yet.
    pub(crate) fn learn(&self, conn: &Conn) -> bool {
        let (Some(streams), Some(bytes)) = (conn.streams_allowed(), conn.field_section_allowed()) else {
            return false;
        };
        self.streams.store(streams, Relaxed);
        self.field_section_bytes.store(bytes, Relaxed);
        true
    }

    /// Passes the limits to a connection that is being opened.
    pub(crate) fn inform(&self, next: &mut Connect) {
        next.streams_expected = self.streams.load(Relaxed);
        next.field_section_expected = self.field_section_bytes.load(Relaxed);
    }
}
