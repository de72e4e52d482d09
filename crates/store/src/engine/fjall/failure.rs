//! Failures of fjall in words: its own errors say the names of its types.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::{fmt, io};

use alula::fields::{EscapedDebug, OneLine};

use crate::engine::ObjectName;

/// The bytes of a row that are shown.
const SHOWN_BYTES_MAX: usize = 128;

/// A failure of fjall.
pub(super) struct FjallFailure(pub(super) ::fjall::Error);

/// A row that cannot be read, or one behind it.
#[derive(Debug)]
pub(super) struct UnreadRow {
    table: &'static str,
    /// The key of the row, or of the one before it, as it is shown; none at the beginning of a table.
    row: Option<String>,
    is_behind: bool,
    failure: FjallFailure,
}

impl UnreadRow {
    /// Returns the error for the row of this key.
    pub(super) fn at(table: &'static str, key: &[u8], error: ::fjall::Error) -> Self {
        Self { table, row: Some(shown(key)), is_behind: false, failure: FjallFailure(error) }
    }

    /// Returns the error for a row behind the one of this key, which was read last, or for the first row of a
    /// table.
    pub(super) fn behind(table: &'static str, key: Option<&[u8]>, error: ::fjall::Error) -> Self {
        Self { table, row: key.map(shown), is_behind: true, failure: FjallFailure(error) }
    }
}

impl FjallFailure {
    /// Returns the error of the system behind this failure; none if data was read and is damaged.
    fn system(&self) -> Option<&io::Error> {
        let mut cause = Some(&self.0 as &(dyn StdError + 'static));
        while let Some(error) = cause {
            if let Some(system) = error.downcast_ref::<io::Error>() {
                let is_whole =
                    !matches!(system.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData);
                return Some(system).filter(|_| is_whole);
            }
            cause = error.source();
        }
        None
    }
}

impl fmt::Display for FjallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0, self.system()) {
            (_, Some(system)) => write!(OneLine(f), "{system}"),
            (::fjall::Error::Poisoned, None) => f.write_str("an earlier write failed"),
            (::fjall::Error::InvalidVersion(_), None) => f.write_str("a file is of another version"),
            _ => f.write_str("a file is damaged"),
        }
    }
}

impl fmt::Debug for FjallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FjallFailure").field(&EscapedDebug(&self.0)).finish()
    }
}

impl fmt::Display for UnreadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, row, is_behind, failure } = self;
        // Clients choose the names of objects.
        let mut line = OneLine(f);
        match failure.system() {
            Some(_) => write!(line, "a block of the table `{table}` cannot be read"),
            None => write!(line, "a block of the table `{table}` is damaged"),
        }?;
        match (row, is_behind) {
            (Some(row), false) => write!(line, ", that of {row}"),
            (Some(row), true) => write!(line, ", behind {row}"),
            (None, _) => line.write_str(", the first one"),
        }?;
        failure.system().map_or(Ok(()), |system| write!(line, ": {system}"))
    }
}

impl StdError for FjallFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl StdError for UnreadRow {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.failure)
    }
}

/// Returns the beginning of a key: type, bucket and key of an object, of other rows what can be shown.
fn shown(row: &[u8]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let whole = match ObjectName::read(row) {
        Some(name) => [name.bucket.bucket_type, name.bucket.bucket, name.key].map(text).join("/"),
        None => text(row).replace(char::is_control, " "),
    };
    let cut: String = whole.chars().take(SHOWN_BYTES_MAX).collect();
    if cut.len() < whole.len() { format!("`{cut}...`") } else { format!("`{cut}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::BucketName;

    #[test]
    fn names_of_clients_end_no_line_and_steer_no_terminal() {
        let bucket = BucketName { bucket_type: b"default", bucket: b"b\r\nroot \x1b[2J" };
        let mut row = Vec::new();
        bucket.object("k\u{202e}\u{2028}".as_bytes()).write(&mut row);
        let system = || ::fjall::Error::Io(io::Error::other("x\r\n\u{1b}[31mroot"));
        let errors = [
            UnreadRow::at("objects", &row, ::fjall::Error::Poisoned),
            UnreadRow::behind("objects", Some(b"\x01\nroot"), system()),
        ];
        for error in errors {
            let shown = [error.to_string(), format!("{error:?}"), error.failure.to_string()];
            for text in shown {
                let is_obeyed = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}');
                assert!(!text.contains(is_obeyed), "{text:?}");
            }
            assert!(error.to_string().contains("root"), "{error}");
        }
    }
}
