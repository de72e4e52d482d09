//! The recorder: which files are recorded, and what is written down of each call.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use alula_power::{Entry, Fail, variables};
use libc::c_int;

use crate::failures::{Errno, Failures};
use crate::paths;
use crate::real::{self, Status};

/// The recorder of this program.
pub(crate) struct Recorder {
    folder: PathBuf,
    notes: PathBuf,
    log: c_int,
    flush_time: Duration,
    state: Mutex<State>,
}

/// The state that calls change; one call at a time has it.
pub(crate) struct State {
    /// The number of entries.
    count: u64,
    /// The path by which each file of the folder was last known.
    known: HashMap<u64, String>,
    device: u64,
    notes: HashSet<(u64, u64)>,
    failures: Failures,
}

/// A file that the recorder has to do with.
pub(crate) enum Watched {
    Recorded(Status),
    Notes,
}

/// The recorder, if this program is recorded.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    RECORDER.get_or_init(Recorder::start).as_ref()
}

impl Recorder {
    fn start() -> Option<Self> {
        let variable = |name| std::env::var_os(name).map(|value: OsString| PathBuf::from(value));
        let (folder, log) = (variable(variables::FOLDER)?, variable(variables::LOG)?);
        let device = real::status_of(&folder)?.device;
        let (known, notes, failures) = (HashMap::new(), HashSet::new(), Failures::NONE);
        let state = Mutex::new(State { count: 0, known, device, notes, failures });
        let micros = std::env::var(variables::FLUSH_MICROS).ok().and_then(|micros| micros.parse().ok());
        let flush_time = Duration::from_micros(micros.unwrap_or(0));
        Some(Self {
            folder,
            notes: variable(variables::NOTES)?,
            log: real::open_log(&log),
            flush_time,
            state,
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path below the folder that a program means, or `None` if it is elsewhere.
    pub(crate) fn below(&self, folder: c_int, path: &[u8]) -> Option<String> {
        paths::below(&self.folder, &paths::absolute(folder, path)?)
    }

    /// Opens a file of the folder by `open`.
    pub(crate) fn open(
        &self,
        path: String,
        flags: c_int,
        open: impl FnOnce() -> c_int,
    ) -> Result<c_int, Errno> {
        let mut state = self.lock();
        state.failures.open()?;
        let before = real::status_of(&self.folder.join(&path));
        let fd = open();
        let Some(status) = (fd >= 0).then(|| real::status(fd)).flatten().filter(|status| status.is_file)
        else {
            return Ok(fd);
        };
        let errno = real::errno();
        let is_new = before.is_none();
        if !is_new {
            self.note_rename(&mut state, status.inode, &path);
        }
        state.know(Some(status), &path);
        let is_emptied = !is_new && flags & libc::O_TRUNC != 0;
        self.put(&mut state, &Entry::Open { inode: status.inode, path, is_new, is_emptied });
        real::set_errno(errno);
        Ok(fd)
    }

    /// A file elsewhere was opened. It may be the one of notes, or have the number of a file of the folder
    /// that was removed.
    pub(crate) fn opened_elsewhere(&self, folder: c_int, path: &[u8], fd: c_int) {
        let errno = real::errno();
        if let Some(status) = real::status(fd).filter(|status| status.is_file) {
            let mut state = self.lock();
            if status.device == state.device {
                state.known.remove(&status.inode);
            }
            if paths::absolute(folder, path).is_some_and(|path| path == self.notes) {
                state.notes.insert((status.device, status.inode));
            }
        }
        real::set_errno(errno);
    }

    /// Writes bytes by `write`, from this byte of the file on if one is given.
    pub(crate) fn write(
        &self,
        fd: c_int,
        bytes: &[u8],
        at: Option<u64>,
        write: impl FnOnce(usize) -> isize,
    ) -> Result<isize, Errno> {
        let mut state = self.lock();
        match state.watched(fd) {
            None => {
                drop(state);
                Ok(write(bytes.len()))
            }
            Some(Watched::Notes) => {
                match Fail::read(bytes) {
                    Some(fail) => state.failures.set(fail),
                    None => self.put(&mut state, &Entry::Note { bytes: bytes.to_vec() }),
                }
                Ok(bytes.len() as isize)
            }
            Some(Watched::Recorded(status)) => {
                let count = state.failures.write(bytes.len())?;
                let offset = at.unwrap_or_else(|| real::position(fd, &status));
                let written = write(count);
                if let Some(bytes) = usize::try_from(written).ok().and_then(|count| bytes.get(..count)) {
                    let bytes = bytes.to_vec();
                    self.put(&mut state, &Entry::Write { inode: status.inode, offset, bytes });
                }
                Ok(written)
            }
        }
    }

    /// Flushes a file or folder.
    pub(crate) fn flush(&self, fd: c_int, flush: impl FnOnce() -> c_int) -> Result<c_int, Errno> {
        let state = self.lock();
        let Some(Watched::Recorded(Status { inode, .. })) = state.watched(fd) else {
            drop(state);
            return Ok(flush());
        };
        let begun = state.count;
        drop(state);
        self.take_flush_time();
        let mut state = self.lock();
        match state.failures.flush() {
            Ok(()) => {
                self.put(&mut state, &Entry::Flush { inode, begun });
                Ok(0)
            }
            Err(errno) => {
                self.put(&mut state, &Entry::FailedFlush { inode, begun });
                Err(errno)
            }
        }
    }

    /// Takes the time of a flush, in which others write.
    #[expect(
        clippy::disallowed_methods,
        reason = "a disk blocks its caller, and wakes none that waits for something else"
    )]
    fn take_flush_time(&self) {
        std::thread::sleep(self.flush_time);
    }

    pub(crate) fn set_len(&self, fd: c_int, len: i64, set: impl FnOnce() -> c_int) -> c_int {
        let mut state = self.lock();
        let watched = state.watched(fd);
        let done = set();
        if let (0, Some(Watched::Recorded(Status { inode, .. })), Ok(len)) =
            (done, watched, u64::try_from(len))
        {
            self.put(&mut state, &Entry::SetLen { inode, len });
        }
        done
    }

    /// Renames a file of the folder.
    pub(crate) fn rename(&self, from: String, to: String, rename: impl FnOnce() -> c_int) -> c_int {
        let mut state = self.lock();
        let moved = real::status_of(&self.folder.join(&from));
        let done = rename();
        if done == 0 {
            state.know(moved, &to);
            // The files in a folder go with it.
            let below = format!("{from}/");
            for path in state.known.values_mut() {
                if let Some(rest) = path.strip_prefix(&below) {
                    *path = format!("{to}/{rest}");
                }
            }
            self.put(&mut state, &Entry::Rename { from, to });
        }
        done
    }

    /// Removes a file or folder of the folder.
    pub(crate) fn remove(&self, path: String, remove: impl FnOnce() -> c_int) -> c_int {
        let mut state = self.lock();
        let status = real::status_of(&self.folder.join(&path));
        let done = remove();
        if done == 0 {
            if let Some(Status { inode, .. }) = status {
                state.known.remove(&inode);
            }
            self.put(&mut state, &Entry::Remove { path });
        }
        done
    }

    /// Makes a folder in the folder.
    pub(crate) fn make_folder(&self, path: String, make: impl FnOnce() -> c_int) -> c_int {
        let mut state = self.lock();
        let done = make();
        if done == 0 {
            state.know(real::status_of(&self.folder.join(&path)), &path);
            self.put(&mut state, &Entry::MakeFolder { path });
        }
        done
    }

    /// Returns true if a file is recorded.
    pub(crate) fn records(&self, fd: c_int) -> bool {
        matches!(self.lock().watched(fd), Some(Watched::Recorded(_)))
    }

    /// Notes a rename that was not seen: the file was known by a path that it no longer has.
    fn note_rename(&self, state: &mut State, inode: u64, to: &str) {
        let Some(from) = state.known.get(&inode).filter(|from| *from != to).cloned() else { return };
        let is_moved = real::status_of(&self.folder.join(&from)).is_none_or(|status| status.inode != inode);
        if is_moved {
            self.put(state, &Entry::Rename { from, to: to.to_owned() });
        }
    }

    fn put(&self, state: &mut State, entry: &Entry) {
        let errno = real::errno();
        let mut bytes = Vec::new();
        entry.write(&mut bytes);
        real::append(self.log, &bytes);
        state.count += 1;
        real::set_errno(errno);
    }
}

impl State {
    /// Knows a file by a path, and nothing else: the number of one that it replaces may be given to another
    /// one.
    fn know(&mut self, status: Option<Status>, path: &str) {
        self.known.retain(|_, known| known != path);
        self.known.extend(status.map(|status| (status.inode, path.to_owned())));
    }

    fn watched(&self, fd: c_int) -> Option<Watched> {
        let errno = real::errno();
        let status = real::status(fd).filter(|status| status.is_file);
        real::set_errno(errno);
        let status = status?;
        if self.notes.contains(&(status.device, status.inode)) {
            return Some(Watched::Notes);
        }
        let is_known = status.device == self.device && self.known.contains_key(&status.inode);
        is_known.then_some(Watched::Recorded(status))
    }
}
