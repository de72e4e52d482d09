//! Reads standard input into memory, all of it or a part, within the time limit of -m.

use std::{
    io::{self, Read as _},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use crate::failure::exit::{Exit, Failure};

/// The longest wait that does not count as one.
const MOMENT: Duration = Duration::from_millis(100);

/// The rest of the time limit of -m.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fetch) struct Deadline {
    ends_at: Option<Instant>,
    max_time: Duration,
    /// Reading has used some of the time.
    has_waited: bool,
}

impl Deadline {
    /// Starts the time limit of -m.
    pub(in crate::fetch) fn of(max_time: Option<Duration>) -> Self {
        let max_time = max_time.filter(|time| !time.is_zero());
        Self { ends_at: max_time.and_then(after), max_time: max_time.unwrap_or_default(), has_waited: false }
    }

    /// Returns the deadline after reading has taken so much of the time. A moment is what the program itself
    /// takes.
    pub(in crate::fetch) fn after(max_time: Option<Duration>, took: Duration) -> Self {
        let whole = Self::of(max_time);
        let has_waited = took > MOMENT;
        let ends_at = whole.ends_at.map(|at| at.checked_sub(took).filter(|_| has_waited).unwrap_or(at));
        Self { ends_at, has_waited, ..whole }
    }

    /// Returns the time for a call, if there is a limit: the first call gets all of it, so that a message
    /// names what -m says.
    pub(in crate::fetch) fn for_call(self, is_first: bool) -> Option<Duration> {
        let left = self.left()?;
        Some(if is_first && !self.has_waited { self.max_time } else { left })
    }

    /// Returns the time that is left, if there is a limit.
    pub(in crate::fetch) fn left(self) -> Option<Duration> {
        self.ends_at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Reads all of standard input.
    ///
    /// # Errors
    /// It cannot be read, or it has not ended in time.
    pub(in crate::fetch) fn read_all(self) -> Result<Vec<u8>, Failure> {
        self.read_within(u64::MAX).map(|(all, _)| all)
    }

    /// Reads up to so many bytes of standard input; the flag is true at the end.
    ///
    /// # Errors
    /// As [`read_all`](Self::read_all).
    pub(in crate::fetch) fn read_within(self, bytes_max: u64) -> Result<(Vec<u8>, bool), Failure> {
        self.wait_for(move || within(io::stdin().lock(), bytes_max))
    }

    fn wait_for<T: Send + 'static>(
        self,
        read: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let Some(left) = self.left() else { return read().map_err(failed) };
        let (send, receive) = channel();
        // A read cannot be broken off: the thread ends with the program.
        thread::spawn(move || drop(send.send(read())));
        match receive.recv_timeout(left) {
            Ok(read) => read.map_err(failed),
            Err(RecvTimeoutError::Timeout) => Err(self.missed()),
            Err(RecvTimeoutError::Disconnected) => Err(failed(io::ErrorKind::Other.into())),
        }
    }

    fn missed(self) -> Failure {
        let seconds = self.max_time.as_secs_f64();
        Failure::new(Exit::Timeout, format_args!("stdin has not ended within {seconds} s (-m)"))
    }
}

fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Reads up to so many bytes; the flag is true at the end.
fn within(input: impl io::Read, bytes_max: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut first = Vec::new();
    input.take(bytes_max.saturating_add(1)).read_to_end(&mut first)?;
    let is_all = first.len() as u64 <= bytes_max;
    Ok((first, is_all))
}

fn failed(error: io::Error) -> Failure {
    Failure::local("stdin", &error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_known_of_what_ends_within_the_bound() {
        for (input, first, is_all) in
            [("", "", true), ("abc", "abc", true), ("abcd", "abcd", false), ("abcde", "abcd", false)]
        {
            let read = within(input.as_bytes(), 3).unwrap();
            assert_eq!(read, (first.as_bytes().to_vec(), is_all), "{input:?}");
        }
    }

    #[test]
    fn what_does_not_come_in_time_is_not_waited_for() {
        let (hold, held) = channel::<()>();
        let missed = Deadline::of(Some(Duration::from_millis(1))).wait_for(move || Ok(held.recv().is_ok()));
        assert_eq!(missed.unwrap_err().sentence(), "stdin has not ended within 0.001 s (-m)");
        drop(hold);
        assert!(Deadline::of(Some(Duration::ZERO)).wait_for(|| Ok(true)).unwrap());
        let took = Duration::from_secs(60);
        assert!(Deadline::after(Some(took), took / 2).left().unwrap() <= took / 2);
    }
}
