//! Any type that reads and writes, as a link: a tunnel through a proxy, a pipe in memory, a user's own
//! transport.
//!
//! The loops write without a waker and wait for room apart from that, as sockets allow; an
//! [`AsyncWrite`](tokio::io::AsyncWrite) knows only writing with a waker. The transport is therefore always
//! polled with the same waker, [`Room`], which notes that there may be room and wakes the writer that waits
//! for it.
//!
//! Rule: bytes count as written once they are flushed. A transport may keep what it takes (TLS does), and
//! nobody would come back to flush it; so the writer is told to wait, and flushes by trying again.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker, ready},
    time::Duration,
};

use tokio::{io::ReadBuf, runtime::Handle, time::timeout};

use crate::transport::{Transport, link::Link};

/// The time that a transport may take to shut down, once nobody waits for it.
const SHUT_WITHIN: Duration = Duration::from_secs(5);

pub(crate) struct Boxed {
    ends: Arc<Mutex<Ends>>,
    room: Arc<Room>,
    waker: Waker,
    /// The runtime on which the transport is shut down if that takes a while.
    runtime: Option<Handle>,
}

/// The transport, for both directions.
struct Ends {
    transport: Box<dyn Transport>,
    /// Bytes that the transport has taken and not flushed yet.
    taken: usize,
}

/// The room of the transport: a flag that is true if there may be room to write, and the waker of the waiting
/// writer.
struct Room(Mutex<(bool, Option<Waker>)>);

impl Boxed {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        let room = Arc::new(Room(Mutex::new((true, None))));
        Self {
            ends: Arc::new(Mutex::new(Ends { transport, taken: 0 })),
            waker: room.clone().into(),
            room,
            runtime: Handle::try_current().ok(),
        }
    }
}

impl Link for Boxed {
    fn peer(&self) -> Option<SocketAddr> {
        None
    }

    fn poll_read(&self, space: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = ReadBuf::new(space);
        let mut ends = lock(&self.ends);
        Pin::new(&mut *ends.transport).poll_read(cx, &mut space).map_ok(|()| space.filled().len())
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        // Before the transport is asked: room that it tells of meanwhile is not to be missed.
        lock(&self.room.0).0 = false;
        let written = lock(&self.ends).poll_write(bytes, &mut Context::from_waker(&self.waker));
        let Poll::Ready(written) = written else { return Err(io::ErrorKind::WouldBlock.into()) };
        lock(&self.room.0).0 = true;
        written
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (may_be_room, waiting) = &mut *lock(&self.room.0);
        if *may_be_room {
            return Poll::Ready(Ok(()));
        }
        match waiting {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Shuts the transport down: at once if it can, otherwise in a task.
    fn shut(&self) {
        let shut = lock(&self.ends).poll_shutdown(&mut Context::from_waker(&self.waker));
        if shut.is_pending()
            && let Some(runtime) = &self.runtime
        {
            let ends = self.ends.clone();
            // A peer that does not let it end is not told.
            let shut = async move { poll_fn(|cx| lock(&ends).poll_shutdown(cx)).await };
            runtime.spawn(async move { timeout(SHUT_WITHIN, shut).await });
        }
    }
}

impl Ends {
    fn poll_write(&mut self, bytes: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.taken == 0 {
            self.taken = ready!(Pin::new(&mut *self.transport).poll_write(cx, bytes))?;
            if self.taken == 0 && !bytes.is_empty() {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        ready!(Pin::new(&mut *self.transport).poll_flush(cx))?;
        Poll::Ready(Ok(std::mem::take(&mut self.taken)))
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.transport).poll_shutdown(cx)
    }
}

impl Wake for Room {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = {
            let (may_be_room, waiting) = &mut *lock(&self.0);
            *may_be_room = true;
            waiting.take()
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, BufWriter, DuplexStream, duplex};

    use super::*;

    /// Takes all bytes at once, and flushes four of them.
    fn hoards() -> (Boxed, DuplexStream) {
        let (near, far) = duplex(4);
        (Boxed::new(Box::new(BufWriter::new(near))), far)
    }

    async fn has_room(boxed: &Boxed) {
        poll_fn(|cx| boxed.poll_write_ready(cx)).await.unwrap();
    }

    fn is_full(boxed: &Boxed) -> bool {
        boxed.poll_write_ready(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn bytes_are_written_once_they_are_flushed() {
        let (boxed, mut far) = hoards();
        assert!(!is_full(&boxed));
        let error = boxed.try_write(b"abcdef").unwrap_err();
        assert_eq!((error.kind(), is_full(&boxed)), (io::ErrorKind::WouldBlock, true));
        let mut read = [0; 4];
        far.read_exact(&mut read).await.unwrap();
        has_room(&boxed).await;
        // More has come to be written meanwhile.
        assert_eq!(boxed.try_write(b"abcdefgh").unwrap(), 6);
        assert!(!is_full(&boxed));
        drop(boxed);
        let mut rest = Vec::new();
        far.read_to_end(&mut rest).await.unwrap();
        assert_eq!((&read, &*rest), (b"abcd", &b"ef"[..]));
    }

    #[tokio::test]
    async fn who_waits_for_room_is_woken() {
        let (boxed, mut far) = hoards();
        boxed.try_write(b"abcdef").unwrap_err();
        let waits = tokio::spawn(async move { has_room(&boxed).await });
        tokio::task::yield_now().await;
        far.read_exact(&mut [0; 4]).await.unwrap();
        // Were it not woken, this would wait for good.
        waits.await.unwrap();
    }

    #[tokio::test]
    async fn the_end_is_told_when_there_is_room_for_it_though_nobody_waits() {
        let (boxed, mut far) = hoards();
        boxed.try_write(b"abcdef").unwrap_err();
        boxed.shut();
        let mut read = Vec::new();
        far.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"abcdef");
        drop(boxed);
    }

    #[tokio::test]
    async fn a_transport_that_takes_nothing_is_broken() {
        let (near, _far) = duplex(1);
        struct Deaf(DuplexStream);
        impl tokio::io::AsyncRead for Deaf {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                space: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_read(cx, space)
            }
        }
        impl tokio::io::AsyncWrite for Deaf {
            fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
                Poll::Ready(Ok(0))
            }
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
        let boxed = Boxed::new(Box::new(Deaf(near)));
        assert_eq!(boxed.try_write(b"a").unwrap_err().kind(), io::ErrorKind::WriteZero);
    }
}
