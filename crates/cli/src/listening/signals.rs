//! The signals of servers: those that stop one, and those that make one reopen its files.
//!
//! Rule: from the moment on at which [`StopSignals`] are made no signal of these ends the program by itself:
//! neither the rotation of logs of a server that has none, nor an upgrade that it does not know.

#[cfg(unix)]
mod platform {
    use std::io::{self, IsTerminal as _};

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// The signals that stop a server.
    pub(crate) struct StopSignals {
        interrupted: Signal,
        terminated: Signal,
        hung_up: Signal,
        /// The server was started on a terminal: a hang-up means that the terminal is gone.
        is_at_terminal: bool,
    }

    impl StopSignals {
        /// Receives these signals from now on.
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

        /// Waits for a signal to stop: SIGINT, SIGTERM, and SIGHUP of a server at a terminal.
        pub(crate) async fn next(&mut self) {
            tokio::select! {
                _ = self.interrupted.recv() => {}
                _ = self.terminated.recv() => {}
                // A service without a terminal gets SIGHUP to open its logs again, not to stop.
                _ = self.hung_up.recv(), if self.is_at_terminal => {}
            }
        }

        /// Waits for a signal to end at once: a closing terminal may send several hang-ups.
        pub(crate) async fn next_urgent(&mut self) {
            tokio::select! {
                _ = self.interrupted.recv() => {}
                _ = self.terminated.recv() => {}
            }
        }
    }

    /// The signals to reopen logs and to read users again: SIGHUP for most programs, SIGUSR1 for nginx.
    pub(crate) struct ReopenSignals([Signal; 2]);

    impl ReopenSignals {
        /// Receives these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self([signal(SignalKind::hangup())?, signal(SignalKind::user_defined1())?]))
        }

        /// Waits for the next signal.
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

    /// The signals that stop a server.
    pub(crate) struct StopSignals(tokio::signal::windows::CtrlC);

    impl StopSignals {
        /// Receives these signals from now on.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            tokio::signal::windows::ctrl_c().map(Self)
        }

        /// Waits for the next signal.
        pub(crate) async fn next(&mut self) {
            self.0.recv().await;
        }

        /// Waits for a signal to end at once.
        pub(crate) async fn next_urgent(&mut self) {
            self.next().await;
        }
    }

    /// The stand-in for systems without such signals.
    pub(crate) struct ReopenSignals;

    impl ReopenSignals {
        /// Receives these signals from now on.
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
