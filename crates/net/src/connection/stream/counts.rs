//! The bytes of content that arrived and were sent on one stream.

use crate::error::Error;

/// Counts over all streams that a slot has had: they never go back, so that an old value is not taken for
/// progress.
#[derive(Default)]
pub(crate) struct Counts {
    received: u64,
    sent: u64,
    /// The two counts at the start of the stream.
    began_at: [u64; 2],
    /// The bound on the content that is received, and the count at which it is reached.
    received_max: Option<(u64, u64)>,
}

impl Counts {
    /// Counts for another stream from now on.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.began_at = self.moved();
    }

    /// Lifts the bound.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.received_max = None;
    }

    #[inline]
    pub(crate) fn receive(&mut self, bytes: usize) {
        self.received += bytes as u64;
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: usize) {
        self.sent += bytes as u64;
    }

    /// Returns the bytes received and sent since the slot exists.
    #[inline]
    pub(crate) fn moved(&self) -> [u64; 2] {
        [self.received, self.sent]
    }

    /// Returns the bytes received and sent on this stream.
    pub(crate) fn of_stream(&self) -> [u64; 2] {
        let [received, sent] = self.began_at;
        [self.received - received, self.sent - sent]
    }

    /// Bounds the bytes that are handed out from now on; so many of the received ones have not been handed
    /// out yet.
    pub(crate) fn bound(&mut self, bytes_max: u64, here: u32) {
        let handed_out = self.received - u64::from(here);
        self.received_max = Some((handed_out.saturating_add(bytes_max), bytes_max));
    }

    /// Returns the error for content that is longer than the bound, if it is.
    #[inline]
    pub(crate) fn excess(&self) -> Option<Error> {
        let (received_max, bytes_max) = self.received_max?;
        (self.received > received_max).then(|| Error::too_long(bytes_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_its_own_part_of_what_moved() {
        let mut counts = Counts::default();
        counts.receive(5);
        counts.begin();
        counts.receive(2);
        counts.send(3);
        assert_eq!((counts.moved(), counts.of_stream()), ([7, 3], [2, 3]));
    }

    #[test]
    fn what_was_handed_out_does_not_count_against_a_bound() {
        let mut counts = Counts::default();
        counts.receive(10);
        counts.bound(6, 4);
        counts.receive(2);
        assert!(counts.excess().is_none(), "six were handed out, and six are here");
        counts.receive(1);
        assert!(counts.excess().is_some());
        counts.end();
        assert!(counts.excess().is_none());
    }
}
