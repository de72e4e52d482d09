//! Content on its way out: a text, a file, stdin, or a form of them.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
};

use alula::{Content, Multipart, Part};

use super::{
    content::{Octets, Source, read_stdin},
    multipart,
};
use crate::exit::{Exit, Failure};

/// The content that is meant. What is named is there and can be read, as far as that can be known before; with
/// `is_replayed` it may have to be sent more than once.
pub(super) fn open(source: &Source, is_replayed: bool) -> Result<Content, Failure> {
    match source {
        Source::Octets(octets) => Ok(match Opened::of(octets, is_replayed)? {
            Opened::Octets(octets) => Content::bytes(octets),
            Opened::File(path) => Content::file(path),
            Opened::Device(device) => Content::reader(device),
            Opened::Stdin => Content::reader(tokio::io::stdin()),
        }),
        Source::Parts { parts, boundary } => {
            let mut form = Multipart::with_boundary(boundary);
            for part in parts {
                form = form.part(&part.name, open_part(part, is_replayed)?);
            }
            Ok(Content::multipart(form))
        }
    }
}

/// The same in chunks, which can be sent once. A form is sent as it is.
pub(super) fn open_in_chunks(source: &Source) -> Result<Content, Failure> {
    let Source::Octets(octets) = source else { return open(source, false) };
    Ok(match Opened::of(octets, false)? {
        Opened::Octets(octets) => Content::reader(io::Cursor::new(octets)),
        Opened::File(path) => {
            let file = File::open(path).map_err(|error| Failure::unread(path.display(), &error))?;
            Content::reader(tokio::fs::File::from(file))
        }
        Opened::Device(device) => Content::reader(device),
        Opened::Stdin => Content::reader(tokio::io::stdin()),
    })
}

fn open_part(part: &multipart::Part, is_replayed: bool) -> Result<Part, Failure> {
    let opened = match (&part.files[..], part.encoder) {
        ([], None) => match Opened::of(&part.octets, is_replayed)? {
            Opened::Octets(octets) => Part::bytes(octets),
            Opened::File(path) => Part::file(path),
            Opened::Device(device) => Part::reader(device, None),
            Opened::Stdin => Part::reader(tokio::io::stdin(), None),
        },
        ([], Some(encoder)) => {
            let encoded = encoder.encode(part.octets.all()?).ok_or_else(|| unencoded(part))?;
            Part::bytes(encoded)
        }
        (files, _) => {
            let files = files.iter().map(|file| open_part(file, is_replayed));
            Part::mixed(files.collect::<Result<Vec<_>, _>>()?)
        }
    };
    let named = part.file_name.iter().fold(opened, Part::file_name);
    let typed = part.media_type.iter().fold(named, Part::media_type);
    let typed = part
        .encoder
        .iter()
        .fold(typed, |typed, encoder| typed.header("Content-Transfer-Encoding", encoder.name()));
    Ok(part.fields.iter().fold(typed, |typed, (name, value)| typed.header(name, value)))
}

/// The failure of octets that the encoder cannot write.
fn unencoded(part: &multipart::Part) -> Failure {
    Failure::new(Exit::Local, format!("the part {:?} has octets that 7bit cannot have", part.name)).curl(26)
}

/// The number of octets that are sent, if that is known before.
pub(super) fn length_of(source: &Source) -> Option<u64> {
    match source {
        Source::Octets(Octets::Text(text)) => Some(text.len() as u64),
        Source::Octets(Octets::File(path)) => {
            path.metadata().ok().filter(Metadata::is_file).map(|file| file.len())
        }
        Source::Octets(Octets::Stdin) | Source::Parts { .. } => None,
    }
}

/// Octets that are known to be there.
enum Opened<'a> {
    Octets(Vec<u8>),
    /// A file, which knows its length.
    File(&'a Path),
    /// A pipe or a device, which does not, and may be read once.
    Device(tokio::fs::File),
    Stdin,
}

impl<'a> Opened<'a> {
    fn of(octets: &'a Octets, is_replayed: bool) -> Result<Self, Failure> {
        match octets {
            Octets::Text(text) => Ok(Self::Octets(text.clone())),
            Octets::File(path) => Self::named(path),
            Octets::Stdin if is_replayed => read_stdin().map(Self::Octets),
            Octets::Stdin => Ok(Self::Stdin),
        }
    }

    fn named(path: &'a Path) -> Result<Self, Failure> {
        let failed = |error| Failure::unread(path.display(), &error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        match () {
            () if about.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            () if about.is_file() => Ok(Self::File(path)),
            () => Ok(Self::Device(file.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_by_its_name() {
        let open = |path: &str| open(&Source::Octets(Octets::File(path.into())), false);
        assert!(open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
        for wrong in ["no such file", "."] {
            let failure = open(wrong).err().unwrap();
            assert!(failure.sentence().starts_with(&format!("{wrong}: ")), "{failure:?}");
        }
    }
}
