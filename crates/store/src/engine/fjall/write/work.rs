//! The two kinds of writes: of an object, and of a setting.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::fjall::Slice;

use super::slot::{Failure, Loaded, Stored, Work};
use crate::engine::fjall::keys;
use crate::engine::fjall::tables::{Table, Tables};
use crate::engine::marks::Marks;
use crate::engine::{Decide, EngineError, Verdict, Written};
use crate::model::bytes::{Bytes, put_counted};
use crate::model::{Damaged, Record};

/// The byte with which the keys of settings begin.
const SETTING: u8 = 1;

/// The bytes from which on a record is decided by a helper. A smaller one costs less than a millisecond.
const LARGE_BYTES: usize = 256 * 1024;

/// A write of an object.
pub(in crate::engine::fjall) struct ObjectWrite<D> {
    /// The name of the object, in one piece.
    name: Vec<u8>,
    decide: D,
    /// The stored record, and then the one that replaces it.
    record: Option<Slice>,
    /// The decision that a helper made.
    apart: Option<Decision>,
}

/// A decision with the records before and after it.
struct Decision {
    verdict: Verdict,
    before: Option<Slice>,
    after: Option<Slice>,
}

impl<D: Decide> ObjectWrite<D> {
    pub(in crate::engine::fjall) const fn new(name: Vec<u8>, decide: D) -> Self {
        Self { name, decide, record: None, apart: None }
    }

    fn decision(
        &mut self,
        before: Option<Slice>,
        marks: &Marks,
        out: &mut Vec<u8>,
    ) -> Result<Decision, Failure> {
        let record = before.as_deref().map(Record::read).transpose().map_err(EngineError::from)?;
        let mark = marks.next();
        out.clear();
        let decided = catch_unwind(AssertUnwindSafe(|| self.decide.decide(record, mark, out)));
        let verdict = decided.map_err(Failure::Panicked)?;
        // Large values are not held twice.
        self.decide.release();
        let after = (verdict == Verdict::Write).then(|| Slice::from(&out[..]));
        Ok(Decision { verdict, before, after })
    }
}

impl<D: Decide> Work for ObjectWrite<D> {
    type Done = Written<D, Slice>;

    fn key(&self) -> Option<&[u8]> {
        Some(&self.name)
    }

    fn load(&mut self, stored: &Stored<'_>) -> Result<Loaded, Failure> {
        let mut memory = Vec::new();
        let key = keys::fold(&self.name, &mut memory);
        let record = stored.changes.value(stored.tables, Table::Objects, key)?;
        let is_large = record.as_ref().is_some_and(|record| record.len() >= LARGE_BYTES);
        // One that waits for its turn does not hold what it will read again.
        self.record = record.filter(|_| !is_large);
        Ok(Loaded { is_large, is_in_batch: is_large && stored.changes.holds(Table::Objects, key) })
    }

    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure> {
        let decision = match self.apart.take() {
            Some(decision) => decision,
            None => {
                let before = self.record.take();
                self.decision(before, stored.marks, stored.out)?
            }
        };
        let Decision { verdict, before, after } = decision;
        self.record = match verdict {
            Verdict::Keep => before,
            Verdict::Write if !stored.has_room(before.as_deref(), after.as_deref()) => {
                return Err(EngineError::NoRoom.into());
            }
            Verdict::Remove | Verdict::Write => stored.changes.replace(&self.name, before, after)?,
        };
        Ok(())
    }

    fn decide_apart(&mut self, tables: &Tables, marks: &Marks) -> Result<(), Failure> {
        let mut memory = Vec::new();
        let before = tables.value(Table::Objects, keys::fold(&self.name, &mut memory))?;
        self.apart = Some(self.decision(before, marks, &mut Vec::new())?);
        Ok(())
    }

    fn bytes_decided(&self) -> usize {
        self.apart.as_ref().and_then(|decision| decision.after.as_ref()).map_or(0, |after| after.len())
    }

    fn done(self) -> Written<D, Slice> {
        Written { decide: self.decide, record: self.record }
    }
}

/// A write of a setting.
pub(in crate::engine::fjall) struct SettingWrite {
    key: Vec<u8>,
    row: Option<Vec<u8>>,
}

impl SettingWrite {
    pub(in crate::engine::fjall) fn new(name: &[u8], value: Option<&[u8]>) -> Self {
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

/// Reads the setting in a row; `None` for another row.
pub(in crate::engine::fjall) fn read_setting(key: &[u8], row: &[u8]) -> Option<Result<Setting, EngineError>> {
    if key.first() != Some(&SETTING) {
        return None;
    }
    let mut bytes = Bytes::new(row);
    let name = bytes.counted().ok_or(EngineError::from(Damaged));
    Some(name.map(|name| (name.to_vec(), bytes.rest().to_vec())))
}
