//! The signals that servers take: which of them stop one, and which have it open its files again.
//!
//! Rule: from the moment on at which [`StopSignals`] are made no signal of these ends the program by itself:
//! neither the rotation of logs of a server that has none, nor an upgrade that it does not know.

#[cfg(unix)]
mod platform {
    use std::io::{self, IsTerminal as _};

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// The signals that ask a server to stop.
    pub(crate) struct StopSignals {
        interrupted: Signal,
        terminated: Signal,
        hung_up: Signal,
        /// The server was started at a terminal: a hang-up says that it is gone.
        is_at_terminal: bool,
    }

    impl StopSignals {
        /// Takes these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            // They would end the program; their receivers need not stay.
            drop([signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?]);
            Ok(Self {
                interrupted: signal(SignalKind::interrupt())?,
                terminated: signal(SignalKind::terminate())?,
                hung_up: signal(SignalKind::hangup())?,
                is_at_terminal: io::stdin().is_terminal(),
            })
        }

        /// Waits for a signal that asks to stop: SIGINT, SIGTERM, and SIGHUP of a server at a terminal.
        pub(crate) async fn next(&mut self) {
            tokio::select! {
                _ = self.interrupted.recv() => {}
                _ = self.terminated.recv() => {}
                // A service without a terminal gets SIGHUP to open its logs again, not to stop.
                _ = self.hung_up.recv(), if self.is_at_terminal => {}
            }
        }

        /// Waits for a signal that asks for an end at once: a terminal that goes away may send several
        /// hang-ups.
        pub(crate) async fn next_urgent(&mut self) {
            tokio::select! {
                _ = self.interrupted.recv() => {}
                _ = self.terminated.recv() => {}
            }
        }
    }

    /// The signals that ask to open logs and to read users again: SIGHUP for most programs, SIGUSR1 for
    /// nginx.
    pub(crate) struct ReopenSignals([Signal; 2]);

    impl ReopenSignals {
        /// Takes these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self([signal(SignalKind::hangup())?, signal(SignalKind::user_defined1())?]))
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) {
            let [hang_up, user] = &mut self.0;
            tokio::select! {
                _ = hang_up.recv() => {}
                _ = user.recv() => {}
            }
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::io;

    /// The signals that ask a server to stop.
    pub(crate) struct StopSignals(tokio::signal::windows::CtrlC);

    impl StopSignals {
        /// Takes these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            tokio::signal::windows::ctrl_c().map(Self)
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) {
            self.0.recv().await;
        }

        /// Waits for a signal that asks for an end at once.
        pub(crate) async fn next_urgent(&mut self) {
            self.next().await;
        }
    }

    /// The stand-in for systems without such signals.
    pub(crate) struct ReopenSignals;

    impl ReopenSignals {
        /// Takes these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits without end.
        pub(crate) async fn next(&mut self) {
            std::future::pending().await
        }
    }
}

pub(crate) use platform::{ReopenSignals, StopSignals};
