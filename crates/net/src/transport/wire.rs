//! The wire: one direction of a pipe in memory, the pieces it cuts bytes into, and where it breaks.

/// The default capacity of a direction: as much as a socket on loopback takes at least.
const CAPACITY: usize = 64 * 1024;

/// The longest of random pieces, in bytes: short enough to cut each head and each frame.
const RANDOM_PIECE_MAX: u64 = 64;

/// A direction of a connection in memory. The default carries what is written whole, holds up to 64 KiB of
/// it, and never breaks.
///
/// ```
/// use alula::testing::Wire;
///
/// let wire = Wire::new().pieces_of(1).reset_after(100);
/// ```
#[derive(Clone, Debug)]
pub struct Wire {
    pieces: Pieces,
    breaks: Option<Break>,
    capacity: usize,
}

#[derive(Clone, Copy, Debug)]
enum Pieces {
    Whole,
    Of(usize),
    /// The state of the generator, and the rest of the present piece.
    Random(u64, usize),
}

#[derive(Clone, Copy, Debug)]
struct Break {
    after: u64,
    by: Fault,
}

/// The way in which a direction breaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    Reset,
    End,
    Silence,
}

/// The bytes that a reader may get next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// The most bytes that are passed at a time; never 0.
    Bytes(usize),
    Fault(Fault),
}

impl Default for Wire {
    fn default() -> Self {
        Self { pieces: Pieces::Whole, breaks: None, capacity: CAPACITY }
    }
}

impl Wire {
    /// Returns a direction that delivers all bytes as they are written.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Delivers at most so many bytes with each read; 0 counts as 1.
    #[must_use]
    pub fn pieces_of(mut self, bytes: usize) -> Self {
        self.pieces = Pieces::Of(bytes.max(1));
        self
    }

    /// Delivers pieces of 1 to 64 bytes, the same ones for the same seed.
    #[must_use]
    pub fn random_pieces(mut self, seed: u64) -> Self {
        // The state must not be zero, and near seeds are not to begin alike.
        self.pieces = Pieces::Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, 0);
        self
    }

    /// Resets the connection, both directions of it, once so many bytes were read: reading and writing then
    /// fail with `ConnectionReset`.
    #[must_use]
    pub fn reset_after(self, bytes: u64) -> Self {
        self.breaks(bytes, Fault::Reset)
    }

    /// Ends this direction once so many bytes were read, as if the writer had closed its side; its further
    /// bytes are lost.
    #[must_use]
    pub fn end_after(self, bytes: u64) -> Self {
        self.breaks(bytes, Fault::End)
    }

    /// Delivers nothing more once so many bytes were read, not even an end: the peer seems to have gone away
    /// without a word.
    #[must_use]
    pub fn silent_after(self, bytes: u64) -> Self {
        self.breaks(bytes, Fault::Silence)
    }

    /// Holds at most so many written and unread bytes; a writer waits for room. Default 64 KiB; 0 counts as
    /// 1.
    #[must_use]
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes.max(1);
        self
    }

    fn breaks(mut self, after: u64, by: Fault) -> Self {
        self.breaks = Some(Break { after, by });
        self
    }

    /// Returns the room for more bytes, if so many are held.
    pub(crate) fn room(&self, held: usize) -> usize {
        self.capacity.saturating_sub(held)
    }

    /// Returns what a reader may get that has read so many bytes.
    pub(crate) fn next(&mut self, read: u64) -> Next {
        let left = match self.breaks {
            Some(Break { after, by }) if after <= read => return Next::Fault(by),
            Some(Break { after, .. }) => usize::try_from(after - read).unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        Next::Bytes(left.min(self.piece()))
    }

    fn piece(&mut self) -> usize {
        match &mut self.pieces {
            Pieces::Whole => usize::MAX,
            Pieces::Of(bytes) => *bytes,
            Pieces::Random(state, left) => {
                if *left == 0 {
                    *left = random_piece(state);
                }
                *left
            }
        }
    }

    /// Records that so many of the bytes that [`next`](Self::next) has allowed were read.
    pub(crate) fn was_read(&mut self, bytes: usize) {
        if let Pieces::Random(_, left) = &mut self.pieces {
            *left = left.saturating_sub(bytes);
        }
    }
}

/// Returns the length of the next piece, by a xorshift* generator.
fn random_piece(state: &mut u64) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (1 + (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % RANDOM_PIECE_MAX) as usize
}
