//! The part that one stream has in the room of the output (`room.rs`).

/// The place of a stream among those that wait for room, and what it has used of its share.
#[derive(Default)]
pub(crate) struct Share {
    turn: Turn,
    /// The number of the call for which it was given a share.
    call: u32,
    /// The bytes it has used of that share.
    used: usize,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum Turn {
    /// It does not wait.
    #[default]
    None,
    /// It waits to be called.
    Waits,
    /// It was called, and has not waited again since.
    Called,
}

impl Share {
    /// Returns the bytes it has used of the share that it got by this call.
    #[inline]
    pub(crate) fn used(&self, call: u32) -> usize {
        if self.call == call { self.used } else { 0 }
    }

    /// Notes that it has used more of the share that it got by this call.
    #[inline]
    pub(crate) fn note_used(&mut self, call: u32, bytes: usize) {
        (self.used, self.call) = (self.used(call) + bytes, call);
    }

    /// It waits from now on. Returns true if it is not in the queue yet.
    #[inline]
    pub(crate) fn wait(&mut self) -> bool {
        std::mem::replace(&mut self.turn, Turn::Waits) == Turn::None
    }

    /// Calls it. False if it was called before and has not waited since: then it leaves the queue.
    pub(crate) fn call(&mut self) -> bool {
        let waits = self.turn == Turn::Waits;
        self.turn = if waits { Turn::Called } else { Turn::None };
        waits
    }

    /// Waits no more.
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
