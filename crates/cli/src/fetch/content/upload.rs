//! The content being sent: a text, a file, stdin, or a form.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
};

use alula::{Bytes, Content, Multipart, Part};
use tokio::io::AsyncReadExt as _;

use super::{Input, Source, multipart, stdin::Deadline};
use crate::failure::exit::{Exit, Failure};

/// The way in which stdin is read for content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Stdin {
    /// Sent as it comes, without a length, as for `-T -`.
    Streamed,
    /// Read by [`measured`] to state a length: CGI and WSGI servers see nothing of content without one.
    Measured,
    /// Read into memory completely, because it may be sent more than once.
    Held,
}

/// Opens the content to send. Files are checked to exist and to be readable, as far as that can be known
/// before.
pub(in crate::fetch) fn open(source: &Source, stdin: Stdin, deadline: Deadline) -> Result<Content, Failure> {
    match source {
        Source::Input(input) => Ok(match Opened::of(input, stdin, deadline)? {
            Opened::Bytes(bytes) => Content::shared(bytes),
            Opened::File(path) => Content::file(path),
            Opened::Device(device) => Content::reader(device),
            Opened::Stdin => Content::reader(tokio::io::stdin()),
            Opened::SizedStdin(bytes) => Content::reader_of(tokio::io::stdin(), bytes),
            Opened::LongStdin(first) => Content::reader(io::Cursor::new(first).chain(tokio::io::stdin())),
        }),
        Source::Parts { parts, boundary } => {
            let mut form = Multipart::with_boundary(boundary);
            for part in parts {
                form = form.part(&part.name, open_part(part, stdin, deadline)?);
            }
            Ok(Content::multipart(form))
        }
    }
}

/// Opens the content to be sent in chunks, once. A form is sent as it is.
pub(in crate::fetch) fn open_in_chunks(source: &Source) -> Result<Content, Failure> {
    let Source::Input(input) = source else { return open(source, Stdin::Streamed, Deadline::default()) };
    Ok(match Opened::of(input, Stdin::Streamed, Deadline::default())? {
        Opened::Bytes(bytes) => Content::reader(io::Cursor::new(bytes)),
        Opened::File(path) => {
            let file = File::open(path).map_err(|error| Failure::unread(path.display(), &error))?;
            Content::reader(tokio::fs::File::from(file))
        }
        Opened::Device(device) => Content::reader(device),
        Opened::Stdin | Opened::SizedStdin(_) => Content::reader(tokio::io::stdin()),
        Opened::LongStdin(first) => Content::reader(io::Cursor::new(first).chain(tokio::io::stdin())),
    })
}

fn open_part(part: &multipart::Part, stdin: Stdin, deadline: Deadline) -> Result<Part, Failure> {
    let opened = match (&part.files[..], part.encoder) {
        ([], None) => match Opened::of(&part.input, stdin, deadline)? {
            Opened::Bytes(bytes) => Part::shared(bytes),
            Opened::File(path) => Part::file(path),
            Opened::Device(device) => Part::reader(device, None),
            Opened::Stdin => Part::reader(tokio::io::stdin(), None),
            Opened::SizedStdin(bytes) => Part::reader(tokio::io::stdin(), Some(bytes)),
            Opened::LongStdin(first) => Part::reader(io::Cursor::new(first).chain(tokio::io::stdin()), None),
        },
        ([], Some(encoder)) => {
            let encoded = encoder.encode(part.input.all(deadline)?.into()).ok_or_else(|| unencoded(part))?;
            Part::bytes(encoded)
        }
        (files, _) => {
            let files = files.iter().map(|file| open_part(file, stdin, deadline));
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

/// Returns the failure of bytes that the encoder cannot encode.
fn unencoded(part: &multipart::Part) -> Failure {
    Failure::new(Exit::Local, format!("the part {:?} has bytes that 7bit cannot have", part.name)).curl(26)
}

/// Returns the number of bytes, if it is known in advance.
pub(in crate::fetch) fn length_of(source: &Source) -> Option<u64> {
    match source {
        Source::Input(Input::Text(text)) => Some(text.len() as u64),
        Source::Input(Input::File(path)) => {
            path.metadata().ok().filter(Metadata::is_file).map(|file| file.len())
        }
        Source::Input(Input::Stdin) | Source::Parts { .. } => None,
    }
}

/// An opened source of bytes.
enum Opened<'a> {
    Bytes(Bytes),
    /// A file, whose length is known.
    File(&'a Path),
    /// A pipe or a device, without a length, which can be read once.
    Device(tokio::fs::File),
    Stdin,
    /// Stdin that is a file, with the number of bytes left.
    SizedStdin(u64),
    /// The first part of stdin, which is too long to be held.
    LongStdin(Vec<u8>),
}

/// The most bytes of stdin that are held to state their number; curl holds all of it.
const MEASURED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns stdin with its length if that is known: of a file, and of input that ends within
/// [`MEASURED_BYTES_MAX`].
fn measured<'a>(deadline: Deadline) -> Result<Opened<'a>, Failure> {
    if let Some(bytes) = bytes_of_file() {
        return Ok(Opened::SizedStdin(bytes));
    }
    let (first, is_all) = deadline.read_within(MEASURED_BYTES_MAX)?;
    Ok(if is_all { Opened::Bytes(first.into()) } else { Opened::LongStdin(first) })
}

/// Returns the number of bytes from the present position of stdin, if it is a file.
fn bytes_of_file() -> Option<u64> {
    #[cfg(unix)]
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let stdin = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    let mut file = File::from(stdin.ok()?);
    let about = file.metadata().ok().filter(Metadata::is_file)?;
    about.len().checked_sub(io::Seek::stream_position(&mut file).ok()?)
}

impl<'a> Opened<'a> {
    fn of(input: &'a Input, stdin: Stdin, deadline: Deadline) -> Result<Self, Failure> {
        match input {
            Input::Text(text) => Ok(Self::Bytes(text.clone())),
            Input::File(path) => Self::named(path),
            Input::Stdin => match stdin {
                Stdin::Held => deadline.read_all().map(|all| Self::Bytes(all.into())),
                Stdin::Measured => measured(deadline),
                Stdin::Streamed => Ok(Self::Stdin),
            },
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
        let open =
            |path: &str| open(&Source::Input(Input::File(path.into())), Stdin::Streamed, Deadline::default());
        assert!(open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
        for wrong in ["no such file", "."] {
            let failure = open(wrong).err().unwrap();
            assert!(failure.sentence().starts_with(&format!("{wrong}: ")), "{failure:?}");
        }
    }
}
