//! Large content that is handed over in the memory it was read into, instead of being copied: its stream
//! claims that memory, and the connection reads on into other memory.
//!
//! Rule 1: one stream claims all that was read at once. It begins with much, so that not a whole buffer is
//! kept for a little, and with nothing that its user has not read. Others' content is copied.
//! Rule 2: parts beyond some are copied, so that no list of parts grows with what peers send.

use std::ops::Range;

use crate::{connection::memory::spares::Spares, message::content::Content, transport::read_buf::ReadBuf};

/// The bytes of content from which on a claim begins.
pub(crate) const BEGIN_BYTES: usize = 8 * 1024;
/// The parts that claimed content may have, beside the first.
const PARTS_MAX: usize = 64;

/// The claim on the input that is being read, if there is one.
#[derive(Default)]
pub(crate) struct Claims {
    claim: Option<Claim>,
    /// The slot whose first content in this input was copied, and the place of that content in the input.
    copied: Option<(u32, Range<u32>)>,
}

/// The stream that gets the input that is being read.
struct Claim {
    slot: u32,
    first: Range<u32>,
    /// The parts that follow the first, without bytes.
    parts: Content,
    /// The content that comes after the last part, copied.
    rest: Vec<u8>,
}

impl Claims {
    /// Begins with other input, of which nothing is claimed or copied yet.
    #[inline]
    pub(crate) fn begin_input(&mut self) {
        self.copied = None;
    }

    /// Returns the slot that has claimed the input.
    #[inline]
    pub(crate) fn slot(&self) -> Option<u32> {
        self.claim.as_ref().map(|claim| claim.slot)
    }

    /// Records that the first content of a slot was copied from this place.
    #[inline]
    pub(crate) fn note_copied(&mut self, slot: u32, place: Range<u32>) {
        self.copied = Some((slot, place));
    }

    /// Begins a claim for a slot that has this content, if all of it is still in the input; returns the copy
    /// of it, which is not needed any more. `None` if the slot has other content.
    pub(crate) fn begin(
        &mut self,
        slot: u32,
        content: &mut Content,
        place: Range<u32>,
        spares: &mut Spares,
    ) -> Option<Content> {
        let copied = self.copied.take();
        let copied = copied.filter(|(of, place)| *of == slot && content.len() as usize == place.len());
        if !(content.is_empty() || copied.is_some()) {
            return None;
        }
        let (mut parts, mut copy) = (spares.take_list(), Content::default());
        let first = match copied {
            // The end of a frame that had begun before: it is still where it was read.
            Some((_, first)) => {
                parts.note_part(place, PARTS_MAX);
                copy = std::mem::take(content);
                first
            }
            None => place,
        };
        self.claim = Some(Claim { slot, first, parts, rest: Vec::new() });
        Some(copy)
    }

    /// Adds content of the slot that has claimed the input.
    pub(crate) fn add(&mut self, bytes: &[u8], input: &ReadBuf) {
        if let Some(claim) = self.claim.as_mut().filter(|_| !bytes.is_empty())
            && !claim.parts.note_part(input.place_of(bytes), PARTS_MAX)
        {
            claim.rest.extend_from_slice(bytes);
        }
    }

    /// Ends the claim, and returns content made of it and of the memory of the input.
    pub(crate) fn settle(
        &mut self,
        memory: Vec<u8>,
        is_tight: bool,
        spares: &mut Spares,
    ) -> Option<(u32, Content)> {
        let claim = self.claim.take()?;
        let mut content = if claim.parts.is_none() { spares.take_list() } else { claim.parts };
        content.hold(memory, claim.first);
        if !claim.rest.is_empty() {
            content.append(&claim.rest, is_tight);
        }
        Some((claim.slot, content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> ReadBuf {
        ReadBuf::of(bytes.to_vec())
    }

    #[test]
    fn content_is_what_was_claimed_of_the_input() {
        let (mut claims, mut spares, mut content) =
            (Claims::default(), Spares::default(), Content::default());
        let input = read(b"..abc..de.");
        let copy = claims.begin(7, &mut content, 2..5, &mut spares);
        assert!(copy.is_some_and(|copy| copy.is_none()));
        claims.add(&input.unread()[7..9], &input);
        assert_eq!(claims.slot(), Some(7));
        let (slot, mut content) =
            claims.settle(input.into_memory(), false, &mut spares).expect("it is claimed");
        assert_eq!((slot, content.take_whole()), (7, b"abcde".to_vec()));
        assert!(claims.slot().is_none() && claims.settle(Vec::new(), false, &mut spares).is_none());
    }

    #[test]
    fn a_copy_of_the_same_input_is_given_up_and_other_content_is_not() {
        let (mut claims, mut spares, mut content) =
            (Claims::default(), Spares::default(), Content::default());
        let input = read(b"..abc..de.");
        content.append(b"abc", false);
        assert!(claims.begin(7, &mut content, 7..9, &mut spares).is_none(), "nobody knows where it was read");
        claims.note_copied(7, 2..5);
        claims.begin_input();
        assert!(claims.begin(7, &mut content, 7..9, &mut spares).is_none(), "it was read before");
        claims.note_copied(7, 2..5);
        let copy = claims.begin(7, &mut content, 7..9, &mut spares).expect("it is still there");
        assert_eq!((copy.len(), content.len()), (3, 0));
        let (_, mut content) = claims.settle(input.into_memory(), false, &mut spares).expect("it is claimed");
        assert_eq!(content.take_whole(), b"abcde");
    }

    #[test]
    fn parts_beyond_some_are_copied() {
        let (mut claims, mut spares, mut content) =
            (Claims::default(), Spares::default(), Content::default());
        let input = read(&[b'x'; 200]);
        claims.begin(0, &mut content, 0..1, &mut spares);
        (1..=PARTS_MAX + 9).for_each(|at| claims.add(&input.unread()[at..at + 1], &input));
        let (_, mut content) = claims.settle(input.into_memory(), false, &mut spares).expect("it is claimed");
        assert_eq!(content.take_whole().len(), PARTS_MAX + 10);
    }
}
