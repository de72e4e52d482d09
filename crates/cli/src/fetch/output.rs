//! Where a response goes: stdout or a file, as it comes.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use alula::Response;

use crate::exit::{Failure, Outcome};

/// Stdout, or a file with its name.
pub(crate) enum Output {
    Stdout(io::Stdout),
    File(File, PathBuf),
}

impl Output {
    /// Makes the file, if one is named; `-` is stdout.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            Some(path) if path.as_os_str() != "-" => {
                let file = File::create(path).map_err(|error| Failure::local(path.display(), &error))?;
                Ok(Self::File(file, path.to_owned()))
            }
            _ => Ok(Self::Stdout(io::stdout())),
        }
    }

    /// Writes the status line and the fields, in the order of arrival, then an empty line.
    pub(crate) fn write_head(&mut self, response: &Response) -> Outcome {
        self.write(&head_of(response))
    }

    /// Writes, so that a reader sees it at once.
    pub(crate) fn write(&mut self, octets: &[u8]) -> Outcome {
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

pub(crate) fn head_of(response: &Response) -> Vec<u8> {
    let status = response.status();
    let mut head = format!("{} {}", response.version(), status.code()).into_bytes();
    if let Some(reason) = status.reason() {
        head.push(b' ');
        head.extend_from_slice(reason.as_bytes());
    }
    head.push(b'\n');
    for field in response.fields() {
        for part in [field.name_bytes(), b": ", field.value(), b"\n"] {
            head.extend_from_slice(part);
        }
    }
    head.push(b'\n');
    head
}
