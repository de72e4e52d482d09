//! The state that the callers of an engine share with the thread that writes.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;

use super::errors::{Cause, unreadable};
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

pub(super) struct Shared {
    /// The tables, but for the moment in which they are opened anew. They are closed before the folder is.
    pub(super) tables: ArcSwapOption<Tables>,
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
    pub(super) fn tables(&self) -> Result<Arc<Tables>, EngineError> {
        self.tables.load_full().ok_or_else(|| unreadable(Cause::Closed))
    }

    /// Says an event to whoever hears of them.
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
