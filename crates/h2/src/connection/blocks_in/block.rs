//! A field block that is being received, and the memory for it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_fields::{Head, SECTION_KEPT_BYTES_MAX};
use alula_hpack::Memo;
use alula_machine::StreamKey;

use crate::guard::violation::Violation;
use crate::head::fields_in::{FieldCheck, Section};
use crate::head::known_head::KnownHead;

/// The block that is being received, and the memory for it.
pub(crate) struct Block {
    pub(super) is_open: bool,
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    pub(super) target: Target,
    pub(super) continuations: u32,
    /// The bytes of the block that the decoder has received.
    pub(super) wire_bytes: u32,
    /// True while the decoder has received no byte of the block.
    pub(super) is_fresh: bool,
    pub(super) check: FieldCheck,
    /// The head that is being read; `None` until a block comes, and after the first one has left with its
    /// stream.
    pub(super) head: Option<Box<Head>>,
    pub(super) cookies: Vec<u8>,
    pub(super) memo: Memo<KnownHead>,
}

/// The memory for cookies that is kept: usual ones have less.
const COOKIES_KEPT_BYTES_MAX: usize = 256;

/// The use of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A new stream (server).
    Request,
    /// The final response of a stream, or an interim one (client).
    Response(StreamKey),
    Trailers(StreamKey),
    /// A new stream for which there is no room, though the peer keeps to its limit (server).
    Refused,
    /// No use: the block is late, or breaks this rule.
    Nothing(Option<Violation>),
}

impl Block {
    pub(crate) fn new() -> Self {
        Self {
            is_open: false,
            stream: 0,
            end_stream: false,
            target: Target::Nothing(None),
            continuations: 0,
            wire_bytes: 0,
            is_fresh: true,
            check: FieldCheck::new(Section::Discarded),
            head: None,
            cookies: Vec::new(),
            memo: Memo::new(),
        }
    }

    /// Returns true if the next block needs a newly allocated head.
    #[inline]
    pub(crate) const fn needs_head(&self) -> bool {
        self.head.is_none()
    }

    /// Makes the next block be read into this head, unless there is one already.
    #[inline]
    pub(crate) fn read_into(&mut self, head: Box<Head>) {
        self.head.get_or_insert(head);
    }

    /// Takes away the spare head, unless a block is being received.
    #[inline]
    pub(crate) fn take_empty_head(&mut self) -> Option<Box<Head>> {
        self.head.take_if(|_| !self.is_open)
    }

    /// Returns the stream of an incomplete block.
    #[inline]
    pub(crate) fn unfinished(&self) -> Option<u32> {
        self.is_open.then_some(self.stream)
    }

    /// Returns true if the last block belongs, or belonged, to a new request.
    const fn is_of_request(&self) -> bool {
        matches!(self.target, Target::Request)
    }

    /// Returns the head of a new request whose block is incomplete, as far as it was decoded.
    pub(crate) fn unfinished_request(&self) -> Option<&Head> {
        self.head.as_deref().filter(|_| self.is_open && !self.is_fresh && self.is_of_request())
    }

    /// Returns the head of the new request whose block was read last.
    pub(crate) fn request(&self) -> Option<&Head> {
        self.head.as_deref().filter(|_| self.is_of_request())
    }

    /// Forgets known blocks and gives their memory back.
    pub(crate) fn trim(&mut self) {
        self.memo = Memo::new();
        if let Some(head) = &mut self.head {
            head.trim(SECTION_KEPT_BYTES_MAX);
        }
        if self.cookies.capacity() > COOKIES_KEPT_BYTES_MAX {
            self.cookies = Vec::new();
        }
    }

    pub(crate) fn memory_bytes(&mut self) -> usize {
        let known: usize = self.memo.kept_mut().map(|known| known.memory_bytes()).sum();
        self.head.as_ref().map_or(0, |head| head.capacity_bytes())
            + self.cookies.capacity()
            + self.memo.memory_bytes()
            + known
    }
}
