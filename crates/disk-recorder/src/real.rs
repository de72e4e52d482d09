//! The functions of the C library that are next in line, and what is asked of the system about files.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, c_void, off_t};

/// A function that is looked up when it is first called.
pub(crate) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address.
    pub(crate) fn address(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        assert!(!found.is_null(), "the C library has no {:?}", self.name);
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The system's description of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) len: u64,
    /// Returns true for files and folders, which may be recorded.
    pub(crate) is_file: bool,
}

/// The status of an open file.
pub(crate) fn status(fd: c_int) -> Option<Status> {
    let mut status = MaybeUninit::uninit();
    // SAFETY: there is room for a status.
    let is_there = unsafe { libc::fstat64(fd, status.as_mut_ptr()) } == 0;
    // SAFETY: a call that succeeded has filled it.
    is_there.then(|| Status::new(unsafe { status.assume_init_ref() }))
}

/// The status of a path, whose last link is not followed.
pub(crate) fn status_of(path: &Path) -> Option<Status> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut status = MaybeUninit::uninit();
    // SAFETY: the path ends with a zero byte, and there is room for a status.
    let is_there = unsafe { libc::lstat64(path.as_ptr(), status.as_mut_ptr()) } == 0;
    // SAFETY: a call that succeeded has filled it.
    is_there.then(|| Status::new(unsafe { status.assume_init_ref() }))
}

impl Status {
    fn new(status: &libc::stat64) -> Self {
        let is_file = matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR);
        let len = u64::try_from(status.st_size).unwrap_or(0);
        Self { device: status.st_dev, inode: status.st_ino, len, is_file }
    }
}

/// The byte at which the next write of a file begins.
pub(crate) fn position(fd: c_int, status: &Status) -> u64 {
    // SAFETY: it takes numbers alone.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags & libc::O_APPEND != 0 {
        return status.len;
    }
    // SAFETY: it takes numbers alone.
    let at: off_t = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    u64::try_from(at).unwrap_or(0)
}

/// Opens the file of the recording.
pub(crate) fn open_log(path: &Path) -> c_int {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the path ends with a zero byte, and the call makes no file.
    let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), LOG_FLAGS, 0) };
    let fd = c_int::try_from(fd).unwrap_or(-1);
    assert!(fd >= 0, "the recording opens");
    fd
}

const LOG_FLAGS: c_int = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;

/// Appends to the file of the recording.
pub(crate) fn append(fd: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are those of a slice.
        let count = unsafe { libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) };
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            // A recording with a gap would be read as another one.
            std::process::abort();
        }
        bytes = &bytes[count..];
    }
}

/// The error of the last call.
pub(crate) fn errno() -> c_int {
    // SAFETY: the address is one of this thread.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: the address is one of this thread.
    unsafe { *libc::__errno_location() = errno }
}
