//! The functions that take the place of those of the C library. Each only turns what it is given into what
//! safe code takes.
//!
//! # Safety
//! Each is called as the function of its name is: with open files or not, paths that end with a zero byte,
//! and bytes that may be read. Those that take a variable number of arguments are declared with all of them,
//! which is the same call on Linux for x86-64 and AArch64.

use std::ffi::CStr;

use libc::{c_char, c_int, c_uint, c_void, iovec, mode_t, off_t, size_t, ssize_t};

use crate::failures::Errno;
use crate::real::{Next, set_errno};
use crate::recorder::{Recorder, recorder};

/// The function of the C library of this name and type.
macro_rules! next {
    ($name:literal, fn($($argument:ty),*) -> $result:ty) => {{
        static NEXT: Next = Next::new($name);
        // SAFETY: the C library has a function of this name and of this type.
        let next: unsafe extern "C" fn($($argument),*) -> $result = unsafe { std::mem::transmute(NEXT.address()) };
        next
    }};
}

fn answer<T: From<i8>>(done: Result<T, Errno>) -> T {
    done.unwrap_or_else(|errno| {
        set_errno(errno);
        T::from(-1)
    })
}

/// The bytes of a path.
///
/// # Safety
/// It ends with a zero byte and lives as long as the call.
unsafe fn bytes<'a>(path: *const c_char) -> &'a [u8] {
    // SAFETY: as above.
    unsafe { CStr::from_ptr(path) }.to_bytes()
}

/// The recorder and the path below its folder, if the file is there.
///
/// # Safety
/// The path ends with a zero byte.
unsafe fn recorded(folder: c_int, path: *const c_char) -> Option<(&'static Recorder, String)> {
    let recorder = recorder()?;
    // SAFETY: as above.
    let below = recorder.below(folder, unsafe { bytes(path) })?;
    Some((recorder, below))
}

/// Opens a file by `open`.
///
/// # Safety
/// The path ends with a zero byte.
unsafe fn opened(folder: c_int, path: *const c_char, flags: c_int, open: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as above.
    if let Some((recorder, below)) = unsafe { recorded(folder, path) } {
        return answer(recorder.open(below, flags, open));
    }
    let fd = open();
    if let Some(recorder) = recorder().filter(|_| fd >= 0) {
        // SAFETY: as above.
        recorder.opened_elsewhere(folder, unsafe { bytes(path) }, fd);
    }
    fd
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let next = next!(c"open", fn(*const c_char, c_int, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { opened(libc::AT_FDCWD, path, flags, || next(path, flags, mode)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let next = next!(c"open64", fn(*const c_char, c_int, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { opened(libc::AT_FDCWD, path, flags, || next(path, flags, mode)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn openat(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    let next = next!(c"openat", fn(c_int, *const c_char, c_int, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { opened(folder, path, flags, || next(folder, path, flags, mode)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn openat64(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    let next = next!(c"openat64", fn(c_int, *const c_char, c_int, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { opened(folder, path, flags, || next(folder, path, flags, mode)) }
}

/// Writes bytes by `write`, which takes their number.
///
/// # Safety
/// The bytes may be read.
unsafe fn written(
    fd: c_int,
    bytes: *const c_void,
    count: size_t,
    at: Option<u64>,
    write: impl FnOnce(size_t) -> ssize_t,
) -> ssize_t {
    let Some(recorder) = recorder().filter(|_| !bytes.is_null()) else { return write(count) };
    // SAFETY: as above.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
    answer(recorder.write(fd, bytes, at, write))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    let next = next!(c"write", fn(c_int, *const c_void, size_t) -> ssize_t);
    // SAFETY: the caller's call, handed on, of no more bytes.
    unsafe { written(fd, bytes, count, None, |count| next(fd, bytes, count)) }
}

/// The place of a write, if it is one.
fn place(at: off_t) -> Option<u64> {
    u64::try_from(at).ok()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwrite(fd: c_int, bytes: *const c_void, count: size_t, at: off_t) -> ssize_t {
    let next = next!(c"pwrite", fn(c_int, *const c_void, size_t, off_t) -> ssize_t);
    // SAFETY: the caller's call, handed on, of no more bytes.
    unsafe { written(fd, bytes, count, place(at), |count| next(fd, bytes, count, at)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwrite64(
    fd: c_int,
    bytes: *const c_void,
    count: size_t,
    at: off_t,
) -> ssize_t {
    let next = next!(c"pwrite64", fn(c_int, *const c_void, size_t, off_t) -> ssize_t);
    // SAFETY: the caller's call, handed on, of no more bytes.
    unsafe { written(fd, bytes, count, place(at), |count| next(fd, bytes, count, at)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    let is_recorded = recorder().is_some_and(|recorder| recorder.records(fd));
    if !is_recorded || count < 1 {
        let next = next!(c"writev", fn(c_int, *const iovec, c_int) -> ssize_t);
        // SAFETY: the caller's call, handed on.
        return unsafe { next(fd, parts, count) };
    }
    // A short write: the caller goes on with the rest.
    // SAFETY: there is one at least, and its bytes may be read.
    let first = unsafe { &*parts };
    // SAFETY: as above.
    unsafe { write(fd, first.iov_base, first.iov_len) }
}

/// The bytes that a way around `write` wrote: none of a file that is recorded.
fn around(fd: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    if recorder().is_some_and(|recorder| recorder.records(fd)) {
        answer(Err(libc::EOPNOTSUPP))
    } else {
        call()
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwritev(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t {
    let next = next!(c"pwritev", fn(c_int, *const iovec, c_int, off_t) -> ssize_t);
    // SAFETY: the caller's call, handed on.
    around(fd, || unsafe { next(fd, parts, count, at) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwritev64(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
    at: off_t,
) -> ssize_t {
    let next = next!(c"pwritev64", fn(c_int, *const iovec, c_int, off_t) -> ssize_t);
    // SAFETY: the caller's call, handed on.
    around(fd, || unsafe { next(fd, parts, count, at) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_at: *mut off_t,
    to: c_int,
    to_at: *mut off_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let next = next!(c"copy_file_range", fn(c_int, *mut off_t, c_int, *mut off_t, size_t, c_uint) -> ssize_t);
    // SAFETY: the caller's call, handed on.
    around(to, || unsafe { next(from, from_at, to, to_at, count, flags) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(to: c_int, from: c_int, at: *mut off_t, count: size_t) -> ssize_t {
    let next = next!(c"sendfile", fn(c_int, c_int, *mut off_t, size_t) -> ssize_t);
    // SAFETY: the caller's call, handed on.
    around(to, || unsafe { next(to, from, at, count) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile64(to: c_int, from: c_int, at: *mut off_t, count: size_t) -> ssize_t {
    let next = next!(c"sendfile64", fn(c_int, c_int, *mut off_t, size_t) -> ssize_t);
    // SAFETY: the caller's call, handed on.
    around(to, || unsafe { next(to, from, at, count) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fallocate(fd: c_int, mode: c_int, at: off_t, count: off_t) -> c_int {
    let next = next!(c"fallocate", fn(c_int, c_int, off_t, off_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    around(fd, || unsafe { next(fd, mode, at, count) } as ssize_t) as c_int
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fallocate64(fd: c_int, mode: c_int, at: off_t, count: off_t) -> c_int {
    let next = next!(c"fallocate64", fn(c_int, c_int, off_t, off_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    around(fd, || unsafe { next(fd, mode, at, count) } as ssize_t) as c_int
}

/// Flushes a file by `flush`.
fn flushed(fd: c_int, flush: impl FnOnce() -> c_int) -> c_int {
    match recorder() {
        Some(recorder) => answer(recorder.flush(fd, flush)),
        None => flush(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    let next = next!(c"fsync", fn(c_int) -> c_int);
    // SAFETY: the caller's call, handed on.
    flushed(fd, || unsafe { next(fd) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    let next = next!(c"fdatasync", fn(c_int) -> c_int);
    // SAFETY: the caller's call, handed on.
    flushed(fd, || unsafe { next(fd) })
}

/// Cuts or extends a file by `set`.
fn cut(fd: c_int, len: off_t, set: impl FnOnce() -> c_int) -> c_int {
    match recorder() {
        Some(recorder) => recorder.set_len(fd, len, set),
        None => set(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ftruncate(fd: c_int, len: off_t) -> c_int {
    let next = next!(c"ftruncate", fn(c_int, off_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    cut(fd, len, || unsafe { next(fd, len) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ftruncate64(fd: c_int, len: off_t) -> c_int {
    let next = next!(c"ftruncate64", fn(c_int, off_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    cut(fd, len, || unsafe { next(fd, len) })
}

/// Renames a file by `rename`.
///
/// # Safety
/// The paths end with zero bytes.
unsafe fn renamed(
    (from_folder, from): (c_int, *const c_char),
    (to_folder, to): (c_int, *const c_char),
    rename: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as above.
    match unsafe { (recorded(from_folder, from), recorded(to_folder, to)) } {
        (Some((recorder, from)), Some((_, to))) => recorder.rename(from, to, rename),
        _ => rename(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let next = next!(c"rename", fn(*const c_char, *const c_char) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { renamed((libc::AT_FDCWD, from), (libc::AT_FDCWD, to), || next(from, to)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn renameat(
    a: c_int,
    from: *const c_char,
    b: c_int,
    to: *const c_char,
) -> c_int {
    let next = next!(c"renameat", fn(c_int, *const c_char, c_int, *const c_char) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { renamed((a, from), (b, to), || next(a, from, b, to)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn renameat2(
    a: c_int,
    from: *const c_char,
    b: c_int,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    let next = next!(c"renameat2", fn(c_int, *const c_char, c_int, *const c_char, c_uint) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { renamed((a, from), (b, to), || next(a, from, b, to, flags)) }
}

/// Removes a file or folder by `remove`.
///
/// # Safety
/// The path ends with a zero byte.
unsafe fn removed(folder: c_int, path: *const c_char, remove: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as above.
    match unsafe { recorded(folder, path) } {
        Some((recorder, path)) => recorder.remove(path, remove),
        None => remove(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    let next = next!(c"unlink", fn(*const c_char) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { removed(libc::AT_FDCWD, path, || next(path)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    let next = next!(c"unlinkat", fn(c_int, *const c_char, c_int) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { removed(folder, path, || next(folder, path, flags)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    let next = next!(c"rmdir", fn(*const c_char) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { removed(libc::AT_FDCWD, path, || next(path)) }
}

/// Makes a folder by `make`.
///
/// # Safety
/// The path ends with a zero byte.
unsafe fn made(folder: c_int, path: *const c_char, make: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as above.
    match unsafe { recorded(folder, path) } {
        Some((recorder, path)) => recorder.make_folder(path, make),
        None => make(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    let next = next!(c"mkdir", fn(*const c_char, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { made(libc::AT_FDCWD, path, || next(path, mode)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mkdirat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let next = next!(c"mkdirat", fn(c_int, *const c_char, mode_t) -> c_int);
    // SAFETY: the caller's call, handed on.
    unsafe { made(folder, path, || next(folder, path, mode)) }
}
