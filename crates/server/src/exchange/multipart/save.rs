//! A file that takes its name once it is whole.

use std::{
    ffi::OsString,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io,
    path::PathBuf,
};

use tokio::{
    fs::{self, File},
    io::AsyncWriteExt as _,
};

/// A hidden file beside the place of the one that it becomes. Dropped before its end it is removed.
pub(super) struct Unfinished {
    file: File,
    path: PathBuf,
    hidden: Hidden,
}

/// The path of a file that is removed with the value.
struct Hidden(PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        // Nothing is there any more once it has its name.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Unfinished {
    pub(super) async fn create(path: PathBuf) -> io::Result<Self> {
        // The file and what removes it are made in one step: a caller that goes away leaves neither.
        let created = tokio::task::spawn_blocking(move || Self::create_now(path));
        created.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    fn create_now(path: PathBuf) -> io::Result<Self> {
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
        name.push(format!(".{:016x}", RandomState::new().build_hasher().finish()));
        let hidden = path.with_file_name(name);
        let file = std::fs::File::create_new(&hidden)?;
        Ok(Self { file: File::from_std(file), path, hidden: Hidden(hidden) })
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    /// Gives the file its name, once it is on the disk.
    pub(super) async fn finish(mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        fs::rename(&self.hidden.0, &self.path).await
    }
}
