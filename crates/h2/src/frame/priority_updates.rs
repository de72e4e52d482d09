//! The PRIORITY_UPDATE frame that is being received, and the priorities of streams that are not open yet.

use alloc::vec::Vec;

use crate::frame::priority::Priority;

/// The frame that is being received, and one priority for each idle stream, for at most as many as the peer
/// may open.
#[derive(Debug, Default)]
pub(crate) struct PriorityUpdates {
    stream: u32,
    value: Vec<u8>,
    foretold: Vec<(u32, Priority)>,
}

impl PriorityUpdates {
    /// Begins a frame about this stream.
    pub(crate) fn begin(&mut self, stream: u32) {
        self.stream = stream;
        self.value.clear();
    }

    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.value.extend_from_slice(bytes);
    }

    /// Returns the stream and the priority in the frame; none if the value is invalid.
    pub(crate) fn received(&self) -> (u32, Option<Priority>) {
        (self.stream, Priority::parse(&self.value))
    }

    pub(crate) fn foretell(&mut self, id: u32, priority: Priority) {
        self.foretold.push((id, priority));
    }

    /// Returns the number of idle streams with a priority.
    pub(crate) fn foretold(&self) -> usize {
        self.foretold.len()
    }

    pub(crate) fn foretold_mut(&mut self, id: u32) -> Option<&mut Priority> {
        self.foretold.iter_mut().find(|(other, _)| *other == id).map(|(_, known)| known)
    }

    /// Takes the priority of a stream that opens, and drops those of lower streams, which are not idle any
    /// more (RFC 9113 §5.1.1).
    pub(crate) fn take_foretold(&mut self, id: u32) -> Option<Priority> {
        let foretold = self.foretold.iter().find(|(other, _)| *other == id).map(|(_, known)| *known);
        self.foretold.retain(|(other, _)| *other > id);
        foretold
    }

    /// Returns true if idle streams have priorities.
    #[inline]
    pub(crate) fn are_foretold(&self) -> bool {
        !self.foretold.is_empty()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.value.capacity() + self.foretold.capacity() * size_of::<(u32, Priority)>()
    }
}
