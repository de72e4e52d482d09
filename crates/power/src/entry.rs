//! Entries of a recording: what a program did to the files of a folder, one call of the system each.
//!
//! Each is a byte for its kind, its numbers of 8 bytes and its byte strings after their lengths, the low
//! byte first.

/// One call of the system that succeeded, or a note. Paths are those below the folder, whose own is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file or folder was opened. From here on its number in the file system stands for it.
    Open {
        /// Its number in the file system.
        inode: u64,
        /// Its path.
        path: String,
        /// Returns true if there was none before.
        is_new: bool,
        /// Returns true if its bytes were cut off.
        is_emptied: bool,
    },
    /// Bytes were written.
    Write {
        /// The number of the file.
        inode: u64,
        /// The first byte that was written.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A file was cut or extended.
    SetLen {
        /// The number of the file.
        inode: u64,
        /// Its length from here on.
        len: u64,
    },
    /// A file or folder was flushed.
    Flush {
        /// Its number.
        inode: u64,
        /// The number of entries before the flush began.
        begun: u64,
    },
    /// A flush failed.
    FailedFlush {
        /// The number of the file or folder.
        inode: u64,
        /// The number of entries before the flush began.
        begun: u64,
    },
    /// A file or folder was renamed.
    Rename {
        /// Its path before.
        from: String,
        /// Its path from here on.
        to: String,
    },
    /// A file or an empty folder was removed.
    Remove {
        /// Its path.
        path: String,
    },
    /// A folder was made.
    MakeFolder {
        /// Its path.
        path: String,
    },
    /// A note of the program.
    Note {
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

impl Entry {
    /// Appends the entry to a recording.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Open { inode, path, is_new, is_emptied } => {
                out.extend([1, u8::from(*is_new), u8::from(*is_emptied)]);
                put_number(*inode, out);
                put_bytes(path.as_bytes(), out);
            }
            Self::Write { inode, offset, bytes } => {
                put_numbers(2, [*inode, *offset], out);
                put_bytes(bytes, out);
            }
            Self::SetLen { inode, len } => put_numbers(3, [*inode, *len], out),
            Self::Flush { inode, begun } => put_numbers(4, [*inode, *begun], out),
            Self::FailedFlush { inode, begun } => put_numbers(5, [*inode, *begun], out),
            Self::Rename { from, to } => {
                out.push(6);
                put_bytes(from.as_bytes(), out);
                put_bytes(to.as_bytes(), out);
            }
            Self::Remove { path } => put_text(7, path, out),
            Self::MakeFolder { path } => put_text(8, path, out),
            Self::Note { bytes } => {
                out.push(9);
                put_bytes(bytes, out);
            }
        }
    }

    /// Takes the next entry of a recording; `None` at its end, or where a program that was killed left half
    /// of one.
    pub(crate) fn read(rest: &mut &[u8]) -> Option<Self> {
        let [kind] = array(rest)?;
        Some(match kind {
            1 => {
                let [is_new, is_emptied] = array(rest)?.map(|byte: u8| byte != 0);
                Self::Open { inode: number(rest)?, path: text(rest)?, is_new, is_emptied }
            }
            2 => Self::Write { inode: number(rest)?, offset: number(rest)?, bytes: bytes(rest)?.to_vec() },
            3 => Self::SetLen { inode: number(rest)?, len: number(rest)? },
            4 => Self::Flush { inode: number(rest)?, begun: number(rest)? },
            5 => Self::FailedFlush { inode: number(rest)?, begun: number(rest)? },
            6 => Self::Rename { from: text(rest)?, to: text(rest)? },
            7 => Self::Remove { path: text(rest)? },
            8 => Self::MakeFolder { path: text(rest)? },
            9 => Self::Note { bytes: bytes(rest)?.to_vec() },
            _ => return None,
        })
    }
}

fn put_number(number: u64, out: &mut Vec<u8>) {
    out.extend(number.to_le_bytes());
}

fn put_numbers(kind: u8, numbers: [u64; 2], out: &mut Vec<u8>) {
    out.push(kind);
    numbers.into_iter().for_each(|number| put_number(number, out));
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend(bytes);
}

fn put_text(kind: u8, text: &str, out: &mut Vec<u8>) {
    out.push(kind);
    put_bytes(text.as_bytes(), out);
}

fn array<const COUNT: usize>(rest: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (array, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*array)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    array(rest).map(u64::from_le_bytes)
}

fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(number(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}

fn text(rest: &mut &[u8]) -> Option<String> {
    String::from_utf8(bytes(rest)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_half_a_one_does_not() {
        let (path, bytes) = ("a/b".to_owned(), vec![1, 2, 3]);
        let entries = [
            Entry::Open { inode: 7, path: path.clone(), is_new: true, is_emptied: false },
            Entry::Write { inode: 7, offset: 9, bytes: bytes.clone() },
            Entry::SetLen { inode: 7, len: 2 },
            Entry::Flush { inode: 7, begun: 1 },
            Entry::FailedFlush { inode: 7, begun: 2 },
            Entry::Rename { from: path.clone(), to: "c".into() },
            Entry::Remove { path: "c".into() },
            Entry::MakeFolder { path },
            Entry::Note { bytes },
        ];
        for entry in entries {
            let mut out = Vec::new();
            entry.write(&mut out);
            let mut half = &out[..out.len() - 1];
            assert_eq!(Entry::read(&mut half), None);
            let mut rest = &out[..];
            assert_eq!(Entry::read(&mut rest), Some(entry));
            assert!(rest.is_empty());
        }
    }
}
