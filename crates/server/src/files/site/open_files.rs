//! The limit on large files that are open at once, be it in the cache or in answers that are being sent.
//!
//! A peer can ask for many files and read none of them. The number of files that it can keep open is
//! bounded, so that connections and small files still find descriptors.

use std::{fs::File, io, ops::Deref, path::Path, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::files::open_file::OpenFile;

/// Half of the descriptors that a process may have by default.
pub(super) const OPEN_MAX: usize = 512;

/// The open files.
pub(super) struct OpenFiles {
    places: Arc<Semaphore>,
}

/// An open file that is counted.
pub(super) struct CountedFile {
    file: OpenFile,
    _place: OwnedSemaphorePermit,
}

impl Default for OpenFiles {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(OPEN_MAX)) }
    }
}

impl OpenFiles {
    /// Counts a file as long as it is held.
    ///
    /// # Errors
    /// [`OPEN_MAX`] are open already, or the system says nothing of the file.
    pub(super) fn hold(&self, file: File, path: &Path) -> io::Result<Arc<CountedFile>> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| io::ErrorKind::QuotaExceeded)?;
        let file = OpenFile::from_std(file, path)?;
        Ok(Arc::new(CountedFile { file, _place: place }))
    }
}

impl Deref for CountedFile {
    type Target = OpenFile;

    fn deref(&self) -> &OpenFile {
        &self.file
    }
}
