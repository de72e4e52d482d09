//! A buffer for the few bytes that must be complete to be parsed: a frame header, or a small payload.

/// The bytes that have come so far. Nothing longer than a frame header is ever held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hold {
    bytes: [u8; 9],
    len: u8,
}

impl Hold {
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes `N` bytes from what is held and the input, or puts all of the input aside.
    #[inline]
    pub(crate) fn gather<const N: usize>(&mut self, rest: &mut &[u8]) -> Option<[u8; N]> {
        self.read(rest, |bytes| *bytes)
    }

    /// Takes bytes like [`gather`](Self::gather), and parses them in place.
    #[inline]
    pub(crate) fn read<const N: usize, T>(
        &mut self,
        rest: &mut &[u8],
        parse: impl FnOnce(&[u8; N]) -> T,
    ) -> Option<T> {
        const { assert!(N <= 9) };
        if self.len == 0
            && let Some((bytes, after)) = rest.split_first_chunk()
        {
            *rest = after;
            return Some(parse(bytes));
        }
        self.gather_pieces(rest).as_ref().map(parse)
    }

    #[cold]
    fn gather_pieces<const N: usize>(&mut self, rest: &mut &[u8]) -> Option<[u8; N]> {
        let held = usize::from(self.len);
        let (bytes, after) = rest.split_at(rest.len().min(N - held));
        self.bytes[held..held + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u8;
        *rest = after;
        if usize::from(self.len) < N {
            return None;
        }
        self.len = 0;
        self.bytes.first_chunk().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together() {
        for cut in 0..=4 {
            let (mut first, mut second) = b"abcdef".split_at(cut);
            let mut hold = Hold::default();
            let whole = hold.gather::<4>(&mut first).or_else(|| hold.gather::<4>(&mut second));
            assert_eq!(whole, Some(*b"abcd"));
            assert!(first.is_empty());
            assert_eq!(hold.gather::<3>(&mut second), None);
            assert_eq!(hold.gather::<3>(&mut &b"g"[..]), Some(*b"efg"));
        }
    }
}
