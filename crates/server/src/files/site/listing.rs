//! The entries of a folder: folders first, then files, each by name.
//!
//! Rule: however many entries a folder has, one listing holds the first [`ENTRIES_MAX`] behind a place in
//! that order, and asks the system for the state of these alone. All names are looked through for it, once.

use std::{collections::BinaryHeap, ffi::OsString, io, path::Path, time::SystemTime};

use percent_encoding::percent_decode_str;

use super::{
    root::{Kind, Root, kind_of},
    target,
};

/// Entries of one page at most: more make a page that nobody reads.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// The place of an entry in the order of a listing.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) is_file: bool,
    /// The name, as the system has it.
    pub(super) name: OsString,
}

/// An entry of a listing.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) place: Place,
    /// The length in bytes of a file.
    pub(super) length: u64,
    /// The time of its last change, where the system has one.
    pub(super) modified: Option<SystemTime>,
}

/// Entries that follow each other, and how many more there are behind them.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) listed: Vec<Listed>,
    pub(super) left: usize,
}

impl Place {
    /// Reads the place behind which a listing is to begin from the query of a request: `after=NAME`, with a
    /// slash at its end for a folder.
    pub(super) fn of_query(query: &str) -> Option<Self> {
        let name = query.strip_prefix("after=")?;
        let name: Vec<u8> = percent_decode_str(name).collect();
        let folder = name.strip_suffix(b"/");
        let is_file = folder.is_none();
        let name = target::from_bytes(folder.unwrap_or(&name).to_vec())?.into_os_string();
        Some(Self { is_file, name })
    }
}

/// Lists the entries of a folder that can be asked for, behind a place or from the first. May block.
///
/// # Errors
/// It is no folder, or may not be read.
pub(super) fn list(root: &Root, path: &Path, hidden: bool, after: Option<&Place>) -> io::Result<Listing> {
    let folder = root.open_folder(path)?;
    // The last in order is on top.
    let mut first = BinaryHeap::new();
    let mut left = 0;
    for entry in folder.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if !target::is_fit(name.as_encoded_bytes(), hidden) {
            continue;
        }
        let kind = match entry.file_type()? {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            // Through the root: a link may lead to another folder within it, or nowhere.
            _ => match root.metadata(&path.join(&name)).and_then(|metadata| kind_of(&metadata)) {
                Ok(kind) => kind,
                Err(_) => continue,
            },
        };
        let place = Place { is_file: kind == Kind::File, name };
        if after.is_some_and(|after| place <= *after) {
            continue;
        }
        first.push(place);
        if first.len() > ENTRIES_MAX {
            first.pop();
            left += 1;
        }
    }
    let places = first.into_sorted_vec();
    let listed = places.into_iter().filter_map(|place| {
        let metadata = root.metadata(&path.join(&place.name)).ok()?;
        let modified = metadata.modified().ok().map(|time| time.into_std());
        Some(Listed { length: metadata.len(), place, modified })
    });
    Ok(Listing { listed: listed.collect(), left })
}
