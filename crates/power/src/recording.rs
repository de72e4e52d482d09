//! Recordings: the entries of one run of a program, in the order in which they happened.

use std::io;
use std::path::Path;

use crate::Entry;

/// The entries of one run of a program.
#[derive(Debug)]
pub struct Recording {
    entries: Vec<Entry>,
}

impl Recording {
    /// Reads a recording. The last entry is left out if it is not whole.
    ///
    /// # Errors
    /// An error of the file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let mut rest = &bytes[..];
        Ok(Self { entries: std::iter::from_fn(|| Entry::read(&mut rest)).collect() })
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
