//! Lines on their way to a thread that writes them.
//!
//! Rule: to push a line waits for no write. Each serving thread has a buffer; the writing thread swaps it for an empty one, long
//! before it is full if the disk keeps up.

use std::{
    fmt,
    io::{self, Write},
    mem::{swap, take},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::output::Output;
use crate::ready::shards::Shards;

/// Octets that wait for a slow disk, for each thread that serves: some three thousand lines of JSON, eight thousand others.
const BUFFER_OCTETS_MAX: usize = 1024 * 1024;

/// The time in which lines gather before they are written together.
const GATHERING: Duration = Duration::from_millis(50);

/// Octets of a thread that are written before that: 50 ms of a busy thread are more than its buffer takes.
const GATHERED_OCTETS: usize = 64 * 1024;

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
    lines: Vec<u8>,
    /// Lines that found no room and were not told of yet.
    dropped: u64,
    /// The lines are JSON.
    is_json: bool,
}

/// Orders to the thread that writes.
#[derive(Default)]
struct Orders {
    has_lines: bool,
    /// A thread has gathered enough of them.
    has_gathered: bool,
    ends: bool,
    output: Option<Box<dyn Write + Send>>,
    /// The number of the round that was asked for last, and that of the last that has ended.
    asked: u64,
    done: u64,
    /// The thread has ended.
    has_ended: bool,
    dropped: u64,
}

impl Spool {
    pub(super) fn start(output: Box<dyn Write + Send>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Writer { shared: shared.clone(), output: Output::new(output), spare: room(), untold: 0 };
        thread::Builder::new().name("alula access log".into()).spawn(move || writer.run())?;
        Ok(Self(shared))
    }

    /// Takes a line, or counts it as dropped. Never waits for the disk.
    pub(super) fn push(&self, line: &[u8], is_json: bool) {
        let (before, after) = lock(self.0.buffers.mine()).push(line, is_json);
        let has_gathered = before < GATHERED_OCTETS && after >= GATHERED_OCTETS;
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

    /// Lets the thread end once what waits is written, and waits for that for a while.
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
    /// Returns the octets that wait before and after.
    fn push(&mut self, line: &[u8], is_json: bool) -> (usize, usize) {
        let before = self.lines.len();
        if before + line.len() > BUFFER_OCTETS_MAX {
            self.dropped += 1;
            return (before, before);
        }
        if self.lines.capacity() == 0 {
            self.lines = room();
        }
        self.lines.extend_from_slice(line);
        self.is_json = is_json;
        (before, self.lines.len())
    }
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

/// The thread that writes.
struct Writer {
    shared: Arc<Shared>,
    output: Output,
    /// An empty buffer, given for a full one.
    spare: Vec<u8>,
    /// Lost lines of which the log does not tell yet.
    untold: u64,
}

impl Writer {
    fn run(mut self) {
        let shared = self.shared.clone();
        let _ended = Ended(&shared);
        loop {
            let (round, ends) = self.wait();
            let dropped = self.write_all();
            let mut orders = lock(&shared.orders);
            orders.dropped += dropped;
            orders.done = round;
            shared.written.notify_all();
            if ends {
                return;
            }
        }
    }

    /// Waits for lines and gathers some more. Returns the round that was asked for, and true if it is the last.
    fn wait(&mut self) -> (u64, bool) {
        let is_idle = |orders: &mut Orders| !orders.has_lines && !is_urgent(orders);
        let orders = lock(&self.shared.orders);
        let orders = self.shared.ordered.wait_while(orders, is_idle).unwrap_or_else(PoisonError::into_inner);
        let gathered = self.shared.ordered.wait_timeout_while(orders, GATHERING, |orders| !is_urgent(orders));
        let mut orders = gathered.unwrap_or_else(PoisonError::into_inner).0;
        orders.has_lines = false;
        orders.has_gathered = false;
        if let Some(output) = orders.output.take() {
            self.output = Output::new(output);
        }
        (orders.asked, orders.ends)
    }

    /// Writes all that waits. Returns the lines that were lost.
    fn write_all(&mut self) -> u64 {
        let shared = self.shared.clone();
        let lost = shared.buffers.iter().map(|buffer| self.write(buffer)).sum();
        self.output.flush();
        lost
    }

    fn write(&mut self, buffer: &Mutex<Buffer>) -> u64 {
        let (dropped, is_json) = {
            let mut buffer = lock(buffer);
            if buffer.lines.is_empty() {
                return 0;
            }
            swap(&mut buffer.lines, &mut self.spare);
            (take(&mut buffer.dropped), buffer.is_json)
        };
        let refused = self.output.write(&self.spare);
        self.untold += dropped + refused;
        self.spare.clear();
        if refused == 0 && self.untold > 0 {
            self.tell(is_json);
        }
        dropped + refused
    }

    /// Tells of lost lines in the log, which takes lines. The buffer that was written has room for that.
    fn tell(&mut self, is_json: bool) {
        let lost = self.untold;
        // To write to memory does not fail.
        let _ = match is_json {
            true => writeln!(self.spare, "{{\"dropped\":{lost}}}"),
            false => writeln!(self.spare, "# {lost} lines were dropped"),
        };
        if self.output.write(&self.spare) == 0 {
            self.untold = 0;
        }
        self.spare.clear();
    }
}

/// A flush is awaited, or the end, or many lines wait.
fn is_urgent(orders: &Orders) -> bool {
    orders.ends || orders.has_gathered || orders.asked > orders.done
}

/// Says at its end that nobody writes any more, also after a panic of the output.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        lock(&self.0.orders).has_ended = true;
        self.0.written.notify_all();
    }
}

/// All the memory of a buffer at once, so that later lines allocate nothing; the system gives what is used of it.
fn room() -> Vec<u8> {
    Vec::with_capacity(BUFFER_OCTETS_MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Tells of each write.
    struct Told(Sender<usize>);

    impl Write for Told {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.send(octets.len()).map(|()| octets.len()).map_err(io::Error::other)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_buffer_that_fills_is_written_before_its_time() {
        let line = [b'x'; 256];
        let shared = Arc::new(Shared::default());
        let spool = Spool(shared.clone());
        for _ in 1..GATHERED_OCTETS / line.len() {
            spool.push(&line, true);
        }
        assert!(lock(&shared.orders).has_lines && !is_urgent(&lock(&shared.orders)));
        spool.push(&line, true);
        assert!(is_urgent(&lock(&shared.orders)));

        let (told, writes) = channel();
        let mut writer = Writer {
            shared: shared.clone(),
            output: Output::new(Box::new(Told(told))),
            spare: room(),
            untold: 0,
        };
        writer.wait();
        assert!(!is_urgent(&lock(&shared.orders)));
        assert_eq!(writer.write_all(), 0);
        assert_eq!(writes.try_iter().collect::<Vec<_>>(), [GATHERED_OCTETS]);
    }

    #[test]
    fn lines_without_room_are_told_of_after_those_before_them() {
        let shared = Arc::new(Shared::default());
        let spool = Spool(shared.clone());
        let line = [b'\n'; 1024];
        for _ in 0..BUFFER_OCTETS_MAX / line.len() + 3 {
            spool.push(&line, false);
        }
        assert_eq!(spool.dropped(), 3);
        let (told, writes) = channel();
        let mut writer =
            Writer { shared, output: Output::new(Box::new(Told(told))), spare: room(), untold: 0 };
        assert_eq!(writer.write_all(), 3);
        let told = "# 3 lines were dropped\n".len();
        assert_eq!(writes.try_iter().collect::<Vec<_>>(), [BUFFER_OCTETS_MAX, told]);
        assert_eq!(writer.write_all(), 0);
    }
}
