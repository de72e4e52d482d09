//! A connection in memory: two ends, and between them a [`Wire`] for each direction.
//!
//! Rule: an end behaves as a socket does. Written bytes are read though the writer has gone; a write to an
//! end that has gone fails; a reset loses unread bytes. An end that is dropped without a shutdown resets,
//! since a transport has no other way to say that what it sent is not whole.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::transport::wire::{Fault, Next, Wire};

/// Makes a connection in memory: its near end, which writes to `there`, and its far end, which writes to
/// `back`. Allocates, and while its buffers grow to what is in them at most.
#[must_use]
pub fn pipe(there: Wire, back: Wire) -> (PipeEnd, PipeEnd) {
    let [there, back] = [there, back].map(|wire| Arc::new(Mutex::new(Lane::new(wire))));
    let near = PipeEnd { reads: back.clone(), writes: there.clone() };
    (near, PipeEnd { reads: there, writes: back })
}

/// An end of a connection in memory. Dropping it without shutting it down is an abort: the other end reads
/// what was written, and then an error.
///
/// It reads and writes as any transport does, by the traits of tokio.
#[derive(Debug)]
pub struct PipeEnd {
    reads: Arc<Mutex<Lane>>,
    writes: Arc<Mutex<Lane>>,
}

/// A direction of the pipe: the bytes in it, and the wakers of both ends.
#[derive(Debug)]
struct Lane {
    wire: Wire,
    held: VecDeque<u8>,
    /// The bytes that were read so far.
    read: u64,
    state: State,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// The reader and the writer to wake once the lock is free: waking may run their code.
    woken: [Option<Waker>; 2],
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Open,
    /// The writer has ended its side properly.
    Shut,
    /// The writer has gone without ending its side: an error follows its bytes.
    Left,
    /// The reader has gone.
    Unread,
    /// The reader has seen an end: further bytes are dropped.
    Lost,
    Reset,
}

impl Lane {
    fn new(wire: Wire) -> Self {
        Self {
            wire,
            held: VecDeque::new(),
            read: 0,
            state: State::Open,
            reader: None,
            writer: None,
            woken: [None, None],
        }
    }

    /// Reads into the space; `Err` holds a fault that is told now.
    fn poll_read(&mut self, space: &mut ReadBuf<'_>, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        if space.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let most = match (self.state, self.wire.next(self.read)) {
            (State::Reset, _) => return Poll::Ready(Err(Fault::Reset)),
            (State::Lost, _) => return Poll::Ready(Ok(())),
            (_, Next::Bytes(most)) => most.min(space.remaining()).min(self.held.len()),
            (_, Next::Fault(Fault::Silence)) => return wait(&mut self.reader, cx),
            (_, Next::Fault(fault)) => return Poll::Ready(Err(fault)),
        };
        if most == 0 {
            return match self.state {
                State::Shut => Poll::Ready(Ok(())),
                State::Left => Poll::Ready(Err(Fault::Reset)),
                _ => wait(&mut self.reader, cx),
            };
        }
        self.take(most, space);
        Poll::Ready(Ok(()))
    }

    fn take(&mut self, bytes: usize, space: &mut ReadBuf<'_>) {
        let (first, second) = self.held.as_slices();
        let of_first = bytes.min(first.len());
        space.put_slice(&first[..of_first]);
        space.put_slice(&second[..bytes - of_first]);
        self.held.drain(..bytes);
        self.read += bytes as u64;
        self.wire.was_read(bytes);
        self.wake_writer();
    }

    fn poll_write(&mut self, bytes: &[u8], cx: &Context<'_>) -> Poll<io::Result<usize>> {
        match self.state {
            State::Open => {}
            State::Lost => return Poll::Ready(Ok(bytes.len())),
            State::Shut | State::Left | State::Unread => {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            State::Reset => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
        let taken = bytes.len().min(self.wire.room(self.held.len()));
        if taken == 0 && !bytes.is_empty() {
            return wait(&mut self.writer, cx);
        }
        self.held.extend(&bytes[..taken]);
        self.wake_reader();
        Poll::Ready(Ok(taken))
    }

    fn wake_reader(&mut self) {
        self.woken[0] = self.reader.take().or(self.woken[0].take());
    }

    fn wake_writer(&mut self) {
        self.woken[1] = self.writer.take().or(self.woken[1].take());
    }

    /// Changes to a state, if the direction is still open or this is a reset, and wakes both ends.
    fn enter(&mut self, state: State) {
        if self.state == State::Open || state == State::Reset {
            self.state = state;
        }
        self.wake_reader();
        self.wake_writer();
    }
}

impl PipeEnd {
    /// Reports a fault to the reader; a reset breaks both directions.
    fn fail(&self, fault: Fault) -> io::Result<()> {
        if fault == Fault::End {
            with(&self.reads, |lane| lane.enter(State::Lost));
            return Ok(());
        }
        with(&self.reads, |lane| lane.enter(State::Reset));
        with(&self.writes, |lane| lane.enter(State::Reset));
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

impl AsyncRead for PipeEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = with(&self.reads, |lane| lane.poll_read(space, cx));
        read.map(|read| read.or_else(|fault| self.fail(fault)))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        with(&self.writes, |lane| lane.poll_write(bytes, cx))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        with(&self.writes, |lane| lane.enter(State::Shut));
        Poll::Ready(Ok(()))
    }
}

impl Drop for PipeEnd {
    fn drop(&mut self) {
        with(&self.writes, |lane| lane.enter(State::Left));
        with(&self.reads, |lane| lane.enter(State::Unread));
    }
}

fn wait<T>(waiting: &mut Option<Waker>, cx: &Context<'_>) -> Poll<T> {
    match waiting {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
    Poll::Pending
}

/// Changes a direction, and wakes its ends afterwards.
fn with<T>(lane: &Mutex<Lane>, act: impl FnOnce(&mut Lane) -> T) -> T {
    let (done, woken) = {
        let mut lane = lane.lock().unwrap_or_else(PoisonError::into_inner);
        (act(&mut lane), std::mem::take(&mut lane.woken))
    };
    woken.into_iter().flatten().for_each(Waker::wake);
    done
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn read_all(end: &mut PipeEnd) -> (Vec<Vec<u8>>, Option<io::ErrorKind>) {
        let (mut pieces, mut space) = (Vec::new(), [0; 1024]);
        loop {
            match end.read(&mut space).await {
                Ok(0) => return (pieces, None),
                Ok(bytes) => pieces.push(space[..bytes].to_vec()),
                Err(error) => return (pieces, Some(error.kind())),
            }
        }
    }

    #[tokio::test]
    async fn bytes_come_whole_or_in_pieces_and_none_is_lost() {
        let sent: Vec<u8> = (0..=255).collect();
        for (wire, longest) in [
            (Wire::new(), 256),
            (Wire::new().pieces_of(1), 1),
            (Wire::new().pieces_of(100), 100),
            (Wire::new().random_pieces(7), 64),
        ] {
            let (mut near, mut far) = pipe(wire, Wire::new());
            near.write_all(&sent).await.unwrap();
            near.shutdown().await.unwrap();
            let (pieces, error) = read_all(&mut far).await;
            assert_eq!((pieces.concat(), error), (sent.clone(), None));
            assert!(pieces.iter().all(|piece| piece.len() <= longest), "{longest}");
            assert_eq!(pieces.len() > 1, longest < 256);
        }
    }

    #[tokio::test]
    async fn a_reset_breaks_both_directions_where_it_was_asked_for() {
        let (mut near, mut far) = pipe(Wire::new().reset_after(3), Wire::new());
        near.write_all(b"abcdef").await.unwrap();
        far.write_all(b"lost").await.unwrap();
        let reset = Some(io::ErrorKind::ConnectionReset);
        assert_eq!(read_all(&mut far).await, (vec![b"abc".to_vec()], reset));
        assert_eq!(read_all(&mut near).await, (vec![], reset));
        assert_eq!(near.write(b"g").await.map_err(|error| error.kind()).err(), reset);
    }

    #[tokio::test]
    async fn an_end_in_one_direction_leaves_the_other() {
        let (mut near, mut far) = pipe(Wire::new().end_after(3), Wire::new());
        near.write_all(b"abcdef").await.unwrap();
        assert_eq!(read_all(&mut far).await, (vec![b"abc".to_vec()], None));
        near.write_all(&[0; 200_000]).await.unwrap();
        far.write_all(b"back").await.unwrap();
        let mut back = [0; 4];
        near.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"back");
    }

    #[tokio::test]
    async fn what_was_written_before_an_abort_is_read() {
        let (mut near, mut far) = pipe(Wire::new(), Wire::new());
        near.write_all(b"abc").await.unwrap();
        drop(near);
        assert_eq!(read_all(&mut far).await, (vec![b"abc".to_vec()], Some(io::ErrorKind::ConnectionReset)));
    }

    #[tokio::test]
    async fn a_writer_waits_for_room_and_hears_that_the_reader_has_gone() {
        let (mut near, mut far) = pipe(Wire::new().capacity(2), Wire::new());
        let reads = tokio::spawn(async move {
            let mut four = [0; 4];
            far.read_exact(&mut four).await.unwrap();
            four
        });
        let error = near.write_all(b"abcdefgh").await.unwrap_err();
        assert_eq!((error.kind(), &reads.await.unwrap()), (io::ErrorKind::BrokenPipe, b"abcd"));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_neither_byte_nor_end() {
        let (near, mut far) = pipe(Wire::new().silent_after(0), Wire::new());
        drop(near);
        let silent = tokio::time::timeout(std::time::Duration::from_secs(60), read_all(&mut far)).await;
        assert!(silent.is_err());
    }
}
