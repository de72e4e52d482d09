//! The two kinds of writes: of an object, and of a setting.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::fjall::Slice;

use super::keys;
use super::slot::{Failure, Stored, Work};
use super::tables::Table;
use crate::engine::{Decide, EngineError, Verdict, Written};
use crate::model::octets::{Octets, put_counted};
use crate::model::{Damaged, Record};

/// The octet with which the keys of settings begin.
const SETTING: u8 = 1;

/// A write of an object.
pub(super) struct ObjectWrite<D> {
    /// The name of the object, in one piece.
    pub(super) name: Vec<u8>,
    pub(super) decide: D,
    pub(super) record: Option<Slice>,
}

impl<D: Decide> Work for ObjectWrite<D> {
    type Done = Written<D, Slice>;

    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure> {
        let mut memory = Vec::new();
        let key = keys::fold(&self.name, &mut memory);
        let record = stored.changes.value(stored.tables, Table::Objects, key)?;
        let before = record.as_deref().map(Record::read).transpose().map_err(EngineError::from)?;
        let (mark, out) = (stored.marks.next(), &mut *stored.out);
        out.clear();
        let decided = catch_unwind(AssertUnwindSafe(|| self.decide.decide(before, mark, out)));
        let verdict = decided.map_err(Failure::Panicked)?;
        self.decide.release();
        self.record = match verdict {
            Verdict::Keep => record,
            Verdict::Remove => stored.changes.replace(&self.name, record, None)?,
            Verdict::Write => {
                if !stored.has_room(record.as_ref().map_or(0, |before| before.len())) {
                    return Err(EngineError::NoRoom.into());
                }
                stored.changes.replace(&self.name, record, Some(&*stored.out))?
            }
        };
        Ok(())
    }

    fn done(self) -> Written<D, Slice> {
        Written { decide: self.decide, record: self.record }
    }
}

/// A write of a setting.
pub(super) struct SettingWrite {
    key: Vec<u8>,
    row: Option<Vec<u8>>,
}

impl SettingWrite {
    pub(super) fn new(name: &[u8], value: Option<&[u8]>) -> Self {
        let row = value.map(|value| {
            let mut row = Vec::new();
            put_counted(name, &mut row);
            row.extend_from_slice(value);
            row
        });
        let whole = [&[SETTING], name].concat();
        let mut memory = Vec::new();
        Self { key: keys::fold(&whole, &mut memory).to_vec(), row }
    }
}

impl Work for SettingWrite {
    type Done = ();

    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure> {
        stored.changes.put(Table::Settings, &self.key, self.row.as_deref().map(Slice::from));
        Ok(())
    }

    fn done(self) {}
}

/// The name and the value of a setting.
type Setting = (Vec<u8>, Vec<u8>);

/// The setting in a row; `None` for another row.
pub(super) fn read_setting(key: &[u8], row: &[u8]) -> Option<Result<Setting, EngineError>> {
    if key.first() != Some(&SETTING) {
        return None;
    }
    let mut octets = Octets::new(row);
    let name = octets.counted().ok_or(EngineError::from(Damaged));
    Some(name.map(|name| (name.to_vec(), octets.rest().to_vec())))
}
