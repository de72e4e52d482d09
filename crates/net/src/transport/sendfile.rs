//! Sending a part of a file by the system (`sendfile` of Linux).

use std::{fs::File, io};

use crate::transport::WriteHalf;

#[cfg(target_os = "linux")]
impl WriteHalf {
    /// Returns true if the system can send files on this socket.
    pub(crate) fn takes_files(&self) -> bool {
        !matches!(self, Self::Link(_))
    }

    /// Writes like [`try_write`](Self::try_write), and lets the system wait for the bytes that follow at
    /// once.
    pub(crate) fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::net::{SendFlags, send};
        self.try_by(|socket| Ok(send(socket, bytes, SendFlags::MORE | SendFlags::NOSIGNAL)?))
    }

    /// Sends as many bytes of a file as there is room for.
    pub(crate) fn try_send_file(&self, file: &File, mut at: u64, bytes: usize) -> io::Result<usize> {
        self.try_by(|socket| Ok(rustix::fs::sendfile(socket, file, Some(&mut at), bytes)?))
    }

    /// Makes a system call on the socket if the reactor knows of room, and tells the reactor if there is
    /// none.
    fn try_by(
        &self,
        mut call: impl FnMut(std::os::fd::BorrowedFd<'_>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        use std::os::fd::AsFd as _;
        match self {
            Self::Tcp(half) => {
                half.as_ref().try_io(tokio::io::Interest::WRITABLE, || call(half.as_ref().as_fd()))
            }
            Self::Unix(half) => {
                half.as_ref().try_io(tokio::io::Interest::WRITABLE, || call(half.as_ref().as_fd()))
            }
            Self::Link(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl WriteHalf {
    pub(crate) const fn takes_files(&self) -> bool {
        false
    }

    pub(crate) fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_write(bytes)
    }

    pub(crate) fn try_send_file(&self, _: &File, _: u64, _: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
