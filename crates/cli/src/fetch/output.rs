//! Where a response is written: stdout or a file, as it comes.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::PathBuf,
};

use super::destination::Destination;
use crate::exit::{Failure, Outcome};

/// Stdout, or a file with its name.
pub(super) enum Output {
    Stdout(io::Stdout),
    File(File, PathBuf),
}

/// What becomes of a file that is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum There {
    IsReplaced,
    IsContinued,
}

impl Output {
    pub(super) fn stdout() -> Self {
        Self::Stdout(io::stdout())
    }

    /// Makes the file, if it is one.
    pub(super) fn open(to: &Destination, there: There, with_folders: bool) -> Result<Self, Failure> {
        let Destination::File { path, is_new } = to else { return Ok(Self::stdout()) };
        let failed = |error| Failure::local(path.display(), &error);
        if let Some(folder) = path.parent().filter(|_| with_folders) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        match there {
            There::IsContinued => options.append(true),
            There::IsReplaced if *is_new => options.write(true).create_new(true),
            There::IsReplaced => options.write(true).create(true).truncate(true),
        };
        Ok(Self::File(options.open(path).map_err(failed)?, path.clone()))
    }

    /// Writes, so that a reader sees it at once.
    pub(super) fn write(&mut self, octets: &[u8]) -> Outcome {
        match self {
            Self::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                let written = stdout.write_all(octets).and_then(|()| stdout.flush());
                written.map_err(|error| Failure::local("stdout", &error))
            }
            Self::File(file, path) => {
                file.write_all(octets).map_err(|error| Failure::local(path.display(), &error))
            }
        }
    }
}
