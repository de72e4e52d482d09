//! Access logs that are kept in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alula::AccessLog;

pub(crate) const LONG: Duration = Duration::from_secs(10);

/// Keeps what is written.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    pub(crate) fn lines(&self) -> Vec<String> {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(String::from).collect()
    }
}

/// Waits for the end of requests whose answers have come.
pub(crate) async fn lines(log: &AccessLog, memory: &Memory, count: usize) -> Vec<String> {
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(log.flush(LONG));
        if memory.lines().len() >= count {
            break;
        }
    }
    memory.lines()
}

/// A line without its time.
pub(crate) fn timeless(line: &str) -> String {
    let (before, rest) = line.split_once('[').unwrap();
    let (time, after) = rest.split_once(']').unwrap();
    assert!(time.len() == 26 && time.ends_with(" +0000"), "{time}");
    format!("{before}[]{after}")
}
