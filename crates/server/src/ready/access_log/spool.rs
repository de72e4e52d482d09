//! Lines on their way to a thread that writes them.
//!
//! Rule: to push a line waits for no write. Each serving thread has a buffer; the writing thread takes an
//! empty one for it, long before it is full if the disk keeps up.
//! Rule: lines are written in the order in which they were pushed, over all threads. A line gets its time
//! under the lock of its buffer. The writing thread notes the time before it takes the first buffer: a line
//! that it has not found is later than that.

mod merge;
mod stamped;
mod writer;

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

use self::{
    stamped::{StampedLines, stamp},
    writer::Writer,
};
use super::output::Output;
use crate::ready::shards::Shards;

/// The bytes that may wait for a slow disk, for each serving thread: some three thousand lines of JSON, eight
/// thousand others.
const BUFFER_BYTES_MAX: usize = 1024 * 1024;

/// The longest line: nine texts of 256 bytes, each up to six times as long when escaped, and the rest.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// The bytes of a thread after which they are written at once: a busy thread fills more than its buffer in 50
/// ms.
const GATHERED_BYTES: usize = 64 * 1024;

/// Lines that wait to be written, and the thread that writes them.
pub(super) struct Spool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    orders: Mutex<Orders>,
    /// Orders have changed.
    ordered: Condvar,
    /// A round of the thread has ended.
    written: Condvar,
    buffers: Shards<Mutex<Buffer>>,
}

/// The lines of one thread.
#[derive(Default)]
struct Buffer {
    lines: StampedLines,
    /// The bytes of lines that the writing thread has taken and not written yet.
    away: usize,
    /// The lines that found no room and were not reported yet.
    dropped: u64,
    /// The lines are JSON.
    is_json: bool,
}

/// Orders to the thread that writes.
#[derive(Default)]
struct Orders {
    has_lines: bool,
    /// A thread has enough lines to write.
    has_gathered: bool,
    ends: bool,
    output: Option<Box<dyn Write + Send>>,
    /// The number of the last requested round, and of the last finished one.
    asked: u64,
    done: u64,
    /// The thread has ended.
    has_ended: bool,
    dropped: u64,
}

impl Spool {
    pub(super) fn start(output: Box<dyn Write + Send>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(shared.clone(), Output::new(output));
        thread::Builder::new().name("alula access log".into()).spawn(move || writer.run())?;
        Ok(Self(shared))
    }

    /// Takes the line that `write` appends, given the time now, or counts it as dropped. Never waits for the
    /// disk. Nothing of the program may be called in `write`, which runs under a lock.
    pub(super) fn push(&self, is_json: bool, write: impl FnOnce(&mut Vec<u8>, SystemTime)) {
        let (before, after) = lock(self.0.buffers.mine()).push(is_json, write);
        let has_gathered = before < GATHERED_BYTES && after >= GATHERED_BYTES;
        if has_gathered || (before == 0 && after > 0) {
            let mut orders = lock(&self.0.orders);
            orders.has_lines = true;
            orders.has_gathered |= has_gathered;
            self.0.ordered.notify_one();
        }
    }

    pub(super) fn write_to(&self, output: Box<dyn Write + Send>) {
        lock(&self.0.orders).output = Some(output);
    }

    pub(super) fn flush(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut orders = lock(&self.0.orders);
        orders.asked += 1;
        let round = orders.asked;
        self.0.ordered.notify_one();
        while orders.done < round && !orders.has_ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            orders = self.0.written.wait_timeout(orders, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        orders.done >= round
    }

    /// Lets the thread end once all lines are written, and waits for that for a while.
    pub(super) fn end(&self, at_most: Duration) {
        lock(&self.0.orders).ends = true;
        self.flush(at_most);
    }

    pub(super) fn dropped(&self) -> u64 {
        let waiting: u64 = self.0.buffers.iter().map(|buffer| lock(buffer).dropped).sum();
        waiting + lock(&self.0.orders).dropped
    }
}

impl Buffer {
    /// Returns the bytes that wait, before and after.
    fn push(&mut self, is_json: bool, write: impl FnOnce(&mut Vec<u8>, SystemTime)) -> (usize, usize) {
        let before = self.lines.unread();
        self.is_json = is_json;
        if before + self.away >= BUFFER_BYTES_MAX {
            self.dropped += 1;
            return (before, before);
        }
        if !self.lines.has_memory() {
            self.lines = room();
        }
        let now = SystemTime::now();
        self.lines.push(stamp(now), |line| write(line, now));
        (before, self.lines.unread())
    }

    /// Returns true if there is nothing to write or to report.
    fn is_idle(&self) -> bool {
        self.lines.unread() == 0 && self.dropped == 0
    }
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

/// Returns true if a flush, the end, or many lines wait.
fn is_urgent(orders: &Orders) -> bool {
    orders.ends || orders.has_gathered || orders.asked > orders.done
}

/// Allocates a buffer at its full size, so that later lines allocate nothing. The system maps the pages that
/// are used.
fn room() -> StampedLines {
    StampedLines::with_capacity(BUFFER_BYTES_MAX + LINE_BYTES_MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Hands out what is written.
    struct Told(Sender<Vec<u8>>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map(|()| bytes.len()).map_err(io::Error::other)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn told() -> (Box<dyn Write + Send>, Receiver<Vec<u8>>) {
        let (told, writes) = channel();
        (Box::new(Told(told)), writes)
    }

    fn lengths(writes: &Receiver<Vec<u8>>) -> Vec<usize> {
        writes.try_iter().map(|bytes| bytes.len()).collect()
    }

    fn text(writes: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(writes.try_iter().flatten().collect()).unwrap()
    }

    fn push(spool: &Spool, line: &[u8]) {
        spool.push(true, |to, _| to.extend_from_slice(line));
    }

    fn numbered(lines: std::ops::Range<usize>) -> String {
        lines.map(|number| format!("{number}\n")).collect()
    }

    /// Pushes numbers from this one on, one after the other, on several threads that take turns.
    fn push_in_turn(spool: &Spool, from: usize, count: usize) {
        let next = Mutex::new(from);
        let next_of_all = || {
            let mut next = lock(&next);
            if *next < from + count {
                push(spool, format!("{next}\n").as_bytes());
            }
            *next += 1;
            *next
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while next_of_all() < from + count {
                        thread::yield_now()
                    }
                });
            }
        });
    }

    #[test]
    fn a_buffer_that_fills_is_written_before_its_time() {
        let line = [b'x'; 256];
        let shared = Arc::new(Shared::default());
        let spool = Spool(shared.clone());
        // Each line has its time and its length before it.
        let lines = GATHERED_BYTES.div_ceil(line.len() + 12);
        (1..lines).for_each(|_| push(&spool, &line));
        assert!(lock(&shared.orders).has_lines && !is_urgent(&lock(&shared.orders)));
        push(&spool, &line);
        assert!(is_urgent(&lock(&shared.orders)));

        let (output, writes) = told();
        let mut writer = Writer::new(shared.clone(), Output::new(output));
        writer.wait();
        assert!(!is_urgent(&lock(&shared.orders)));
        assert!(!writer.write_all(false));
        assert_eq!((lengths(&writes), spool.dropped()), (vec![lines * line.len()], 0));
    }

    #[test]
    fn lines_without_room_are_told_of_after_those_before_them() {
        let shared = Arc::new(Shared::default());
        let spool = Spool(shared.clone());
        let line = [b'\n'; 1012];
        let room = BUFFER_BYTES_MAX / 1024;
        (0..room + 3).for_each(|_| push(&spool, &line));
        assert_eq!(spool.dropped(), 3);
        let (output, writes) = told();
        let mut writer = Writer::new(shared, Output::new(output));
        writer.write_all(false);
        assert_eq!(spool.dropped(), 3);
        let written = text(&writes);
        assert!(written.ends_with("\n{\"dropped\":3}\n"), "{}", &written[written.len() - 30..]);
        assert_eq!(written.len(), room * line.len() + "{\"dropped\":3}\n".len());
        writer.write_all(false);
        push(&spool, b"more");
        writer.write_all(false);
        assert_eq!((text(&writes), spool.dropped()), ("more".to_owned(), 3));
    }

    /// Lines that the writing thread has taken count until they are written: a slow disk makes a thread hold
    /// no more than its bound.
    #[test]
    fn lines_that_are_being_written_take_room() {
        let shared = Arc::new(Shared::default());
        let spool = Spool(shared.clone());
        let buffer = || lock(shared.buffers.mine());
        buffer().away = BUFFER_BYTES_MAX - 1;
        push(&spool, b"in\n");
        push(&spool, b"out\n");
        assert_eq!(spool.dropped(), 1);
        let (output, writes) = told();
        let mut writer = Writer::new(shared.clone(), Output::new(output));
        writer.write_all(false);
        assert_eq!((text(&writes), buffer().away), ("in\n{\"dropped\":1}\n".to_owned(), 0));
        push(&spool, b"again\n");
        writer.write_all(false);
        assert_eq!(text(&writes), "again\n");
    }

    /// Lines of one thread stood together: of 40 requests one after the other, nine were out of place.
    #[test]
    fn lines_of_all_threads_are_in_the_order_in_which_they_were_pushed() {
        const LINES: usize = 20_000;
        let (output, writes) = told();
        let spool = Spool::start(output).unwrap();
        push_in_turn(&spool, 0, LINES);
        spool.end(Duration::from_secs(60));
        assert_eq!((text(&writes) == numbered(0..LINES), spool.dropped()), (true, 0));
    }

    #[test]
    fn another_output_goes_on_where_the_one_before_has_ended() {
        const LINES: usize = 500;
        let (output, writes) = told();
        let spool = Spool::start(output).unwrap();
        let mut written = String::new();
        let mut before = writes;
        for round in 0..20 {
            push_in_turn(&spool, round * LINES, LINES);
            let (output, writes) = told();
            spool.write_to(output);
            assert!(spool.flush(Duration::from_secs(60)));
            written += &text(&before);
            before = writes;
        }
        spool.end(Duration::from_secs(60));
        written += &text(&before);
        assert_eq!((written == numbered(0..20 * LINES), spool.dropped()), (true, 0));
    }
}
