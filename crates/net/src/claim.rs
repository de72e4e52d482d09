//! Large content that is handed over as it was read, instead of being copied: its stream claims the input, and the connection
//! reads on into other memory, which is that of content that was read.
//!
//! Rule 1: one stream claims all that was read at once. It begins with much, so that not a whole buffer is kept for a little, and
//! with nothing that its user has not read. Others' content is copied.
//! Rule 2: parts beyond some are copied, so that no list of parts grows with what peers send.

use std::ops::Range;

use crate::{read_buf::ReadBuf, shared::Shared};

/// A claim begins with so many octets.
const BEGIN_OCTETS: usize = 8 * 1024;
/// The parts that content may have, beside the first.
const PARTS_MAX: usize = 64;

/// Who gets the input that is being read.
pub(crate) struct Claim {
    slot: u32,
    first: Range<u32>,
    /// What comes after as many parts as there may be.
    rest: Vec<u8>,
}

impl Shared {
    /// Returns true if content that was read is left in the input, for this slot to have; else it is to be copied.
    #[inline]
    pub(crate) fn claims(&mut self, slot: u32, bytes: &[u8], input: &ReadBuf) -> bool {
        match &self.claim {
            None => bytes.len() >= BEGIN_OCTETS && self.begin_claim(slot, input.place_of(bytes)),
            Some(claim) => claim.slot == slot && self.continue_claim(bytes, input),
        }
    }

    fn begin_claim(&mut self, slot: u32, place: Range<u32>) -> bool {
        let content = &mut self.slots[slot as usize].content;
        let copied =
            self.copied.take().filter(|(of, place)| *of == slot && content.len() as usize == place.len());
        if self.held.is_tight() || !(content.is_empty() || copied.is_some()) {
            return false;
        }
        let first = match copied {
            // The end of a frame that had begun before: it is still where it was read.
            Some((_, first)) => {
                self.list.note_part(place, PARTS_MAX);
                let copy = std::mem::take(content);
                self.give_content(copy);
                first
            }
            None => place,
        };
        self.claim = Some(Claim { slot, first, rest: Vec::new() });
        true
    }

    fn continue_claim(&mut self, bytes: &[u8], input: &ReadBuf) -> bool {
        if !bytes.is_empty()
            && !self.list.note_part(input.place_of(bytes), PARTS_MAX)
            && let Some(claim) = &mut self.claim
        {
            claim.rest.extend_from_slice(bytes);
        }
        true
    }

    /// Gives the input to whoever has claimed it; what was not taken of it is moved to other memory.
    #[cold]
    pub(crate) fn hand_over_input(&mut self) {
        let Some(claim) = self.claim.take() else { return };
        // From now on it reads into its own buffers, which take turns with those that content holds.
        self.keeps_input = true;
        let input = std::mem::take(&mut self.input);
        let left = input.unread();
        if !left.is_empty() {
            self.input = self.spare_input();
            self.input.append(left);
        }
        let mut content = std::mem::take(&mut self.list);
        content.hold(input.into_memory(), claim.first);
        if !claim.rest.is_empty() {
            content.append(&claim.rest, self.held.is_tight());
        }
        self.held.content_grew(content.capacity());
        let before = std::mem::replace(&mut self.slots[claim.slot as usize].content, content);
        self.give_content(before);
    }
}
