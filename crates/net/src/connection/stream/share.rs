//! The share of one stream in the room of the output (`room.rs`).

/// The place of a stream among those that wait for room, and the used part of its share.
#[derive(Default)]
pub(crate) struct Share {
    turn: Turn,
    /// The number of the call that gave the share.
    call: u32,
    /// The used bytes of that share.
    used: usize,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum Turn {
    /// The stream does not wait.
    #[default]
    None,
    /// The stream waits to be called.
    Waits,
    /// The stream was called, and has not waited again since.
    Called,
}

impl Share {
    /// Returns the used bytes of the share that this call gave.
    #[inline]
    pub(crate) fn used(&self, call: u32) -> usize {
        if self.call == call { self.used } else { 0 }
    }

    /// Records that more of the share that this call gave is used.
    #[inline]
    pub(crate) fn note_used(&mut self, call: u32, bytes: usize) {
        (self.used, self.call) = (self.used(call) + bytes, call);
    }

    /// Makes the stream wait. Returns true if it is not in the queue yet.
    #[inline]
    pub(crate) fn wait(&mut self) -> bool {
        std::mem::replace(&mut self.turn, Turn::Waits) == Turn::None
    }

    /// Marks the stream as called. False if it was called before and has not waited since: then it leaves the
    /// queue.
    pub(crate) fn call(&mut self) -> bool {
        let waits = self.turn == Turn::Waits;
        self.turn = if waits { Turn::Called } else { Turn::None };
        waits
    }

    /// Ends the wait.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.turn = Turn::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_called_and_does_not_wait_again_leaves_the_queue() {
        let mut share = Share::default();
        assert!(share.wait() && !share.wait(), "it is in the queue once");
        assert!(share.call() && !share.wait(), "it is still in the queue");
        assert!(share.call() && !share.call());
        assert!(share.wait(), "it had left");
    }

    #[test]
    fn a_share_is_whole_again_by_another_call() {
        let mut share = Share::default();
        share.note_used(1, 10);
        share.note_used(1, 5);
        assert_eq!((share.used(1), share.used(2)), (15, 0));
        share.note_used(2, 3);
        assert_eq!((share.used(1), share.used(2)), (0, 3));
    }
}
