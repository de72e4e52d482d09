//! The table of a connection's slots, with their wakers.
//!
//! Rule 1: a table has no slots, no task and no memory until a request comes near: until the connection's
//! task runs.
//! Rule 2: a table without requests may be left to the shelf of a thread, where the next connection of the
//! same server finds it with its wakers, and with the boxes of handlers in it.

use std::{
    mem,
    ops::{Index, IndexMut},
    sync::{Arc, Mutex, PoisonError},
    task::Waker,
    time::Duration,
};

use alula_net::StreamName;

use super::waking::{Group, SlotWaker, Task};
use crate::{
    answer::late::LateAnswer,
    connection::{
        slow_turns::SlowTurns,
        work::{Running, Shelves},
    },
    observe::{failure::RequestFacts, observing::RequestSpan},
};

/// The slots of one group, whose readiness fits a word.
const GROUP: usize = 64;

/// The spare tables of a shelf: the connections that may handle requests at once.
const KEPT_MAX: usize = 64;

/// The most slots of a table that is kept.
const KEPT_SLOTS_MAX: usize = 32;

/// The most bytes of boxes in a table that is kept; more are freed first.
const KEPT_WORKS_BYTES_MAX: usize = 32 * 1024;

pub(super) struct Slot {
    /// The box of its handler's future, reused by the next request.
    pub(super) work: Option<Running>,
    /// True if there is a future in the box.
    pub(super) runs: bool,
    /// The answer of a handler that ended with an error, until the peer has taken it.
    pub(super) late: Option<LateAnswer>,
    pub(super) stream: Option<StreamName>,
    next_free: Option<usize>,
    pub(super) waker: Waker,
    pub(super) span: RequestSpan,
    /// The facts of the request, if a hook will see them.
    pub(super) facts: Option<Box<RequestFacts>>,
    /// The time at which the request began, since the connection was opened.
    pub(super) began: Duration,
    /// The number of its route.
    pub(super) entry: u32,
}

/// The size of the slots: their number, and the bytes of their futures.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Measure {
    pub(super) slots: usize,
    pub(super) works: usize,
}

/// Slots, and the task that they wake.
#[derive(Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    /// The last freed slot; each free slot names the one that was freed before it.
    free: Option<usize>,
    /// The number of slots that are in use.
    used: usize,
    /// The groups after the first.
    groups: Vec<Arc<Group>>,
    /// The task to wake; `None` before the first run.
    task: Option<Arc<Task>>,
    /// The bytes of the largest future so far, and the number of slots with a box.
    work_bytes: usize,
    boxes: usize,
}

/// The spare tables of a server's connections, and the counts of their slow turns.
pub(crate) struct Tables {
    shelves: Shelves<Shelf>,
    pub(super) slow_turns: SlowTurns,
}

/// A shelf, aligned so that no two share a line of the cache.
#[repr(align(128))]
#[derive(Default)]
struct Shelf(Mutex<Vec<Table>>);

impl Tables {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { shelves: Shelves::new(|_, _| Shelf::default()), slow_turns: SlowTurns::default() })
    }

    /// Takes a table from this thread's shelf, or makes an empty one.
    fn take(&self) -> Table {
        self.shelves.own().0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn keep(&self, table: Table) {
        let mut kept = self.shelves.own().0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(table);
        }
    }
}

/// Runs of the connection's task.
impl Table {
    /// Begins a run of handlers: until [`Self::end_run`], wakes set bits and do not wake the task. A table
    /// without memory gets some first.
    #[inline]
    pub(super) fn begin_run(&mut self, tables: &Tables, waker: &Waker) {
        match &self.task {
            Some(task) => task.begin_run(waker),
            None => self.begin_first_run(tables, waker),
        }
    }

    #[cold]
    fn begin_first_run(&mut self, tables: &Tables, waker: &Waker) {
        *self = tables.take();
        self.task.get_or_insert_default().begin_run(waker);
    }

    /// Ends a run of handlers. Returns false if a slot was woken meanwhile and has to run again.
    pub(super) fn end_run(&self) -> bool {
        let Some(task) = &self.task else { return true };
        task.end_run();
        task.first.is_quiet() && self.groups.iter().all(|group| group.is_quiet())
    }

    /// Takes the bits of the woken slots of a group.
    #[inline]
    pub(super) fn take_ready(&self, group: usize) -> u64 {
        match group.checked_sub(1) {
            None => self.task.as_ref().map_or(0, |task| task.first.take_ready()),
            Some(at) => self.groups[at].take_ready(),
        }
    }

    /// Returns the number of groups, including the first.
    pub(super) fn groups(&self) -> usize {
        1 + self.groups.len()
    }
}

/// Slots.
impl Table {
    /// Takes a slot for this stream, and returns its index.
    pub(super) fn take(&mut self, stream: StreamName) -> usize {
        let index = self.free.unwrap_or_else(|| self.add());
        let slot = &mut self.slots[index];
        slot.stream = Some(stream);
        self.free = slot.next_free.take();
        self.used += 1;
        index
    }

    /// Frees a slot.
    pub(super) fn free(&mut self, index: usize) {
        self.slots[index].next_free = self.free.replace(index);
        self.used -= 1;
    }

    fn add(&mut self) -> usize {
        let index = self.slots.len();
        if index > 0 && index.is_multiple_of(GROUP) {
            self.groups.push(Arc::default());
        }
        if index == 0 {
            // A connection that asks once at a time needs one.
            self.slots = Vec::with_capacity(1);
        }
        let waker = self.waker(index);
        self.slots.push(Slot {
            work: None,
            runs: false,
            late: None,
            stream: None,
            next_free: None,
            waker,
            span: RequestSpan::none(),
            facts: None,
            began: Duration::ZERO,
            entry: 0,
        });
        index
    }

    /// Creates the waker of a slot.
    fn waker(&mut self, index: usize) -> Waker {
        let task = self.task.get_or_insert_default().clone();
        if index == 0 {
            return Waker::from(task);
        }
        let group = (index / GROUP).checked_sub(1).map(|at| self.groups[at].clone());
        Waker::from(Arc::new(SlotWaker { task, group, bit: 1 << (index % GROUP) }))
    }

    pub(super) fn is_unused(&self) -> bool {
        self.used == 0
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns a slot, if it exists.
    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// Drops the slots. Nothing runs in any of them.
    pub(super) fn clear(&mut self) {
        if let Some(task) = &self.task {
            task.first.take_ready();
        }
        *self = Self { task: self.task.take(), work_bytes: self.work_bytes, ..Self::default() };
    }
}

/// Memory.
impl Table {
    /// Returns the size of the slots and of their futures.
    #[inline]
    pub(super) const fn measure(&self) -> Measure {
        Measure { slots: self.slots.len(), works: self.boxes * self.work_bytes }
    }

    /// Records that a slot has got a box.
    pub(super) fn note_box(&mut self, bytes: usize) {
        self.boxes += 1;
        self.work_bytes = self.work_bytes.max(bytes);
    }

    /// Records that a box has left.
    pub(super) fn note_box_gone(&mut self) {
        self.boxes -= 1;
    }

    /// Gives the table to this thread, unless a request is in progress.
    pub(super) fn leave(&mut self, tables: &Tables) {
        if self.used > 0 {
            return;
        }
        let mut table = mem::take(self);
        let Some(task) = &table.task else { return };
        task.leave();
        if table.slots.len() <= KEPT_SLOTS_MAX {
            table.free_large_boxes();
            tables.keep(table);
        }
    }

    fn free_large_boxes(&mut self) {
        if self.measure().works > KEPT_WORKS_BYTES_MAX {
            self.slots.iter_mut().for_each(|slot| slot.work = None);
            (self.boxes, self.work_bytes) = (0, 0);
        }
    }

    /// Returns the bytes of a slot beside its box.
    pub(super) const fn slot_bytes() -> usize {
        size_of::<Slot>() + size_of::<SlotWaker>()
    }
}

impl Index<usize> for Table {
    type Output = Slot;

    #[inline]
    fn index(&self, index: usize) -> &Slot {
        &self.slots[index]
    }
}

impl IndexMut<usize> for Table {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Slot {
        &mut self.slots[index]
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn take(table: &mut Table) -> usize {
        let index = table.free.unwrap_or_else(|| table.add());
        table.free = table.slots[index].next_free.take();
        table.used += 1;
        index
    }

    /// Returns a table with so many slots, all free, whose task has this waker.
    fn table(tables: &Tables, slots: usize, waker: &Waker) -> Table {
        let mut table = Table::default();
        table.begin_run(tables, waker);
        let taken: Vec<_> = (0..slots).map(|_| take(&mut table)).collect();
        taken.into_iter().for_each(|index| table.free(index));
        table
    }

    #[test]
    fn a_table_is_left_and_wakes_the_task_of_the_next_connection() {
        let (tables, first, second) = (Tables::new(), Arc::<Count>::default(), Arc::<Count>::default());
        let mut left = table(&tables, 3, &first.clone().into());
        let stale = left.slots[2].waker.clone();
        stale.wake_by_ref();
        left.leave(&tables);
        stale.wake_by_ref();
        assert_eq!((left.len(), left.end_run(), first.0.load(Ordering::SeqCst)), (0, true, 0));
        let mut next = Table::default();
        next.begin_run(&tables, &second.clone().into());
        assert_eq!((next.len(), next.is_unused()), (3, true));
        assert_eq!(next.take_ready(0), 0b100, "its slot is polled without need, and once");
        assert!(next.end_run());
        next.slots[1].waker.wake_by_ref();
        assert_eq!((next.take_ready(0), second.0.load(Ordering::SeqCst)), (0b10, 1));
        assert_eq!(Arc::strong_count(&first), 1, "its waker is gone");
    }

    #[test]
    fn a_table_that_is_in_use_or_has_many_slots_is_not_left() {
        let tables = Tables::new();
        let mut used = table(&tables, 1, Waker::noop());
        take(&mut used);
        used.leave(&tables);
        assert_eq!((used.len(), tables.take().len()), (1, 0));
        let mut many = table(&tables, KEPT_SLOTS_MAX + 1, Waker::noop());
        many.leave(&tables);
        assert_eq!((many.len(), tables.take().len()), (0, 0));
    }

    #[test]
    fn a_shelf_keeps_few_tables() {
        let tables = Tables::new();
        let all: Vec<_> = (0..2 * KEPT_MAX).map(|_| table(&tables, 1, Waker::noop())).collect();
        all.into_iter().for_each(|mut table| table.leave(&tables));
        assert_eq!(std::iter::from_fn(|| Some(tables.take().len()).filter(|len| *len > 0)).count(), KEPT_MAX);
    }
}
