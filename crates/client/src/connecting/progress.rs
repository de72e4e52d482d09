//! The progress of opening a connection, for the calls that wait for it and for their timings.
//!
//! Each connection is opened by a task of its own, which notes here what it enters and leaves, and tells the
//! observer of the call that it is opened for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Opened, Phase};
use tokio::time::Instant;

use crate::observe::{event::ExchangeEvent, observer::Watcher};

/// The step that it has come to.
#[derive(Clone)]
pub(crate) struct Progress {
    state: Arc<Mutex<State>>,
    watcher: Option<Watcher>,
}

struct State {
    phase: Phase,
    opened: Opened,
}

impl Progress {
    /// Creates the progress of an opening that begins now, for the call of this observer.
    pub(crate) fn begin(watcher: Option<Watcher>) -> Self {
        let state = State { phase: Phase::Connect, opened: Opened::begun_at(Instant::now()) };
        Self { state: Arc::new(Mutex::new(state)), watcher }
    }

    /// Returns the step that is under way.
    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// Returns the times of the steps.
    pub(crate) fn opened(&self) -> Opened {
        self.lock().opened
    }

    /// Does the work of this phase.
    pub(super) async fn during<T, E>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let before = std::mem::replace(&mut self.lock().phase, phase);
        let outcome = work.await;
        // After a failure the phase stays, so that the error and those who wait name the step that failed.
        if outcome.is_ok() {
            self.lock().leave(phase, before);
        }
        outcome
    }

    /// Tells the observer of a step.
    pub(super) fn tell(&self, event: &ExchangeEvent<'_>) {
        if let Some(watcher) = &self.watcher {
            watcher.event(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A phase has ended well, within the one before.
    fn leave(&mut self, phase: Phase, before: Phase) {
        let now = Some(Instant::now());
        match phase {
            Phase::Resolve => self.opened.resolved = now,
            Phase::Connect | Phase::Proxy => self.opened.connected = now,
            Phase::Handshake => self.opened.secured = now,
            _ => {}
        }
        self.phase = before;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn phases_are_noted_as_they_come_and_go() {
        let progress = Progress::begin(None);
        let work = async {
            let dial = async {
                let look_up = async {
                    assert_eq!(progress.phase(), Phase::Resolve);
                    sleep(Duration::from_secs(1)).await;
                    Ok::<(), ()>(())
                };
                progress.during(Phase::Resolve, look_up).await?;
                assert_eq!(progress.phase(), Phase::Connect);
                sleep(Duration::from_secs(2)).await;
                Ok::<(), ()>(())
            };
            progress.during(Phase::Connect, dial).await?;
            progress.during(Phase::Handshake, async { Err::<(), ()>(()) }).await
        };
        assert_eq!(work.await, Err(()));
        let opened = progress.opened();
        let seconds = |at: Option<Instant>| at.map(|at| (at - opened.began).as_secs());
        assert_eq!(progress.phase(), Phase::Handshake, "it failed there");
        assert_eq!(
            [opened.resolved, opened.connected, opened.secured].map(seconds),
            [Some(1), Some(3), None]
        );
    }
}
