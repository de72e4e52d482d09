//! The memory that a parser takes, held against the length of what it reads.

use std::cell::Cell;

/// The bytes that most parsers may hold for each byte that they read.
const MULTIPLE_MAX: u64 = 8;

/// The memory that a parser took for an input.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Use {
    /// The bytes of the input.
    pub input: u64,
    /// The most bytes that were held at once.
    pub peak: u64,
}

impl Use {
    /// Returns how many times the input was held at once.
    pub fn multiple(self) -> f64 {
        self.peak as f64 / self.input.max(1) as f64
    }
}

thread_local! {
    static WORST: Cell<Use> = const { Cell::new(Use { input: 0, peak: 0 }) };
}

/// Returns the greatest use of memory of the calling thread's parsers since the last call, beyond what each
/// may take for any input.
pub fn take_worst() -> Use {
    WORST.take()
}

/// Runs a parser of an input of so many bytes, with the bytes that it may take for any input.
///
/// # Panics
/// When it holds more than these and eight times its input at once, counting its result.
pub(crate) fn bounded<R>(input: usize, for_any: u64, parser: impl FnOnce() -> R) -> R {
    bounded_by(MULTIPLE_MAX, input, for_any, parser)
}

/// As [`bounded`], by another multiple: that by which the store charges the parser, or a form of output that
/// is longer by itself.
pub(crate) fn bounded_by<R>(multiple: u64, input: usize, for_any: u64, parser: impl FnOnce() -> R) -> R {
    let (result, peak) = alula_tally::peak(parser);
    let input = input as u64;
    let beyond = Use { input, peak: peak.saturating_sub(for_any) };
    if beyond.multiple() >= WORST.get().multiple() {
        WORST.set(beyond);
    }
    assert!(beyond.peak <= multiple * input, "{peak} bytes were held at once to read {input}");
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: alula_tally::Tally = alula_tally::Tally::system();

    #[test]
    fn a_parser_may_hold_eight_times_its_input() {
        take_worst();
        assert_eq!(bounded(100, 200, || vec![0_u8; 1000].len()), 1000);
        assert_eq!(take_worst(), Use { input: 100, peak: 800 });
        assert_eq!(take_worst(), Use::default());
    }

    #[test]
    #[should_panic(expected = "1001 bytes were held at once to read 100")]
    fn one_byte_more_is_found() {
        bounded(100, 200, || drop(std::hint::black_box(vec![0_u8; 1001])));
    }
}
