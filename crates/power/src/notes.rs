//! Notes that a program leaves in its own recording, and orders to its disk to fail.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use crate::variables::NOTES;

/// The way in which the disk of a recorded program fails from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    /// It does not.
    Never,
    /// It is full after so many more bytes. The write that reaches them is a short one.
    Full(u64),
    /// Writes fail with EIO.
    Writes,
    /// Flushes fail with EIO, and what was written before stays unflushed for ever.
    Flushes,
    /// Files do not open for want of descriptors.
    Descriptors,
    /// Files do not open for want of rights.
    Rights,
}

/// The notes of a program that is recorded.
#[derive(Debug)]
pub struct Notes {
    file: Mutex<File>,
}

impl Notes {
    /// Opens the notes; `None` in a program that is not recorded.
    ///
    /// # Errors
    /// An error of their file.
    pub fn open() -> io::Result<Option<Self>> {
        let Some(path) = std::env::var_os(NOTES) else { return Ok(None) };
        Ok(Some(Self { file: Mutex::new(File::create(path)?) }))
    }

    /// Leaves a note after all that was done before this call.
    ///
    /// # Errors
    /// An error of their file.
    pub fn leave(&self, note: &str) -> io::Result<()> {
        self.write(&format!("note {note}"))
    }

    /// Lets the disk fail from here on.
    ///
    /// # Errors
    /// An error of the file of notes.
    pub fn fail(&self, fail: Fail) -> io::Result<()> {
        self.write(&format!("fail {}", fail.text()))
    }

    fn write(&self, line: &str) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

impl Fail {
    fn text(self) -> String {
        match self {
            Self::Never => "never".into(),
            Self::Full(bytes) => format!("full {bytes}"),
            Self::Writes => "writes".into(),
            Self::Flushes => "flushes".into(),
            Self::Descriptors => "descriptors".into(),
            Self::Rights => "rights".into(),
        }
    }

    /// The order in a note, for the recorder.
    #[must_use]
    pub fn read(note: &[u8]) -> Option<Self> {
        let order = std::str::from_utf8(note).ok()?.strip_prefix("fail ")?;
        Some(match order.split_once(' ').unwrap_or((order, "")) {
            ("never", _) => Self::Never,
            ("full", bytes) => Self::Full(bytes.parse().ok()?),
            ("writes", _) => Self::Writes,
            ("flushes", _) => Self::Flushes,
            ("descriptors", _) => Self::Descriptors,
            ("rights", _) => Self::Rights,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back() {
        for fail in
            [Fail::Never, Fail::Full(77), Fail::Writes, Fail::Flushes, Fail::Descriptors, Fail::Rights]
        {
            assert_eq!(Fail::read(format!("fail {}", fail.text()).as_bytes()), Some(fail));
        }
        assert_eq!(Fail::read(b"note fail never"), None);
    }
}
