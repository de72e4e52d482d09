//! The bytes of a file, in pages, of which those that are all 0 may be missing.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::rc::Rc;

const PAGE: usize = 4096;

static ZEROS: [u8; PAGE] = [0; PAGE];

type Page = Rc<[u8; PAGE]>;

/// The bytes of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    len: u64,
    pages: HashMap<u64, Page>,
}

impl Content {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut content = Self::default();
        let mut bytes = vec![0; 256 * PAGE];
        loop {
            let mut read = 0;
            while read < bytes.len() {
                match file.read(&mut bytes[read..])? {
                    0 => break,
                    count => read += count,
                }
            }
            if read == 0 {
                return Ok(content);
            }
            content.append(&bytes[..read]);
        }
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Writes bytes. The length grows to their end.
    pub(crate) fn write(&mut self, mut offset: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (number, at) = place(offset);
            let (now, after) = bytes.split_at(bytes.len().min(PAGE - at));
            let page = self.pages.entry(number).or_insert_with(|| Rc::new([0; PAGE]));
            Rc::make_mut(page)[at..at + now.len()].copy_from_slice(now);
            offset += now.len() as u64;
            bytes = after;
        }
        self.len = self.len.max(offset);
    }

    /// Cuts or extends the bytes.
    pub(crate) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let (number, at) = place(len);
            self.pages.retain(|page, _| *page < number || *page == number && at > 0);
            if let Some(page) = self.pages.get_mut(&number) {
                Rc::make_mut(page)[at..].fill(0);
            }
        }
        self.len = len;
    }

    pub(crate) fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        for (number, page) in &self.pages {
            let offset = number * PAGE as u64;
            let count = self.len.saturating_sub(offset).min(PAGE as u64);
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(&page[..usize::try_from(count).unwrap_or(PAGE)])?;
        }
        file.set_len(self.len)
    }

    /// The byte at which two contents differ first.
    pub(crate) fn difference(&self, other: &Self) -> Option<u64> {
        let zeros: Page = Rc::new([0; PAGE]);
        let mut numbers: Vec<u64> = self.pages.keys().chain(other.pages.keys()).copied().collect();
        numbers.sort_unstable();
        let page = |content: &Self, number| content.pages.get(&number).unwrap_or(&zeros).clone();
        let differ = |number: &u64| {
            let pair = (page(self, *number), page(other, *number));
            if pair.0 == pair.1 {
                return None;
            }
            let at = pair.0.iter().zip(&*pair.1).position(|(a, b)| a != b)?;
            Some(number * PAGE as u64 + at as u64)
        };
        let differs = numbers.iter().find_map(differ);
        differs.or_else(|| (self.len != other.len).then(|| self.len.min(other.len)))
    }

    /// Appends bytes but for pages that are all 0. The length is a multiple of a page.
    fn append(&mut self, bytes: &[u8]) {
        let start = self.len;
        for (index, page) in bytes.chunks(PAGE).enumerate() {
            if page != &ZEROS[..page.len()] {
                self.write(start + (index * PAGE) as u64, page);
            }
        }
        self.len = start + bytes.len() as u64;
    }
}

fn place(offset: u64) -> (u64, usize) {
    (offset / PAGE as u64, (offset % PAGE as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_were_cut_off_come_back_as_zeros() {
        let mut content = Content::default();
        content.write(4090, &[7; 4100]);
        content.set_len(4097);
        content.set_len(9000);
        let mut expected = Content::default();
        expected.write(4090, &[7; 7]);
        assert_eq!(content.difference(&expected), Some(4097), "the lengths differ");
        expected.set_len(9000);
        assert_eq!(content.difference(&expected), None);
        expected.write(8999, &[1]);
        assert_eq!(content.difference(&expected), Some(8999));
    }

    #[test]
    fn contents_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut content = Content::default();
        content.write(1_500_000, &[3; 9]);
        content.set_len(5_000_001);
        content.write_to(&folder.path().join("f")).expect("a file");
        let read = Content::read(&folder.path().join("f")).expect("a file");
        assert_eq!((read.len(), read.difference(&content)), (5_000_001, None));
    }
}
