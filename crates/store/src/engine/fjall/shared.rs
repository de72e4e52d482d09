//! The state that the callers of an engine share with the thread that writes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::event::{FjallEvent, Tell};
use super::faults::Faults;
use super::open::folder::Folder;
use super::open::options::FjallOptions;
use super::open::tail::CutTail;
use super::space::free::Space;
use super::space::removed::Removed;
use super::tables::Tables;
use super::write::queue::Queue;
use crate::engine::EngineError;

/// The longest time for which a read waits for tables that are opened anew, which takes a tenth of a second
/// on a disk that takes writes again. On one that does not, clients hear sooner that they may try again.
const WAIT_MAX: Duration = Duration::from_secs(5);

pub(super) struct Shared {
    /// The tables, but for the moment in which they are opened anew. They are closed before the folder is.
    pub(super) tables: ArcSwapOption<Tables>,
    /// Wakes reads once the tables are open again.
    opened: Notify,
    pub(super) queue: Queue,
    pub(super) options: FjallOptions,
    pub(super) faults: Faults,
    pub(super) removed: Removed,
    pub(super) space: Space,
    cut: Mutex<Vec<CutTail>>,
    pub(super) folder: Folder,
}

impl Shared {
    pub(super) fn new(
        folder: Folder,
        options: FjallOptions,
        space: Space,
        tables: Tables,
        cut: Vec<CutTail>,
    ) -> Self {
        Self {
            tables: ArcSwapOption::from_pointee(tables),
            opened: Notify::new(),
            queue: Queue::new(&options),
            options,
            faults: Faults::default(),
            removed: Removed::default(),
            space,
            cut: Mutex::new(cut),
            folder,
        }
    }

    /// Returns the tables, if they are open.
    pub(super) fn tables(&self) -> Option<Arc<Tables>> {
        self.tables.load_full()
    }

    /// Returns the tables for a read, which waits while they are opened anew.
    ///
    /// # Errors
    /// [`EngineError::TimedOut`] after the deadline, [`EngineError::Reopening`] after five seconds.
    pub(super) async fn tables_to_read(&self, deadline: Instant) -> Result<Arc<Tables>, EngineError> {
        match self.tables() {
            Some(tables) => Ok(tables),
            None => self.wait_for_tables(deadline).await,
        }
    }

    async fn wait_for_tables(&self, deadline: Instant) -> Result<Arc<Tables>, EngineError> {
        let until = deadline.min(Instant::now() + WAIT_MAX);
        let opened = async {
            loop {
                // Made before the look, so that no opening is missed between them.
                let opened = self.opened.notified();
                match self.tables() {
                    Some(tables) => return tables,
                    None => opened.await,
                }
            }
        };
        timeout_at(until, opened).await.map_err(|_| match until < deadline {
            true => EngineError::Reopening,
            false => EngineError::TimedOut,
        })
    }

    /// Puts tables that were opened anew in place, for the reads that wait and all that come.
    pub(super) fn put_tables(&self, tables: Tables) {
        self.tables.store(Some(Arc::new(tables)));
        self.opened.notify_waiters();
    }

    /// Hands an event to the operator's function.
    pub(super) fn tell(&self, event: &FjallEvent) {
        Tell(self.options.on_event).tell(event);
    }

    /// Returns the ends of journals that were cut off.
    pub(super) fn cut(&self) -> Vec<CutTail> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn add_cut(&self, cut: Vec<CutTail>) {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).extend(cut);
    }
}
