//! Writes responses to stdout or a file as they come.

pub(in crate::fetch) mod cut;
pub(in crate::fetch) mod destination;
pub(in crate::fetch) mod file_name;
pub(in crate::fetch) mod resume;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use super::output::destination::{Destination, NamedBy};
use crate::{
    failure::exit::{Exit, Failure, Outcome},
    terminal::{Escaper, Painted},
};

/// Stdout, or a file with its name; control characters are escaped on the way to a terminal.
pub(super) struct Output {
    to: To,
    /// The escaper for output to a terminal.
    escaper: Option<Escaper>,
}

enum To {
    Stdout(io::Stdout),
    File(File, PathBuf),
}

/// The names that are tried for a download.
const FREE_MAX: u32 = 10_000;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum There {
    IsReplaced,
    /// The file is continued; it has this many bytes.
    IsContinued(u64),
    /// Another name is found for what comes.
    Stays,
}

impl Output {
    pub(super) fn stdout() -> Self {
        Self { escaper: io::stdout().is_terminal().then(Escaper::default), ..Self::stdout_as_it_is() }
    }

    fn stdout_as_it_is() -> Self {
        Self { to: To::Stdout(io::stdout()), escaper: None }
    }

    /// Opens the output, and creates the file if there is one.
    pub(super) fn open(to: &Destination, there: There, with_folders: bool) -> Result<Self, Failure> {
        let (path, named_by) = match to {
            Destination::Stdout { is_forced: true } => return Ok(Self::stdout_as_it_is()),
            Destination::Stdout { is_forced: false } => return Ok(Self::stdout()),
            Destination::File { path, named_by } => (path, *named_by),
        };
        let failed = |error| not_opened(path, named_by, with_folders, &error);
        if let Some(folder) = path.parent().filter(|_| with_folders) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let (file, path) = match (named_by, there) {
            (NamedBy::Free, _) => open_free(path),
            (_, There::Stays) => open_beside(path),
            _ => options(named_by, there).open(path).map(|file| (file, path.clone())),
        }
        .map_err(failed)?;
        if let There::IsContinued(bytes) = there {
            check_length(&file, &path, bytes)?;
        }
        Ok(Self { to: To::File(file, path), escaper: None })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.to {
            To::File(_, path) => Some(path),
            To::Stdout(_) => None,
        }
    }

    /// Returns the same output with escapes, as if it were a terminal.
    #[cfg(test)]
    pub(super) fn seen(self) -> Self {
        Self { escaper: Some(Escaper::default()), ..self }
    }

    /// Writes text or bytes from anywhere.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Outcome {
        match &mut self.escaper {
            Some(escaper) => {
                let shown = escaper.next(bytes);
                self.put(&shown)
            }
            None => self.put(bytes),
        }
    }

    /// Writes the rest of a text that has ended.
    pub(super) fn end(&mut self) -> Outcome {
        match self.escaper.as_mut().map(Escaper::finish) {
            Some(rest) if !rest.is_empty() => self.put(&rest),
            _ => Ok(()),
        }
    }

    /// Writes painted text that was made for this output.
    pub(super) fn show(&mut self, painted: Painted) -> Outcome {
        self.put(&painted.into_bytes())
    }

    /// Writes and flushes.
    fn put(&mut self, bytes: &[u8]) -> Outcome {
        match &mut self.to {
            To::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
                written.map_err(|error| Failure::local("stdout", &error))
            }
            To::File(file, path) => {
                file.write_all(bytes).map_err(|error| Failure::local(path.display(), &error))
            }
        }
    }
}

/// Returns the failure to open a file, with the flag that avoids it.
fn not_opened(path: &Path, named_by: NamedBy, with_folders: bool, error: &io::Error) -> Failure {
    let next = match (error.kind(), named_by) {
        (io::ErrorKind::AlreadyExists, NamedBy::Server) => {
            " (-J replaces no file; -o FILE names another one)"
        }
        (io::ErrorKind::NotFound, _) if !with_folders => " (--create-dirs makes its folder)",
        _ => "",
    };
    let failure = Failure::local(path.display(), error);
    match next {
        "" => failure,
        next => Failure::new(Exit::Local, format_args!("{}{next}", failure.sentence())),
    }
}

/// Opens a new file of this name, or with the first number that is free.
fn open_free(path: &Path) -> io::Result<(File, PathBuf)> {
    for number in 0..=FREE_MAX {
        let mut free = path.as_os_str().to_owned();
        if number > 0 {
            free.push(format!("-{number}"));
        }
        match OpenOptions::new().write(true).create_new(true).open(&free) {
            Ok(file) => return Ok((file, free.into())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Returns the options to open a name from a server: never an existing file, not even behind a link.
fn options(named_by: NamedBy, there: There) -> OpenOptions {
    let mut options = OpenOptions::new();
    match (named_by, there) {
        (NamedBy::Server | NamedBy::Free, _) | (_, There::Stays) => options.write(true).create_new(true),
        (NamedBy::User | NamedBy::Url, There::IsContinued(_)) => options.append(true),
        (NamedBy::User | NamedBy::Url, There::IsReplaced) => options.write(true).create(true).truncate(true),
    };
    options
}

/// The number of names that are tried beside an existing file, as in curl.
const NAMES_MAX: u32 = 100;

/// Opens a new file of this name, or of the name with the first number that is free.
fn open_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for name in std::iter::once(path.to_owned()).chain((1..=NAMES_MAX).map(numbered)) {
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // `create_new` decides, so that a file which another program makes meanwhile is not replaced.
            opened => return opened.map(|file| (file, name)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Checks the length of a file that is continued: another program may have written to it since the request.
fn check_length(file: &File, path: &Path, bytes: u64) -> Outcome {
    let length = file.metadata().map_err(|error| Failure::local(path.display(), &error))?.len();
    if length == bytes {
        return Ok(());
    }
    let sentence =
        format_args!("{} had {bytes} bytes and has {length} now: nothing was added", path.display());
    Err(Failure::new(Exit::Resume, sentence))
}
