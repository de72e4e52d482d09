//! A socket that counts the TLS records that go through it (RFC 8446 §5.1).

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What all sockets of this process have seen: records and bytes, in and out.
static COUNTS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// As four numbers with spaces between.
pub(crate) fn counts() -> String {
    let [records_in, bytes_in, records_out, bytes_out] = COUNTS.each_ref().map(|count| count.load(Relaxed));
    format!("{records_in} {bytes_in} {records_out} {bytes_out}")
}

/// A socket under TLS.
pub(crate) struct Counting<S> {
    socket: S,
    incoming: Records,
    outgoing: Records,
}

impl<S> Counting<S> {
    pub(crate) const fn new(socket: S) -> Self {
        Self { socket, incoming: Records::NEW, outgoing: Records::NEW }
    }
}

impl<S: Read> Read for Counting<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.socket.read(buf)?;
        COUNTS[0].fetch_add(self.incoming.pass(&buf[..read]), Relaxed);
        COUNTS[1].fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

impl<S: Write> Write for Counting<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.socket.write(buf)?;
        COUNTS[2].fetch_add(self.outgoing.pass(&buf[..written]), Relaxed);
        COUNTS[3].fetch_add(written as u64, Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Where in a stream of records we are.
struct Records {
    /// What is left of the current record's content.
    content: usize,
    header: [u8; 5],
    /// How much of the next header has come.
    filled: usize,
}

impl Records {
    const NEW: Self = Self { content: 0, header: [0; 5], filled: 0 };

    /// Goes over bytes, and says how many records begin in them.
    fn pass(&mut self, mut bytes: &[u8]) -> u64 {
        let mut records = 0;
        while !bytes.is_empty() {
            if self.content > 0 {
                let passed = bytes.len().min(self.content);
                self.content -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            self.header[self.filled] = bytes[0];
            self.filled += 1;
            bytes = &bytes[1..];
            if self.filled == self.header.len() {
                records += 1;
                self.filled = 0;
                self.content = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
            }
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_wherever_they_are_cut() {
        let bytes = b"\x17\x03\x03\x00\x03abc\x17\x03\x03\x00\x00\x17\x03\x03\x00\x01x";
        for cut in 0..bytes.len() {
            let mut records = Records::NEW;
            let (first, second) = bytes.split_at(cut);
            assert_eq!(records.pass(first) + records.pass(second), 3, "cut at {cut}");
        }
    }
}
