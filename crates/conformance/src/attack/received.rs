//! The part of an attacker's connection that both versions share: a thread that reads, unless it is told to
//! stop, and notes of what it has read.

use std::io::Read;
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// The time that an answer may take after the attack was played.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long nothing may come, for it to be taken for nothing.
pub(super) const PATIENCE_LOST: Duration = Duration::from_millis(1500);

/// Notes of what has come so far; written by the reading thread.
#[derive(Default)]
pub(super) struct Received<N> {
    state: Mutex<State<N>>,
    changed: Condvar,
}

/// The notes, and the state of the connection.
#[derive(Default)]
pub(super) struct State<N> {
    is_stopped: bool,
    pub(super) has_ended: bool,
    notes: N,
}

impl<N: Default + Send + 'static> Received<N> {
    /// Starts a thread that reads the socket by `read`, until that returns.
    pub(super) fn by(socket: &TcpStream, read: fn(&Self, Patient<'_, N>)) -> Arc<Self> {
        let received = Arc::new(Self::default());
        let (own, socket) = (Arc::clone(&received), socket.try_clone().expect("a descriptor can be had"));
        thread::spawn(move || {
            read(&own, Patient { received: &own, socket });
            own.change(|state| state.has_ended = true);
        });
        received
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State<N>> {
        self.state.lock().expect("nobody panics here")
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State<N>)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Stops reading, or reads on.
    pub(super) fn stop(&self, is_stopped: bool) {
        self.change(|state| state.is_stopped = is_stopped);
    }

    /// Waits until this is so, or long enough.
    pub(super) fn wait_for(
        &self,
        patience: Duration,
        what: impl Fn(&State<N>) -> bool,
    ) -> MutexGuard<'_, State<N>> {
        let waited = self.changed.wait_timeout_while(self.state(), patience, |state| !what(state));
        waited.expect("nobody panics here").0
    }
}

impl<N> Deref for State<N> {
    type Target = N;

    fn deref(&self) -> &N {
        &self.notes
    }
}

impl<N> DerefMut for State<N> {
    fn deref_mut(&mut self) -> &mut N {
        &mut self.notes
    }
}

/// The socket, read only while nobody has said to stop.
pub(super) struct Patient<'a, N> {
    received: &'a Received<N>,
    socket: TcpStream,
}

impl<N: Default + Send + 'static> Read for Patient<'_, N> {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        let Received { changed, .. } = self.received;
        let stopped = changed.wait_while(self.received.state(), |state| state.is_stopped);
        drop(stopped.expect("nobody panics here"));
        self.socket.read(space)
    }
}
