//! The thread that writes the lines of all others, in the order of their times.

use std::{
    io::Write as _,
    mem::{swap, take},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use super::{
    Buffer, Orders, Shared, is_urgent, lock,
    merge::{Merge, Source},
    room,
    stamped::stamp,
};
use crate::ready::access_log::output::Output;

/// The time in which lines are collected before they are written together.
const GATHERING: Duration = Duration::from_millis(50);

/// The bytes of a write: smaller ones need more system calls, and larger ones bring nothing.
const WRITE_BYTES: usize = 64 * 1024;

/// The thread that writes.
pub(super) struct Writer {
    shared: Arc<Shared>,
    output: Output,
    /// A source for each buffer.
    sources: Vec<Source>,
    merge: Merge,
    /// The sorted lines to write together.
    ordered: Vec<u8>,
    /// The time of the last round.
    last_cut: u64,
    /// The number of lost lines to report in the log, and whether the log is JSON.
    untold: u64,
    is_json: bool,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, output: Output) -> Self {
        let sources = shared.buffers.iter().map(|_| Source::default()).collect();
        Self {
            shared,
            output,
            sources,
            merge: Merge::default(),
            ordered: Vec::with_capacity(2 * WRITE_BYTES),
            last_cut: 0,
            untold: 0,
            is_json: false,
        }
    }

    pub(super) fn run(mut self) {
        let shared = self.shared.clone();
        let _ended = Ended(&shared);
        loop {
            let (round, ends) = self.wait();
            let are_left = self.write_all(ends);
            let mut orders = lock(&shared.orders);
            orders.has_lines |= are_left;
            orders.done = round;
            shared.written.notify_all();
            if ends {
                return;
            }
        }
    }

    /// Waits for lines and collects more for a while. Returns the round that was asked for, and true if it is
    /// the last.
    pub(super) fn wait(&mut self) -> (u64, bool) {
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

    /// Writes the lines up to now, or all of them. Returns true if some are left for the next round.
    pub(super) fn write_all(&mut self, ends: bool) -> bool {
        let now = stamp(SystemTime::now());
        // A clock that was put back says nothing about which lines are whole.
        let cut = if ends || now < self.last_cut { u64::MAX } else { now };
        self.last_cut = now;
        self.gather();
        let (refused, are_left) = self.write_until(cut);
        self.release();
        self.count_lost(refused);
        if self.untold > 0 && !self.output.refuses() {
            self.tell();
        }
        self.output.flush();
        are_left
    }

    /// Takes the lines of all threads. Each is locked for as long as an exchange of buffers takes.
    fn gather(&mut self) {
        let shared = self.shared.clone();
        let mut dropped = 0;
        for (buffer, source) in shared.buffers.iter().zip(&mut self.sources) {
            if let Some((of_it, is_json)) = take_from(buffer, source) {
                dropped += of_it;
                self.is_json = is_json;
            }
        }
        self.count_lost(dropped);
    }

    /// Writes lines in order. Returns the lines that the output refused, and true if some are left.
    fn write_until(&mut self, cut: u64) -> (u64, bool) {
        let Self { output, sources, merge, ordered, .. } = self;
        let mut refused = 0;
        let are_left = merge.run(sources, cut, |line| {
            ordered.extend_from_slice(line);
            if ordered.len() >= WRITE_BYTES {
                refused += output.write(ordered);
                ordered.clear();
            }
        });
        if !ordered.is_empty() {
            refused += output.write(ordered);
            ordered.clear();
        }
        (refused, are_left)
    }

    /// Frees the threads' room for lines that are not in memory any more.
    fn release(&self) {
        for (buffer, source) in self.shared.buffers.iter().zip(&self.sources) {
            lock(buffer).away = source.held();
        }
    }

    fn count_lost(&mut self, lines: u64) {
        if lines > 0 {
            self.untold += lines;
            lock(&self.shared.orders).dropped += lines;
        }
    }

    /// Reports lost lines in the log.
    fn tell(&mut self) {
        let lost = self.untold;
        // To write to memory does not fail.
        let _ = match self.is_json {
            true => writeln!(self.ordered, "{{\"dropped\":{lost}}}"),
            false => writeln!(self.ordered, "# {lost} lines were dropped"),
        };
        if self.output.write(&self.ordered) == 0 {
            self.untold = 0;
        }
        self.ordered.clear();
    }
}

/// Exchanges the buffer of a thread for an empty one. Returns how many of its lines were dropped, and whether
/// they are JSON; none if there is nothing.
fn take_from(buffer: &Mutex<Buffer>, source: &mut Source) -> Option<(u64, bool)> {
    if lock(buffer).is_idle() {
        return None;
    }
    if !source.fresh.has_memory() {
        // Not under the lock, and not by the thread that serves.
        source.fresh = room();
    }
    let mut buffer = lock(buffer);
    swap(&mut buffer.lines, &mut source.fresh);
    buffer.away = source.held();
    Some((take(&mut buffer.dropped), buffer.is_json))
}

/// Reports at its end that nobody writes any more, even after a panic of the output.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        lock(&self.0.orders).has_ended = true;
        self.0.written.notify_all();
    }
}
