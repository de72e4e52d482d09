//! The progress of opening a connection, for the calls that wait for it and for their timings.
//!
//! Each connection is opened by a task of its own, which notes here what it enters and leaves; nothing of
//! this has to be handed through the code that opens connections.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Opened, Phase};
use tokio::{task_local, time::Instant};

task_local! {
    /// The progress of the task that opens a connection.
    static OF_TASK: Progress;
}

/// The step that it has come to.
#[derive(Clone)]
pub(crate) struct Progress {
    state: Arc<Mutex<State>>,
}

struct State {
    phase: Phase,
    opened: Opened,
}

impl Progress {
    /// Creates the progress of an opening that begins now.
    pub(crate) fn begin() -> Self {
        let state = State { phase: Phase::Connect, opened: Opened::begun_at(Instant::now()) };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the step that is under way.
    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// Returns the times of the steps.
    pub(crate) fn opened(&self) -> Opened {
        self.lock().opened
    }

    /// Does this work, whose phases are noted here.
    pub(crate) async fn of<T>(&self, work: impl Future<Output = T>) -> T {
        OF_TASK.scope(self.clone(), work).await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does the work of this phase of the opening that the current task is about, if it is about one.
pub(crate) async fn note<T, E>(phase: Phase, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let before = OF_TASK.try_with(|progress| std::mem::replace(&mut progress.lock().phase, phase));
    let outcome = work.await;
    // After a failure the phase stays, so that the error and those who wait name the step that failed.
    if let (Ok(before), Ok(_)) = (before, &outcome) {
        OF_TASK.with(|progress| progress.lock().leave(phase, before));
    }
    outcome
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
        let progress = Progress::begin();
        let work = async {
            note(Phase::Connect, async {
                note(Phase::Resolve, async {
                    assert_eq!(progress.phase(), Phase::Resolve);
                    sleep(Duration::from_secs(1)).await;
                    Ok::<(), ()>(())
                })
                .await?;
                assert_eq!(progress.phase(), Phase::Connect);
                sleep(Duration::from_secs(2)).await;
                Ok::<(), ()>(())
            })
            .await?;
            note(Phase::Handshake, async { Err::<(), ()>(()) }).await
        };
        assert_eq!(progress.of(work).await, Err(()));
        let opened = progress.opened();
        let seconds = |at: Option<Instant>| at.map(|at| (at - opened.began).as_secs());
        assert_eq!(progress.phase(), Phase::Handshake, "it failed there");
        assert_eq!(
            [opened.resolved, opened.connected, opened.secured].map(seconds),
            [Some(1), Some(3), None]
        );
    }

    #[tokio::test]
    async fn nobody_minds_where_no_connection_is_opened() {
        assert_eq!(note(Phase::Resolve, async { Ok::<u8, ()>(7) }).await, Ok(7));
    }
}
