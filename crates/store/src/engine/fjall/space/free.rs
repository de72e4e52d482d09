//! The room on the disk: whether writes that grow are taken.
//!
//! A write stands in a journal first and in a file of a table later, and a compaction needs room for
//! a copy of the rows that it writes anew. Writes that grow are therefore refused while the disk has no room
//! for what is in memory, for the largest compaction and for a floor beside these. Writes that do not grow go
//! on at the cost of the half of the floor, and deletes at that of all. When half of it is used, the
//! [reserve](super::reserve) is given up. It is made again once there is room for all of it, and writes that
//! grow are taken after that.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::disk::{self, Disk};
use super::reserve::Reserve;
use crate::engine::fjall::event::{FjallEvent, Tell};

const MIB: u64 = 1024 * 1024;

/// The bounds of the floor, a part of the disk.
const FLOOR_PART: u64 = 64;
const FLOOR_MIN: u64 = 4 * MIB;
const FLOOR_MAX: u64 = 256 * MIB;

/// The bytes after which the free space is read again at the latest, since other programs write to the disk
/// as well. It bounds no record: one that is longer is held against the whole room.
const ROOM_MAX: u64 = 64 * MIB;

/// The copies of a row on the disk until its journal goes: that in the journal, and that in a file.
const COPIES: u64 = 2;

/// The free bytes that were found, for both kinds of writes.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// The bytes for writes that grow.
    room: u64,
    /// The bytes for other writes.
    spare: u64,
}

/// The room for a folder.
pub(in crate::engine::fjall) struct Space {
    folder: PathBuf,
    /// The bytes that writes may take before the free space is read again.
    room: AtomicU64,
    /// The bytes that writes which do not grow may take before the free space is read again.
    spare: AtomicU64,
    is_full: AtomicBool,
    /// True once the free space was read with the tables open. Nobody knows before whether it was full.
    is_known: AtomicBool,
    /// The bytes that a compaction needs at most.
    compaction: AtomicU64,
    state: Mutex<State>,
    tell: Tell,
    #[cfg(test)]
    planted: Mutex<Option<Disk>>,
}

struct State {
    floor: u64,
    /// The reserve; `None` if none is asked for, or none can be made.
    reserve: Option<Reserve>,
    /// True if the operator was told that the disk is full, and not yet that it has room again.
    is_told: bool,
}

impl Space {
    /// Opens the room for a folder, with its reserve if it is to have one and there is room for it. Gives one
    /// that is there up if the disk is full, so that the folder can be opened.
    pub(in crate::engine::fjall) fn open(folder: &Path, has_reserve: bool, tell: Tell) -> Self {
        let disk = Disk::of(folder);
        let floor = disk.map_or(0, |disk| (disk.total / FLOOR_PART).clamp(FLOOR_MIN, FLOOR_MAX));
        let reserve = disk.filter(|_| has_reserve).map(|disk| Reserve::find(folder, disk));
        let space = Self {
            folder: folder.to_path_buf(),
            room: AtomicU64::new(0),
            spare: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            compaction: AtomicU64::new(0),
            state: Mutex::new(State { floor, reserve, is_told: false }),
            tell,
            #[cfg(test)]
            planted: Mutex::default(),
        };
        space.mend(0);
        space.look(0);
        space
    }

    /// Returns true if a record of so many bytes, with the others of its batch, may be written; it grows what
    /// is stored, or replaces a longer one and needs room until that one is gone.
    pub(in crate::engine::fjall) fn has(
        &self,
        bytes: u64,
        grows: bool,
        unwritten: impl FnOnce() -> u64,
    ) -> bool {
        let bytes = bytes.saturating_mul(COPIES);
        let room = if grows { &self.room } else { &self.spare };
        // The last look at the disk, which costs a call of the system, has left room enough.
        if room.load(Relaxed) >= bytes {
            return true;
        }
        let found = self.look_at(self.disk(), unwritten());
        bytes <= if grows { found.room } else { found.spare }
    }

    /// Counts what was written.
    pub(in crate::engine::fjall) fn spend(&self, bytes: u64) {
        let bytes = bytes.saturating_mul(COPIES);
        // Only the thread that writes spends.
        for room in [&self.room, &self.spare] {
            room.store(room.load(Relaxed).saturating_sub(bytes), Relaxed);
        }
    }

    /// Returns true while writes that grow are refused.
    pub(in crate::engine::fjall) fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }

    /// Says how many bytes a compaction writes at most.
    pub(in crate::engine::fjall) fn set_compaction(&self, bytes: u64) {
        self.compaction.store(bytes, Relaxed);
    }

    /// Notes that the tables are open.
    pub(in crate::engine::fjall) fn begin(&self) {
        self.is_known.store(true, Relaxed);
    }

    /// Reads the free space again, with so many bytes in memory that are in no file yet.
    pub(in crate::engine::fjall) fn look(&self, unwritten: u64) {
        let _ = self.look_at(self.disk(), unwritten);
    }

    /// Makes the reserve again if there is room for it and for all else.
    pub(in crate::engine::fjall) fn mend(&self, unwritten: u64) {
        let mut state = self.state();
        if let Some(reserve) = &mut state.reserve {
            reserve.look();
        }
        let (needed, floor) = (self.needed(&state, unwritten), state.floor);
        let Some(reserve) = state.reserve.as_mut().filter(|reserve| !reserve.is_held()) else { return };
        let has_room = self
            .disk()
            .is_none_or(|disk| disk.free >= reserve.bytes().saturating_add(needed).saturating_add(floor));
        if has_room && reserve.make(floor).is_err_and(|error| !disk::is_full(&error)) {
            // A file system that gives no blocks away is no disk that is full.
            state.reserve = None;
        }
    }

    /// Gives up the reserve after a write found no room, even if the system says that there is some: quotas
    /// of users and folders are full before the disk is.
    pub(in crate::engine::fjall) fn hear_of_failure(&self, error: &(dyn StdError + 'static)) {
        if disk::has_no_room(error) {
            self.give_up_reserve();
        }
        self.look(0);
    }

    fn give_up_reserve(&self) {
        if let Some(reserve) = &mut self.state().reserve {
            reserve.give_up();
        }
    }

    /// Gives up the reserve if a compaction of so many bytes has no room without it.
    pub(in crate::engine::fjall) fn make_room(&self, bytes: u64) -> bool {
        let has_room = || self.disk().is_none_or(|disk| disk.free >= bytes);
        if has_room() {
            return true;
        }
        if !self.is_full() {
            return false;
        }
        self.give_up_reserve();
        has_room()
    }

    #[cfg(not(test))]
    fn disk(&self) -> Option<Disk> {
        Disk::of(&self.folder)
    }

    #[cfg(test)]
    fn disk(&self) -> Option<Disk> {
        let planted = *self.planted.lock().expect("no panic");
        planted.or_else(|| Disk::of(&self.folder))
    }

    /// Makes the disk look as if so many bytes were free.
    #[cfg(test)]
    pub(in crate::engine::fjall) fn plant(&self, free: Option<u64>) {
        let total = 100 * 1024 * MIB;
        *self.planted.lock().expect("no panic") = free.map(|free| Disk { total, free });
        self.room.store(0, Relaxed);
        self.spare.store(0, Relaxed);
    }

    fn look_at(&self, disk: Option<Disk>, unwritten: u64) -> Found {
        // Where the system tells nothing, writes are taken until one fails.
        let Some(disk) = disk else {
            [&self.room, &self.spare].iter().for_each(|room| room.store(u64::MAX, Relaxed));
            return Found { room: u64::MAX, spare: u64::MAX };
        };
        let mut state = self.state();
        let (was_full, state_is_known) = (self.is_full(), self.is_known.load(Relaxed));
        let needed = self.needed(&state, unwritten);
        let State { floor, reserve, .. } = &mut *state;
        if disk.free < *floor / 2
            && let Some(reserve) = reserve
        {
            reserve.give_up();
        }
        let has_given_up = reserve.as_ref().is_some_and(|reserve| !reserve.is_held());
        // Once it is full some more is needed than before, so that it is not full from moment to moment.
        let more = if was_full || !state_is_known { *floor } else { 0 };
        let is_full = has_given_up || disk.free < needed.saturating_add(more);
        let room = if is_full { 0 } else { disk.free - needed };
        self.room.store(room.min(ROOM_MAX), Relaxed);
        let spare = disk.free.saturating_sub(unwritten).saturating_sub(*floor / 2);
        self.spare.store(spare.min(ROOM_MAX), Relaxed);
        self.is_full.store(is_full, Relaxed);
        if is_full && !std::mem::replace(&mut state.is_told, true) {
            self.tell.tell(&FjallEvent::DiskFull { free: disk.free });
        }
        Found { room, spare }
    }

    /// Tells the operator that the disk has room again, if it was told that it is full. Room that comes and
    /// goes, as journals do, is no news: the upkeep calls this when there has been some for a while.
    pub(in crate::engine::fjall) fn tell_of_room(&self) {
        if !self.is_full() && std::mem::take(&mut self.state().is_told) {
            let free = self.disk().map_or(0, |disk| disk.free);
            self.tell.tell(&FjallEvent::DiskHasRoom { free });
        }
    }

    /// Returns the bytes that are not for writes that grow, without those of the reserve.
    fn needed(&self, state: &State, unwritten: u64) -> u64 {
        let of_reserve = state.reserve.as_ref().map_or(0, Reserve::bytes);
        let compaction = self.compaction.load(Relaxed).saturating_sub(of_reserve);
        state.floor.saturating_add(unwritten).saturating_add(compaction)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1024 * MIB;

    fn space(folder: &tempfile::TempDir) -> Space {
        let space = Space::open(folder.path(), false, Tell::default());
        space.begin();
        space
    }

    fn look(space: &Space, free: u64) -> (bool, bool) {
        let _ = space.look_at(Some(Disk { total: 100 * GIB, free }), 10 * MIB);
        (space.is_full(), space.has(1, true, || unreachable!("there is room")))
    }

    #[test]
    fn what_grows_is_refused_below_a_floor_and_taken_well_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let space = space(&folder);
        let floor = space.state().floor;
        assert_eq!(look(&space, floor + 11 * MIB), (false, true));
        let _ = space.look_at(Some(Disk { total: 100 * GIB, free: floor + 9 * MIB }), 10 * MIB);
        assert!(space.is_full());
        let _ = space.look_at(Some(Disk { total: 100 * GIB, free: floor + 11 * MIB }), 10 * MIB);
        assert!(space.is_full(), "it has hardly more");
        assert_eq!(look(&space, 2 * floor + 11 * MIB), (false, true));
    }

    #[test]
    fn a_long_record_has_all_the_room_that_there_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let space = space(&folder);
        let floor = space.state().floor;
        let unwritten = 10 * MIB;
        for (grows, kept) in [(true, floor + unwritten), (false, floor / 2 + unwritten)] {
            space.plant(Some(kept + 2 * GIB));
            assert!(space.has(GIB, grows, || unwritten), "{grows}");
            assert!(!space.has(GIB + 1, grows, || unwritten), "{grows}");
            assert!(!space.is_full(), "one that is too long says nothing of others");
        }
    }

    /// Returns a space with a reserve on a disk with much room, of which a quota gives this user so much.
    fn with_quota(folder: &tempfile::TempDir, quota: u64) -> Space {
        let space = space(folder);
        space.plant(Some(50 * GIB));
        let disk = Disk { total: 32 * MIB, free: 32 * MIB };
        space.state().reserve = Some(Reserve::find(folder.path(), disk));
        plant_quota(&space, quota);
        space
    }

    fn plant_quota(space: &Space, quota: u64) {
        space.state().reserve.as_mut().expect("a reserve").plant_quota(Some(quota));
    }

    /// Reads the free space as the upkeep does, and returns true if the disk is full.
    fn is_full_after_a_look(space: &Space) -> bool {
        space.mend(0);
        space.look(0);
        space.is_full()
    }

    #[test]
    fn a_quota_that_refuses_the_reserve_does_not_refuse_all_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let space = with_quota(&folder, 5 * MIB);
        assert!(!is_full_after_a_look(&space), "5 MiB are free, and a reserve of 8 MiB was asked for");
    }

    #[test]
    fn a_quota_that_is_full_is_a_full_disk_until_it_has_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let space = with_quota(&folder, 64 * MIB);
        assert!(!is_full_after_a_look(&space));
        plant_quota(&space, 0);
        space.hear_of_failure(&std::io::Error::from(std::io::ErrorKind::QuotaExceeded));
        assert!(space.is_full() && is_full_after_a_look(&space), "the disk has 50 GiB, this user nothing");
        plant_quota(&space, MIB / 4);
        assert!(is_full_after_a_look(&space), "there is hardly more");
        plant_quota(&space, 64 * MIB);
        assert!(!is_full_after_a_look(&space));
    }

    #[test]
    fn a_compaction_keeps_its_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let space = space(&folder);
        let floor = space.state().floor;
        space.set_compaction(GIB);
        let _ = space.look_at(Some(Disk { total: 100 * GIB, free: floor + GIB }), 10 * MIB);
        assert!(space.is_full());
        assert_eq!(look(&space, 2 * floor + GIB + 11 * MIB), (false, true));
    }
}
