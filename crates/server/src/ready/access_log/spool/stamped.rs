//! Timestamped lines in one buffer.
//!
//! Rule: a line counts once it is whole; the rest of one that was given up is overwritten by the next.

use std::time::{SystemTime, UNIX_EPOCH};

/// The bytes before a line: its time in nanoseconds since the epoch, then its length.
const TIME_BYTES: usize = 8;
const HEADER_BYTES: usize = TIME_BYTES + 4;

/// Lines to be read once, in the order in which they were added. Allocates nothing beyond its buffer.
#[derive(Default)]
pub(super) struct StampedLines {
    bytes: Vec<u8>,
    /// The end of the last whole line.
    end: usize,
    /// The beginning of the first line that was not read yet.
    at: usize,
}

impl StampedLines {
    /// Makes an empty buffer with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    pub(super) fn has_memory(&self) -> bool {
        self.bytes.capacity() > 0
    }

    /// Returns the bytes of unread lines, with their headers.
    pub(super) fn unread(&self) -> usize {
        self.end - self.at
    }

    /// Adds the text that `write` appends as a line with this time.
    pub(super) fn push(&mut self, time: u64, write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.truncate(self.end);
        self.bytes.extend_from_slice(&time.to_le_bytes());
        self.bytes.extend_from_slice(&[0; HEADER_BYTES - TIME_BYTES]);
        let begin = self.bytes.len();
        write(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - begin).unwrap_or(u32::MAX);
        self.bytes[begin - (HEADER_BYTES - TIME_BYTES)..begin].copy_from_slice(&length.to_le_bytes());
        self.end = self.bytes.len();
    }

    /// Returns the time of the next line.
    pub(super) fn next_time(&self) -> Option<u64> {
        let time = self.bytes[self.at..self.end].first_chunk()?;
        Some(u64::from_le_bytes(*time))
    }

    /// Reads the next line.
    pub(super) fn read(&mut self) -> Option<&[u8]> {
        let (_, rest) = self.bytes[self.at..self.end].split_at_checked(TIME_BYTES)?;
        let (length, rest) = rest.split_first_chunk()?;
        let line = rest.get(..u32::from_le_bytes(*length) as usize)?;
        self.at += HEADER_BYTES + line.len();
        Some(line)
    }

    /// Replaces its read lines by the unread lines of another, which is left empty.
    pub(super) fn keep_rest(&mut self, of: &mut Self) {
        self.clear();
        self.bytes.extend_from_slice(&of.bytes[of.at..of.end]);
        self.end = self.bytes.len();
        of.clear();
    }

    fn clear(&mut self) {
        self.bytes.clear();
        (self.end, self.at) = (0, 0);
    }
}

/// Returns a time in the form of a stamp.
pub(super) fn stamp(time: SystemTime) -> u64 {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn push(lines: &mut StampedLines, time: u64, text: &str) {
        lines.push(time, |line| line.extend_from_slice(text.as_bytes()));
    }

    fn rest(lines: &mut StampedLines) -> Vec<(u64, String)> {
        std::iter::from_fn(|| {
            let time = lines.next_time()?;
            Some((time, String::from_utf8(lines.read()?.to_vec()).unwrap()))
        })
        .collect()
    }

    #[test]
    fn lines_are_read_once_and_in_order() {
        let mut lines = StampedLines::default();
        push(&mut lines, 7, "one\n");
        push(&mut lines, 5, "");
        push(&mut lines, u64::MAX, "three\n");
        assert_eq!(lines.read(), Some(&b"one\n"[..]));
        let mut kept = StampedLines::default();
        kept.keep_rest(&mut lines);
        assert_eq!((lines.unread(), lines.next_time(), lines.read()), (0, None, None));
        assert_eq!(rest(&mut kept), [(5, String::new()), (u64::MAX, "three\n".into())]);
        assert_eq!(kept.unread(), 0);
    }

    #[test]
    fn a_line_that_was_given_up_leaves_nothing() {
        let mut lines = StampedLines::default();
        push(&mut lines, 1, "one\n");
        let given_up = catch_unwind(AssertUnwindSafe(|| {
            lines.push(2, |line| {
                line.extend_from_slice(b"cut");
                std::panic::resume_unwind(Box::new(()));
            });
        }));
        assert!(given_up.is_err());
        push(&mut lines, 3, "three\n");
        assert_eq!(rest(&mut lines), [(1, "one\n".to_owned()), (3, "three\n".to_owned())]);
    }
}
