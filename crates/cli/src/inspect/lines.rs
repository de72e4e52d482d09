//! The lines of an explanation, in visible text.

use std::mem;

use crate::terminal;

/// The lines that are not written yet, and the number of faults so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    faults: usize,
}

impl Lines {
    /// Appends a line of the program's own text, or of [`shown`].
    pub(super) fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Appends a line about a fault.
    pub(super) fn push_fault(&mut self, line: &str) {
        self.faults += 1;
        self.push(&format!("! {line}"));
    }

    /// Returns the lines since the last call.
    pub(super) fn take(&mut self) -> String {
        mem::take(&mut self.text)
    }

    pub(super) fn faults(&self) -> usize {
        self.faults
    }
}

/// Returns bytes from anywhere as visible text.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = terminal::escaped(bytes);
    String::from_utf8_lossy(&text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Returns bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}
