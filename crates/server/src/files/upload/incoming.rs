//! A file that is being uploaded: a new one beside its place, which it takes once it is whole.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::{Dir, OpenOptions};
use tokio::{fs::File, io::AsyncWriteExt as _};

use crate::files::site::target::INCOMING;

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
    /// The name was free.
    New,
    /// Another file had the name.
    Replacing,
}

impl Incoming {
    /// Begins a file in a folder. May block.
    ///
    /// # Errors
    /// The folder takes no file.
    pub(super) fn begin(folder: Arc<Dir>) -> io::Result<Self> {
        let mut chance = [0; 8];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let name = PathBuf::from(format!("{INCOMING}{:016x}", u64::from_ne_bytes(chance)));
        let file = folder.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        let file = File::from_std(file.into_std());
        Ok(Self { file, hidden: Hidden { folder, name } })
    }

    /// Writes more of it.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
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
            // The name is looked at itself, not what a link leads to: a link is replaced, never followed.
            Ok(there) if there.is_dir() || !overwrites => Err(io::ErrorKind::AlreadyExists.into()),
            Ok(_) => folder.rename(&self.name, folder, name).map(|()| Placed::Replacing),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !overwrites => {
                self.place_new(name).map(|()| Placed::New)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.rename(&self.name, folder, name).map(|()| Placed::New)
            }
            Err(error) => Err(error),
        }
    }
}

impl Hidden {
    /// Gives the file a second name, which fails where the name is taken, whoever was quicker; the hidden one
    /// goes with the value.
    fn place_new(&self, name: &Path) -> io::Result<()> {
        match self.folder.hard_link(&self.name, &self.folder, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => self.place_reserved(name),
            placed => placed,
        }
    }

    /// Takes the name with an empty file first, for file systems on which a file has one name only.
    fn place_reserved(&self, name: &Path) -> io::Result<()> {
        let folder = &*self.folder;
        folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
        folder.rename(&self.name, folder, name).inspect_err(|_| drop(folder.remove_file(name)))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = self.folder.remove_file(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;

    use super::*;

    /// A folder of its own, and the same as the server has it.
    fn folder(name: &str) -> (PathBuf, Arc<Dir>) {
        let path = std::env::temp_dir().join(format!("alula-incoming-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).unwrap();
        (path, Arc::new(dir))
    }

    fn names(path: &Path) -> Vec<String> {
        let names =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn of_two_files_for_one_name_the_first_to_be_whole_has_it() {
        let (path, dir) = folder("two");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let [mut first, mut second, third] = [(); 3].map(|()| Incoming::begin(Arc::clone(&dir)).unwrap());
            first.write(b"first").await.unwrap();
            second.write(b"second").await.unwrap();
            assert!(
                names(&path).len() == 3 && names(&path).iter().all(|name| name.starts_with(".alula-upload-"))
            );
            assert_eq!(second.finish("a".into(), false).await.unwrap(), Placed::New);
            let refused = first.finish("a".into(), false).await.unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(third.finish("a".into(), true).await.unwrap(), Placed::Replacing);
        });
        assert_eq!((names(&path), fs::read(path.join("a")).unwrap()), (vec!["a".to_owned()], Vec::new()));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_name_is_reserved_where_a_file_has_only_one() {
        let (path, dir) = folder("reserved");
        let hidden = |text: &str| {
            dir.write(".hidden", text).unwrap();
            Hidden { folder: Arc::clone(&dir), name: ".hidden".into() }
        };
        hidden("first").place_reserved(Path::new("a")).unwrap();
        let refused = hidden("second").place_reserved(Path::new("a")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (names(&path), fs::read(path.join("a")).unwrap()),
            (vec!["a".to_owned()], b"first".to_vec())
        );
        fs::remove_dir_all(path).unwrap();
    }
}
