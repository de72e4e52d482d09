//! A peer in memory that answers every request with 204, so that streams close.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const PREFACE: usize = 24;
const HEADER: usize = 9;
/// `:status: 204` by its index in the static table.
const NO_CONTENT: [u8; 1] = [0x89];

/// The client's end of the connection. Expects whole frames in each write, as h2 makes them.
#[derive(Default)]
pub(crate) struct Memory {
    written: Vec<u8>,
    has_preface: bool,
    answers: Vec<u8>,
    reader: Option<Waker>,
}

impl Memory {
    fn answer_all(&mut self) {
        let mut at = 0;
        if !self.has_preface && self.written.len() >= PREFACE {
            (self.has_preface, at) = (true, PREFACE);
        }
        while let Some(header) = self.written.get(at..at + HEADER).filter(|_| self.has_preface) {
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
            if self.written.len() < at + HEADER + length {
                break;
            }
            let (kind, flags, stream) = (header[3], header[4], [header[5], header[6], header[7], header[8]]);
            at += HEADER + length;
            match (kind, flags) {
                (1, _) => self.push(1, 5, stream, &NO_CONTENT),
                (4, 0) => {
                    self.push(4, 0, [0; 4], &[]);
                    self.push(4, 1, [0; 4], &[]);
                }
                _ => {}
            }
        }
        self.written.drain(..at);
    }

    fn push(&mut self, kind: u8, flags: u8, stream: [u8; 4], payload: &[u8]) {
        let length = u8::try_from(payload.len()).expect("a short payload");
        self.answers.extend_from_slice(&[0, 0, length, kind, flags]);
        self.answers.extend_from_slice(&stream);
        self.answers.extend_from_slice(payload);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl AsyncRead for Memory {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answers.is_empty() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let length = buf.remaining().min(self.answers.len());
        buf.put_slice(&self.answers[..length]);
        self.answers.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Memory {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.written.extend_from_slice(buf);
        self.answer_all();
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
