//! A file that is being uploaded: a new one beside its place, which it takes once it is whole.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::{Dir, OpenOptions};
use tokio::{fs::File, io::AsyncWriteExt as _};

use crate::random;

/// A file that nobody is to see yet. Dropped before its end it is removed.
pub(super) struct Incoming {
    file: File,
    hidden: Hidden,
}

/// The name of a file that is not whole, removed with the value.
struct Hidden {
    folder: Arc<Dir>,
    name: PathBuf,
}

/// The state of a name before a file was given it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Placed {
    /// It was free.
    New,
    /// Another file had it.
    Replacing,
}

impl Incoming {
    /// Begins a file in a folder. May block.
    ///
    /// # Errors
    /// The folder takes no file.
    pub(super) fn begin(folder: Arc<Dir>) -> io::Result<Self> {
        let name = PathBuf::from(format!(".alula-upload-{:016x}", random::number()));
        let file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        let file = File::from_std(file.into_std());
        Ok(Self { file, hidden: Hidden { folder, name } })
    }

    /// Writes more of it.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub(super) async fn write(&mut self, octets: &[u8]) -> io::Result<()> {
        self.file.write_all(octets).await
    }

    /// Gives the file its name, once it is on the disk.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken and not to be, or by a folder; the disk fails.
    pub(super) async fn finish(mut self, name: PathBuf, overwrites: bool) -> io::Result<Placed> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        let hidden = self.hidden;
        let placed = tokio::task::spawn_blocking(move || hidden.place(&name, overwrites));
        placed.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Hidden {
    fn place(&self, name: &Path, overwrites: bool) -> io::Result<Placed> {
        let folder = &*self.folder;
        match folder.symlink_metadata(name) {
            Ok(there) if there.is_dir() || !overwrites => Err(io::ErrorKind::AlreadyExists.into()),
            Ok(_) => folder.rename(&self.name, folder, name).map(|()| Placed::Replacing),
            // A second name fails where the first is taken, whoever was quicker; the hidden one goes with the value.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !overwrites => {
                folder.hard_link(&self.name, folder, name).map(|()| Placed::New)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.rename(&self.name, folder, name).map(|()| Placed::New)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = self.folder.remove_file(&self.name);
    }
}
