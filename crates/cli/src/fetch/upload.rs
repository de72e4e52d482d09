//! Content on its way out: a text, a file, stdin, or a form of them.

use std::{fs::File, io, path::Path};

use alula::{Content, Multipart, Part};

use super::{
    content::{Octets, read_stdin},
    multipart,
};
use crate::exit::Failure;

/// The content that these octets are. What is named is there and can be read, as far as that can be known before; with
/// `is_replayed` it may have to be sent more than once.
pub(super) fn open(octets: &Octets, is_replayed: bool) -> Result<Content, Failure> {
    Ok(match octets {
        Octets::Text(text) => Content::bytes(text.clone()),
        Octets::File(path) => match Named::open(path)? {
            Named::File => Content::file(path),
            Named::Device(file) => Content::reader(file),
        },
        Octets::Stdin if is_replayed => Content::bytes(read_stdin()?),
        Octets::Stdin => Content::reader(tokio::io::stdin()),
        Octets::Parts { parts, boundary } => {
            let mut form = Multipart::with_boundary(boundary);
            for part in parts {
                form = form.part(&part.name, open_part(part, is_replayed)?);
            }
            Content::multipart(form)
        }
    })
}

fn open_part(part: &multipart::Part, is_replayed: bool) -> Result<Part, Failure> {
    let opened = match &part.octets {
        Octets::Text(text) => Part::bytes(text.clone()),
        Octets::File(path) => match Named::open(path)? {
            Named::File => Part::file(path),
            Named::Device(file) => Part::reader(file, None),
        },
        Octets::Stdin if is_replayed => Part::bytes(read_stdin()?),
        Octets::Stdin | Octets::Parts { .. } => Part::reader(tokio::io::stdin(), None),
    };
    let named = part.file_name.iter().fold(opened, Part::file_name);
    Ok(part.media_type.iter().fold(named, Part::media_type))
}

/// What a path leads to.
enum Named {
    /// A file, which knows its length.
    File,
    /// A pipe or a device, which does not, and may be read once.
    Device(tokio::fs::File),
}

impl Named {
    fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::local(path.display(), &error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        match () {
            () if about.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            () if about.is_file() => Ok(Self::File),
            () => Ok(Self::Device(file.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_by_its_name() {
        let open = |path: &str| open(&Octets::File(path.into()), false);
        assert!(open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
        for wrong in ["no such file", "."] {
            let failure = open(wrong).err().unwrap();
            assert!(failure.sentence().starts_with(&format!("{wrong}: ")), "{failure:?}");
        }
    }
}
