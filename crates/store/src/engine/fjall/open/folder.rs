//! The folder of an engine: its lock, the version of its format, and what is kept aside.
//!
//! ```text
//! lock      empty; locked while the folder is open
//! format    two lines of text: `alula-store 1`, and `id` with 32 hexadecimal digits
//! fjall/    the files of the embedded engine
//! aside/    damaged ends of journals
//! reserve   blocks that are given up when the disk is full
//! probe     bytes that ask the disk whether it takes writes again
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::open_error::FjallOpenError;
use super::private_files;
use crate::engine::fjall::space::disk;
use crate::engine::fjall::write::batch_mark::FolderId;

/// The names of an engine's files in its folder. Others are not its own.
const OWN_NAMES: [&str; 5] = ["lock", "format", "fjall", "aside", "reserve"];

/// The name of the file that asks the disk for room. It stays if the process is killed meanwhile.
const PROBE: &str = "probe";

/// The name of a format that is not whole yet.
const UNFINISHED_FORMAT: &str = "format.new";

const VERSION: u32 = 1;
const TITLE: &str = "alula-store ";
const ID: &str = "id ";

/// The bytes that a disk must take before the engine is opened anew after a failed write.
const PROBE_BYTES: usize = 1024 * 1024;

/// An open folder, which nobody else opens until this is dropped.
#[derive(Debug)]
pub(in crate::engine::fjall) struct Folder {
    path: PathBuf,
    id: FolderId,
    _lock: File,
}

impl Folder {
    /// Opens a folder, which is made if there is none.
    pub(in crate::engine::fjall) fn open(path: &Path) -> Result<Self, FjallOpenError> {
        if !path.try_exists().map_err(FjallOpenError::at(path))? {
            private_files::make_folder(path).map_err(FjallOpenError::at(path))?;
        }
        let path = path.canonicalize().map_err(FjallOpenError::at(path))?;
        private_files::check_owner(&path)?;
        // Before a file is made in it.
        if !path.join("format").try_exists().map_err(FjallOpenError::at(&path))? {
            private_files::check_others(&path, &[&OWN_NAMES[..], &[UNFINISHED_FORMAT]].concat())?;
        }
        let lock = lock(&path)?;
        // The version of the format is known before anything in the folder is changed.
        let known_id = read_format(&path)?;
        private_files::mend(&path, &OWN_NAMES)?;
        if known_id.is_some() {
            remove_old_probe(&path).map_err(FjallOpenError::at(&path))?;
        }
        let id = known_id.map_or_else(|| write_format(&path), Ok)?;
        let folder = Self { path, id, _lock: lock };
        folder.put_unfinished_aside()?;
        folder.check_tables()?;
        Ok(folder)
    }

    /// Returns the path of the folder.
    pub(in crate::engine::fjall) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the random bytes of the folder.
    pub(in crate::engine::fjall) const fn id(&self) -> &FolderId {
        &self.id
    }

    /// Returns the folder of the embedded engine.
    pub(in crate::engine::fjall) fn engine(&self) -> PathBuf {
        self.path.join("fjall")
    }

    /// Returns an unused path in the folder of what is kept aside.
    pub(in crate::engine::fjall) fn aside(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.path.join("aside");
        if !folder.try_exists()? {
            private_files::make_folder(&folder)?;
            sync_folder(&self.path)?;
        }
        let mut path = folder.join(name);
        let mut count = 1;
        while path.try_exists()? {
            path = folder.join(format!("{name}.{count}"));
            count += 1;
        }
        Ok(path)
    }

    /// Checks that the disk takes writes, and has room for so many bytes more: writes, flushes and removes a
    /// file.
    pub(in crate::engine::fjall) fn probe(&self, more: u64) -> io::Result<()> {
        let path = self.path.join(PROBE);
        let mut file = private_files::writing().truncate(true).open(&path)?;
        let written = file.write_all(&vec![1; PROBE_BYTES]).and_then(|()| file.sync_all());
        let written = written.and_then(|()| disk::allocate(&mut file, PROBE_BYTES as u64 + more));
        drop(file);
        fs::remove_file(&path)?;
        written
    }

    /// Moves an embedded engine aside whose making was interrupted: it opens neither as a new one nor as an
    /// old one, and it has kept nothing yet.
    fn put_unfinished_aside(&self) -> Result<(), FjallOpenError> {
        let engine = self.engine();
        let at = FjallOpenError::at(&engine);
        if !engine.try_exists().map_err(&at)? {
            return Ok(());
        }
        let version = fs::read(engine.join("version")).unwrap_or_default();
        if version.len() >= 4 {
            return Ok(());
        }
        if engine.join("keyspaces").join("1").try_exists().map_err(&at)? {
            return Err(self.not_a_store("the version of its embedded engine is missing"));
        }
        let aside = self.aside("unfinished").map_err(&at)?;
        fs::rename(&engine, aside).map_err(&at)
    }

    /// Refuses a folder without the list of its tables, which the embedded engine would take for a new one.
    fn check_tables(&self) -> Result<(), FjallOpenError> {
        let engine = self.engine();
        let at = FjallOpenError::at(&engine);
        if !engine.try_exists().map_err(&at)? {
            return Ok(());
        }
        let tables = engine.join("keyspaces");
        let is_there = |path: &Path| path.try_exists().map_err(&at);
        if is_there(&tables.join("1"))? && !is_there(&tables.join("0"))? {
            return Err(
                self.not_a_store("its folder `fjall/keyspaces/0`, the list of its tables, is missing")
            );
        }
        // A loss of power while a folder was made may leave an empty journal without tables.
        if !is_there(&tables)? && has_journal(&engine).map_err(&at)? {
            return Err(self.not_a_store("its folder `fjall/keyspaces`, which has its tables, is missing"));
        }
        Ok(())
    }

    fn not_a_store(&self, reason: &'static str) -> FjallOpenError {
        FjallOpenError::NotAStore { folder: self.path.clone(), reason }
    }
}

/// Flushes the entries of a folder, so that a new or renamed file is there after a loss of power.
pub(in crate::engine::fjall) fn sync_folder(path: &Path) -> io::Result<()> {
    // Windows opens no folder as a file.
    if cfg!(windows) { Ok(()) } else { File::open(path)?.sync_all() }
}

/// Returns true if a journal has anything in it.
fn has_journal(engine: &Path) -> io::Result<bool> {
    for file in fs::read_dir(engine)? {
        let file = file?;
        if file.path().extension().is_some_and(|extension| extension == "jnl") && file.metadata()?.len() > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn lock(folder: &Path) -> Result<File, FjallOpenError> {
    let path = folder.join("lock");
    let at = FjallOpenError::at(&path);
    let file = private_files::writing().truncate(false).open(&path).map_err(&at)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FjallOpenError::InUse { folder: folder.to_path_buf() }),
        Err(TryLockError::Error(error)) => Err(at(error)),
    }
}

/// Reads the id of a folder whose version is known; `None` for a folder without a format.
fn read_format(folder: &Path) -> Result<Option<FolderId>, FjallOpenError> {
    let path = folder.join("format");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return check_new(folder).map(|()| None),
        Err(error) => return Err(FjallOpenError::at(&path)(error)),
    };
    let not_a_store = |reason| FjallOpenError::NotAStore { folder: folder.to_path_buf(), reason };
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix(TITLE)?.parse().ok());
    match version {
        Some(VERSION) => {}
        Some(found) if found > VERSION => {
            return Err(FjallOpenError::Newer { folder: folder.to_path_buf(), found, known: VERSION });
        }
        _ => return Err(not_a_store("its file `format` is of no known version")),
    }
    let id = lines.next().and_then(|line| read_id(line.strip_prefix(ID)?));
    id.map(Some).ok_or_else(|| not_a_store("its file `format` has no id"))
}

/// Refuses a folder that has objects but no format.
fn check_new(folder: &Path) -> Result<(), FjallOpenError> {
    match folder.join("fjall").try_exists() {
        Ok(false) => Ok(()),
        _ => Err(FjallOpenError::NotAStore {
            folder: folder.to_path_buf(),
            reason: "its file `format` is missing",
        }),
    }
}

/// Gives a folder its format. Another file is written first and then renamed, so that there is a whole one or
/// none.
fn write_format(folder: &Path) -> Result<FolderId, FjallOpenError> {
    let mut id = FolderId::default();
    getrandom::fill(&mut id)
        .map_err(|error| FjallOpenError::at(folder)(io::Error::other(error.to_string())))?;
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let unfinished = folder.join(UNFINISHED_FORMAT);
    let write = || {
        let mut file = private_files::writing().truncate(true).open(&unfinished)?;
        write!(file, "{TITLE}{VERSION}\n{ID}{hex}\n")?;
        file.sync_all()?;
        fs::rename(&unfinished, folder.join("format"))?;
        sync_folder(folder)
    };
    write().map_err(FjallOpenError::at(&unfinished))?;
    Ok(id)
}

fn remove_old_probe(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(PROBE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read_id(hex: &str) -> Option<FolderId> {
    let mut id = FolderId::default();
    if hex.len() != 2 * id.len() || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_id_and_opens_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Folder::open(folder.path()).expect("a new folder");
        let id = *first.id();
        let second = Folder::open(folder.path());
        assert!(matches!(second, Err(FjallOpenError::InUse { .. })), "{second:?}");
        drop(first);
        assert_eq!(Folder::open(folder.path()).map(|folder| *folder.id()).ok(), Some(id));
    }

    /// A process that was killed while it asked the disk for room leaves the file of its question.
    #[test]
    fn a_probe_that_was_interrupted_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Folder::open(folder.path()).expect("a new folder"));
        let probe = folder.path().join("probe");
        fs::write(&probe, [1; 9]).expect("a probe");
        drop(Folder::open(folder.path()).expect("the same folder"));
        assert!(!probe.exists());
    }

    #[test]
    fn only_a_known_format_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("format");
        for text in ["", "alula-store 0\n", "alula-store 1\n", "alula-store 1\nid 12\n", "other 1\n"] {
            fs::write(&path, text).expect("a format");
            let opened = Folder::open(folder.path());
            assert!(matches!(opened, Err(FjallOpenError::NotAStore { .. })), "{text:?}: {opened:?}");
        }
        fs::write(&path, "alula-store 2\nof a kind that is not known\n").expect("a format");
        let opened = Folder::open(folder.path());
        let Err(error @ FjallOpenError::Newer { found: 2, known: 1, .. }) = opened else {
            panic!("{opened:?}");
        };
        let text = error.to_string();
        assert!(text.contains("version 2") && text.contains("version 1"), "{text}");
    }

    #[test]
    fn objects_without_a_format_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("fjall")).expect("a folder");
        assert!(matches!(Folder::open(folder.path()), Err(FjallOpenError::NotAStore { .. })));
    }

    #[test]
    fn a_making_that_was_interrupted_is_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Folder::open(folder.path()).expect("a new folder"));
        let engine = folder.path().join("fjall");
        fs::create_dir(&engine).expect("a folder");
        fs::write(engine.join("0.jnl"), [0; 9]).expect("a journal");
        drop(Folder::open(folder.path()).expect("an interrupted folder"));
        assert!(!engine.exists());
        assert!(folder.path().join("aside/unfinished/0.jnl").exists());
    }
}
