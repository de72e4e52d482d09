//! Ways to cut input into pieces: a parser must answer the same however its input arrives.

use std::fmt::Debug;

use crate::Rng;

/// Input cut into pieces, in order and nothing lost; empty pieces only where the input is empty or a test
/// wants them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pieces<'a>(Vec<&'a [u8]>);

impl<'a> Pieces<'a> {
    /// The pieces in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + '_ {
        self.0.iter().copied()
    }

    /// The lengths of the pieces, for messages.
    pub fn lengths(&self) -> Vec<usize> {
        self.iter().map(<[u8]>::len).collect()
    }
}

/// All of it at once.
pub fn whole(input: &[u8]) -> Pieces<'_> {
    Pieces(vec![input])
}

/// One byte after the other.
pub fn byte_by_byte(input: &[u8]) -> Pieces<'_> {
    Pieces(input.chunks(1).collect())
}

/// Every way to cut the input in two, also before its first byte and behind its last.
pub fn cuts_in_two(input: &[u8]) -> impl Iterator<Item = Pieces<'_>> {
    (0..=input.len()).map(|at| Pieces(vec![&input[..at], &input[at..]]))
}

/// One random way to cut the input; many small pieces or a few big ones, as it comes.
pub fn random_split<'a>(input: &'a [u8], rng: &mut Rng) -> Pieces<'a> {
    let piece_max = 1 + rng.below(input.len().max(1));
    let (mut pieces, mut rest) = (Vec::new(), input);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rng.range(1..piece_max + 1).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    Pieces(pieces)
}

/// Every beginning of the input, from nothing to all but the last byte.
pub fn truncations(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..input.len()).map(|len| &input[..len])
}

/// Runs the closure on the whole input and on many ways to cut it, and gives its answer, which must always be
/// the same.
///
/// The ways: byte by byte, every cut in two (of inputs over 4 KiB a sample of 512), and 32 random ones.
///
/// # Panics
/// When an answer differs from that for the whole input; the message has the lengths of the pieces.
///
/// ```
/// use alula_testkit::at_every_split;
///
/// let sum = at_every_split(b"\x01\x02\x03", 1, |pieces| pieces.iter().flatten().map(|&byte| byte as u32).sum::<u32>());
/// assert_eq!(sum, 6);
/// ```
pub fn at_every_split<T: PartialEq + Debug>(
    input: &[u8],
    seed: u64,
    mut run: impl FnMut(&Pieces<'_>) -> T,
) -> T {
    let expected = run(&whole(input));
    let mut check = |pieces: Pieces<'_>| {
        let answer = run(&pieces);
        assert!(answer == expected, "in pieces of {:?}:\n{answer:?}\nwhole:\n{expected:?}", pieces.lengths());
    };
    check(byte_by_byte(input));
    let step = if input.len() > 4096 { input.len() / 512 } else { 1 };
    cuts_in_two(input).step_by(step).for_each(&mut check);
    let mut rng = Rng::new(seed);
    (0..32).for_each(|_| check(random_split(input, &mut rng)));
    expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_or_moved() {
        let mut rng = Rng::new(5);
        for len in 0..40 {
            let input = rng.bytes(len);
            let joined = at_every_split(&input, 1, |pieces| pieces.iter().collect::<Vec<_>>().concat());
            assert_eq!(joined, input);
            assert_eq!((cuts_in_two(&input).count(), truncations(&input).count()), (len + 1, len));
            assert_eq!(byte_by_byte(&input).lengths(), vec![1; len]);
            assert!(random_split(&input, &mut rng).iter().all(|piece| !piece.is_empty()));
        }
        assert_eq!(truncations(b"abc").collect::<Vec<_>>(), [&b""[..], b"a", b"ab"]);
    }

    #[test]
    #[should_panic(expected = "in pieces of [1, 1, 1]")]
    fn a_difference_is_found() {
        at_every_split(b"abc", 1, |pieces| pieces.iter().len().min(3) == 3);
    }

    #[test]
    fn long_inputs_are_sampled() {
        let mut runs = 0;
        at_every_split(&[0; 100_000], 1, |_| runs += 1);
        assert!((500..700).contains(&runs), "{runs}");
    }
}
