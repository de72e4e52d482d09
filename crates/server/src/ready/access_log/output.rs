//! The output of a log, which may fail, for example on a full disk.
//!
//! Rule: a line that was cut by a refusal is ended before the next one, so that no two lines are one.

use std::io::{ErrorKind, Write};

pub(super) struct Output {
    to: Box<dyn Write + Send>,
    /// The last written line has no end.
    is_cut: bool,
    /// The last lines were not completely written.
    refuses: bool,
}

impl Output {
    pub(super) fn new(to: Box<dyn Write + Send>) -> Self {
        Self { to, is_cut: false, refuses: false }
    }

    /// Writes whole lines. Returns how many of them are lost, one of which may be there in part.
    pub(super) fn write(&mut self, lines: &[u8]) -> u64 {
        if self.is_cut && !lines.is_empty() {
            self.is_cut = self.write_some(b"\n") == 0;
        }
        let written = if self.is_cut { 0 } else { self.write_some(lines) };
        let (written, left) = lines.split_at(written);
        self.is_cut |= written.last().is_some_and(|byte| *byte != b'\n');
        self.refuses = !left.is_empty();
        left.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Returns true if some of the last lines were lost.
    pub(super) const fn refuses(&self) -> bool {
        self.refuses
    }

    pub(super) fn flush(&mut self) {
        // Lines that are lost with it cannot be told from others.
        let _ = self.to.flush();
    }

    /// Returns how many of the bytes were written.
    fn write_some(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(0) => break,
                Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        bytes.len() - rest.len()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// Keeps bytes as long as it has room.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (kept, room) = &mut *self.0.lock().unwrap();
            let taken = bytes.len().min(*room);
            *room -= taken;
            kept.extend_from_slice(&bytes[..taken]);
            if taken > 0 { Ok(taken) } else { Err(ErrorKind::StorageFull.into()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_cut_line_is_ended_before_the_next_one() {
        const LINES: &[u8] = b"one\ntwo\nthree\n";
        for room in 0..=LINES.len() {
            let disk = Disk(Arc::new(Mutex::new((Vec::new(), room))));
            let mut output = Output::new(Box::new(disk.clone()));
            let whole = LINES[..room].iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(output.write(LINES), 3 - whole, "{room}");
            assert_eq!(output.write(b"lost\n"), u64::from(room < LINES.len() || whole == 3), "{room}");
            assert_eq!(output.write(b""), 0);
            disk.0.lock().unwrap().1 = 100;
            assert_eq!(output.write(b"four\nfive\n"), 0, "{room}");
            let kept = String::from_utf8(disk.0.lock().unwrap().0.clone()).unwrap();
            let cut = String::from_utf8_lossy(&LINES[..room]).into_owned();
            let end = if cut.is_empty() || cut.ends_with('\n') { "" } else { "\n" };
            assert_eq!(kept, format!("{cut}{end}four\nfive\n"), "{room}");
        }
    }
}
