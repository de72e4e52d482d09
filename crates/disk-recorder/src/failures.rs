//! Failures of the disk, as a program has ordered them.

use alula_power::Fail;

/// The number of an error of the system.
pub(crate) type Errno = i32;

/// The failures from here on.
pub(crate) struct Failures {
    fail: Fail,
}

impl Failures {
    pub(crate) const NONE: Self = Self { fail: Fail::Never };

    pub(crate) const fn set(&mut self, fail: Fail) {
        self.fail = fail;
    }

    /// The bytes that a write of so many may write.
    pub(crate) fn write(&mut self, count: usize) -> Result<usize, Errno> {
        match &mut self.fail {
            Fail::Writes => Err(libc::EIO),
            Fail::Full(0) if count > 0 => Err(libc::ENOSPC),
            Fail::Full(left) => {
                let taken = (count as u64).min(*left);
                *left -= taken;
                Ok(usize::try_from(taken).unwrap_or(count))
            }
            _ => Ok(count),
        }
    }

    pub(crate) fn flush(&self) -> Result<(), Errno> {
        if self.fail == Fail::Flushes { Err(libc::EIO) } else { Ok(()) }
    }

    pub(crate) fn open(&self) -> Result<(), Errno> {
        match self.fail {
            Fail::Descriptors => Err(libc::EMFILE),
            Fail::Rights => Err(libc::EACCES),
            _ => Ok(()),
        }
    }
}
