//! The outputs of `-w`: stdout, stderr and files, one after the other.

use std::{
    fs::OpenOptions,
    io::{IsTerminal as _, Write as _, stderr, stdout},
    path::{Path, PathBuf},
};

use crate::{
    failure::exit::{Failure, Outcome},
    fetch::output::Output,
    terminal::{self, Painted},
};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum WriteTarget {
    Stdout,
    Stderr,
    File {
        path: PathBuf,
        /// The file is appended to.
        is_appended: bool,
    },
}

impl WriteTarget {
    /// Parses a path, or `>>` and a path.
    pub(super) fn file(given: &str) -> Self {
        match given.strip_prefix(">>") {
            Some(path) => Self::File { path: path.into(), is_appended: true },
            None => Self::File { path: given.into(), is_appended: false },
        }
    }

    fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => stdout().is_terminal(),
            Self::Stderr => stderr().is_terminal(),
            Self::File { .. } => false,
        }
    }

    fn print(&self, painted: Painted) -> Outcome {
        match self {
            Self::Stdout => Output::stdout().show(painted),
            Self::Stderr => {
                terminal::tell_painted(painted);
                Ok(())
            }
            Self::File { path, is_appended } => {
                let written = write(path, *is_appended, &painted.into_bytes());
                written.map_err(|error| Failure::local(path.display(), &error))
            }
        }
    }
}

fn write(path: &Path, is_appended: bool, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(is_appended).truncate(!is_appended);
    options.open(path)?.write_all(bytes)
}

/// Gathers text for one output, and prints it when the output changes.
pub(super) struct Printer {
    place: WriteTarget,
    painted: Painted,
}

impl Printer {
    pub(super) fn stdout() -> Self {
        Self::to(WriteTarget::Stdout)
    }

    fn to(place: WriteTarget) -> Self {
        let painted = Painted::new(place.is_terminal(), false);
        Self { place, painted }
    }

    /// Appends text of the user.
    pub(super) fn own(&mut self, text: &str) {
        self.painted.own(text);
    }

    /// Appends text from anywhere.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.painted.text(text);
    }

    /// Changes the output for the rest.
    pub(super) fn turn_to(&mut self, place: &WriteTarget) -> Outcome {
        std::mem::replace(self, Self::to(place.clone())).end()
    }

    pub(super) fn end(self) -> Outcome {
        let is_empty = self.painted.last().is_none();
        if is_empty && !matches!(self.place, WriteTarget::File { .. }) {
            return Ok(());
        }
        self.place.print(self.painted)
    }

    #[cfg(test)]
    pub(super) fn tried(is_terminal: bool) -> Self {
        Self { place: WriteTarget::Stdout, painted: Painted::new(is_terminal, false) }
    }

    #[cfg(test)]
    pub(super) fn tried_text(self) -> String {
        String::from_utf8(self.painted.into_bytes()).unwrap()
    }
}
