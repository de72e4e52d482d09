//! Programs that are started with the recorder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, io};

use crate::Recording;
use crate::variables::{FOLDER, LOG, NOTES};

/// A run of a program, all of whose changes to the files of a folder are recorded.
#[derive(Debug)]
pub struct Recorded {
    log: PathBuf,
}

impl Recorded {
    /// Lets a command be recorded that was not started yet. The recording is kept beside the folder, which
    /// must be there.
    ///
    /// # Errors
    /// An error of the folder, or of building the recorder.
    pub fn new(command: &mut Command, folder: &Path, name: &str) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let beside = folder.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let (log, notes) = (beside.join(format!("{name}.log")), beside.join(format!("{name}.notes")));
        for file in [&log, &notes] {
            fs::write(file, "")?;
        }
        command.env("LD_PRELOAD", recorder()?).env(FOLDER, folder).env(LOG, &log).env(NOTES, notes);
        Ok(Self { log })
    }

    /// Reads the recording, when the command has ended.
    ///
    /// # Errors
    /// An error of its file, or nothing was recorded.
    pub fn recording(&self) -> io::Result<Recording> {
        let recording = Recording::read(&self.log)?;
        if recording.entries().is_empty() {
            Err(io::Error::other("nothing was recorded"))
        } else {
            Ok(recording)
        }
    }
}

/// The library to preload, which is built the first time.
fn recorder() -> io::Result<&'static Path> {
    static RECORDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = RECORDER.get() {
        return Ok(path);
    }
    let path = build()?;
    Ok(RECORDER.get_or_init(|| path))
}

/// Builds the library and returns where cargo says that it is.
fn build() -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--package", "alula-disk-recorder"]);
    command.args(["--message-format", "json-render-diagnostics"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The one string of a file with this name.
    let path = text.split('"').rfind(|text| text.ends_with("libalula_disk_recorder.so"));
    path.map(PathBuf::from).ok_or_else(|| io::Error::other("the recorder was not built"))
}
