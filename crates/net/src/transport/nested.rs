//! A TCP socket that carries another transport, such as TLS to a proxy.

use std::{
    io::{self, Read as _},
    pin::Pin,
    task::{Context, Poll, ready},
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// A TCP socket whose reads ask the system before they wait.
///
/// A connection that runs over another transport is looked at by a read of that transport. Tokio's socket
/// answers such a read from what its reactor has seen last, and does not know of what came since; this one
/// does, for one system call more per read that finds nothing.
#[derive(Debug)]
pub struct PromptTcp(TcpStream);

impl From<TcpStream> for PromptTcp {
    fn from(socket: TcpStream) -> Self {
        Self(socket)
    }
}

impl AsyncRead for PromptTcp {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let socket = &mut self.get_mut().0;
        if let Poll::Ready(read) = Pin::new(&mut *socket).poll_read(cx, space) {
            return Poll::Ready(read);
        }
        // The waker is registered: what comes after this look wakes the reader.
        let bytes = ready!(now_or_later((&*SockRef::from(&*socket)).read(space.initialize_unfilled())))?;
        space.advance(bytes);
        Poll::Ready(Ok(()))
    }
}

fn now_or_later(read: io::Result<usize>) -> Poll<io::Result<usize>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        read => Poll::Ready(read),
    }
}

impl AsyncWrite for PromptTcp {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}
