//! The plans that an encoder remembers for prepared blocks.
//!
//! A plan says for each part what to write: an index, a literal made before, or a field that is new each
//! time. Indexes of the dynamic table are kept as ids of entries; a plan holds as long as none of them has
//! been evicted. A hole that inserts may evict: then the entries named after it are looked at again. A block
//! that was nothing but indexes is kept as it was written, and is the same as long as the table gets no
//! entry.

use alloc::vec::Vec;

use alula_machine::OutBuf;

use crate::encode::encoder::{Encoder, Written};
use crate::encode::field::{Field, Indexing};
use crate::encode::prepared::PreparedBlock;
use crate::{table::static_table, wire::integer};

/// The plans of one encoder: a few, found by the id of the prepared block.
#[derive(Debug)]
pub(crate) struct Plans {
    plans: Vec<Plan>,
    /// The plan to replace next.
    oldest: usize,
}

/// The most plans: a client rarely uses more prepared requests at one origin.
const COUNT_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct Plan {
    /// The number of the prepared block, never zero.
    id: u64,
    ops: Vec<Op>,
    /// The oldest entry in the plan, or [`NONE`].
    oldest: u64,
    /// The last block, if it was only indexes, and the count of table changes then, or [`NONE`].
    indexes: Vec<u8>,
    indexes_at: u64,
}

const NONE: u64 = u64::MAX;

/// The instruction for a part: a byte to compute, or one of the [`Kind`]s.
///
/// The byte of an entry is the sum of the next id and a number that stays the same; that of a static index is
/// the number alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Op {
    /// A mask of all ones for an entry, else of zeros.
    mask: u32,
    add: u32,
}

/// The kind of a part that is not one byte: the `add` of its [`Op`], above all bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// The literal of the part.
    Literal,
    /// The part as a field that is encoded now.
    Field,
    /// A field that is an entry with an index of more than one byte.
    FarEntry,
    /// A hole: like `Field`, with a given value; parts after it have to be checked again.
    Hole,
}

impl Op {
    const LITERAL: Self = Self::other(Kind::Literal);
    const FIELD: Self = Self::other(Kind::Field);
    const HOLE: Self = Self::other(Kind::Hole);

    /// A byte that is no index of one byte: the block has other parts from here on.
    const OTHER: u32 = 0xff;

    const fn byte(byte: u8) -> Self {
        Self { mask: 0, add: byte as u32 }
    }

    const fn entry(id: u64) -> Self {
        Self { mask: u32::MAX, add: (0x80 + static_table::LAST).wrapping_sub(id as u32) }
    }

    const fn other(kind: Kind) -> Self {
        Self { mask: 0, add: Self::OTHER + kind as u32 }
    }

    #[inline(always)]
    const fn sum(self, next: u32) -> u32 {
        (next & self.mask).wrapping_add(self.add)
    }

    const fn kind(self) -> Kind {
        match self {
            Self::LITERAL => Kind::Literal,
            Self::FIELD => Kind::Field,
            Self::HOLE => Kind::Hole,
            _ => Kind::FarEntry,
        }
    }

    /// Returns the distance of the entry from the next id.
    const fn back(self, next: u32) -> Option<u32> {
        if self.mask == 0 { None } else { Some(self.sum(next).wrapping_sub(0x80 + static_table::LAST)) }
    }
}

impl Encoder {
    /// Appends a prepared block to `out`, with a value for each of its holes.
    ///
    /// The first time the fields are found one by one. Later times that is remembered, as long as no entry
    /// they are has been evicted. Values in holes are taken as they are. Allocates only when a block is new
    /// to this encoder.
    ///
    /// # Panics
    ///
    /// If there are not as many values as holes.
    #[inline(always)]
    pub fn emit(&mut self, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) {
        assert!(holes.len() == prepared.holes(), "a prepared block needs a value for each of its holes");
        self.write_size_updates(out);
        let place = self.plans.place_of(prepared.id());
        match self.plans.indexes(place, self.table.changes()) {
            Some(block) => out.extend_short(block),
            None => self.emit_by_plan(place, prepared, holes, out),
        }
    }

    /// Writes a block that is not only indexes, or whose table has changed since it was kept.
    #[inline(never)]
    fn emit_by_plan(&mut self, place: usize, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) {
        let place = if place < self.plans.plans.len() { place } else { self.plans.make_place() };
        let plan = &mut self.plans.plans[place];
        let holds = plan.oldest >= self.table.oldest_id();
        // Out of the plan while it is walked, as fields are encoded meanwhile.
        let ops = core::mem::take(&mut plan.ops);
        let (mark, written) = (out.end(), if holds { self.walk(&ops, prepared, holes, out) } else { 0 });
        if written < prepared.parts().len() {
            return self.write_and_plan(place, ops, written, prepared, holes, out);
        }
        let plan = &mut self.plans.plans[place];
        plan.ops = ops;
        // No literal takes but one byte.
        if out.end() - mark == written && holes.is_empty() {
            plan.keep(out.since(mark), self.table.changes());
        }
    }

    /// Writes parts by the plan while it holds, and returns their number.
    #[inline]
    fn walk(&mut self, ops: &[Op], prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) -> usize {
        let mut part = 0;
        loop {
            part += self.walk_bytes(&ops[part..], prepared.fixed_len_max(), out);
            let Some(&op) = ops.get(part) else { return part };
            part += 1;
            if !self.walk_other(op, part - 1, prepared, holes, out) && !self.hold(&ops[part..]) {
                return part;
            }
        }
    }

    /// Writes parts of one byte, and returns their number.
    #[inline]
    fn walk_bytes(&self, ops: &[Op], room: usize, out: &mut OutBuf) -> usize {
        let next = self.table.next_id() as u32;
        let mut bytes = 0;
        for (op, place) in ops.iter().zip(out.spare(room)) {
            let sum = op.sum(next);
            if sum >= Op::OTHER {
                break;
            }
            *place = sum as u8;
            bytes += 1;
        }
        out.commit(bytes);
        bytes
    }

    /// Writes a part of another kind, and returns whether the older entries still exist.
    fn walk_other(
        &mut self,
        op: Op,
        part: usize,
        prepared: &PreparedBlock,
        holes: &[&[u8]],
        out: &mut OutBuf,
    ) -> bool {
        match op.kind() {
            Kind::Literal => out.extend(prepared.literal(&prepared.parts()[part])),
            Kind::FarEntry => {
                let index = op.sum(self.table.next_id() as u32).wrapping_sub(0x80);
                let len = integer::encode(index, 7, 0x80, out.spare(integer::LEN_MAX));
                out.commit(len);
            }
            Kind::Field | Kind::Hole => {
                let oldest = self.table.oldest_id();
                self.write(part, prepared, holes, out);
                return self.table.oldest_id() == oldest;
            }
        }
        true
    }

    /// Returns true if all entries of these parts exist.
    fn hold(&self, ops: &[Op]) -> bool {
        let next = self.table.next_id() as u32;
        ops.iter().all(|op| op.back(next).is_none_or(|back| back <= self.table.len()))
    }

    /// Writes the parts from `first` on as ordinary fields, and records the result.
    #[cold]
    fn write_and_plan(
        &mut self,
        place: usize,
        mut ops: Vec<Op>,
        first: usize,
        prepared: &PreparedBlock,
        holes: &[&[u8]],
        out: &mut OutBuf,
    ) {
        ops.truncate(first);
        for (part, prepared_part) in prepared.parts().iter().enumerate().skip(first) {
            let op = match self.write(part, prepared, holes, out) {
                _ if prepared_part.hole.is_some() => Op::HOLE,
                Written::Static(index) => Op::byte(0x80 | index),
                Written::Entry(id) => Op::entry(id),
                Written::Literal if self.writes_as_prepared(&prepared.field(prepared_part)) => Op::LITERAL,
                Written::Literal => Op::FIELD,
            };
            ops.push(op);
        }
        let next = self.table.next_id();
        let furthest = ops.iter().filter_map(|op| op.back(next as u32)).max();
        let oldest = furthest.map_or(NONE, |back| next - u64::from(back));
        let plan = &mut self.plans.plans[place];
        plan.expect(&ops);
        (plan.id, plan.ops, plan.oldest) = (prepared.id(), ops, oldest);
    }

    /// Writes one part as an ordinary field.
    #[inline]
    fn write(&mut self, part: usize, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) -> Written {
        let part = &prepared.parts()[part];
        let field = match part.hole {
            Some(hole) => prepared.field_with(part, holes[hole as usize]),
            None => self.to_enter(prepared.field(part)),
        };
        self.field(&field, out)
    }

    /// Makes a prepared field become an entry at once, since it will come again.
    fn to_enter<'a>(&self, field: Field<'a>) -> Field<'a> {
        if self.enters_prepared(&field) { field.with(Indexing::Index) } else { field }
    }
}

impl Plan {
    const NEW: Self = Self { id: 0, ops: Vec::new(), oldest: NONE, indexes: Vec::new(), indexes_at: NONE };

    fn memory_bytes(&self) -> usize {
        self.ops.capacity() * size_of::<Op>() + self.indexes.capacity()
    }

    fn clear(&mut self) {
        (self.id, self.oldest, self.indexes_at) = (0, NONE, NONE);
        self.ops.clear();
    }

    /// Reserves room for the block if it is likely to be only indexes from now on, so that keeping it
    /// allocates nothing.
    fn expect(&mut self, ops: &[Op]) {
        if ops.iter().all(|op| op.add < Op::OTHER || op.mask != 0) {
            self.indexes.clear();
            self.indexes.reserve(ops.len());
        }
    }

    /// Keeps a block of indexes.
    fn keep(&mut self, indexes: &[u8], changes: u64) {
        self.indexes.clear();
        self.indexes.extend_from_slice(indexes);
        self.indexes_at = changes;
    }
}

impl Plans {
    pub(crate) const fn new() -> Self {
        Self { plans: Vec::new(), oldest: 0 }
    }

    /// Drops every plan, because ids of entries may change their meaning.
    pub(crate) fn forget(&mut self) {
        self.plans.iter_mut().for_each(Plan::clear);
    }

    /// Drops every plan and its memory.
    pub(crate) fn trim(&mut self) {
        *self = Self::new();
    }

    /// Returns the bytes of memory outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        let own = self.plans.capacity() * size_of::<Plan>();
        own + self.plans.iter().map(Plan::memory_bytes).sum::<usize>()
    }

    /// Returns the place of the plan for this prepared block, or the number of plans if there is none.
    #[inline]
    fn place_of(&self, id: u64) -> usize {
        self.plans.iter().position(|plan| plan.id == id).unwrap_or(self.plans.len())
    }

    /// Returns the last block of the plan at this place, if it was only indexes and the table is unchanged.
    #[inline]
    fn indexes(&self, place: usize, changes: u64) -> Option<&[u8]> {
        self.plans.get(place).filter(|plan| plan.indexes_at == changes).map(|plan| &*plan.indexes)
    }

    /// Returns the place of an empty plan: a new one, or the oldest.
    #[cold]
    fn make_place(&mut self) -> usize {
        if self.plans.len() < COUNT_MAX {
            self.plans.push(Plan::NEW);
            return self.plans.len() - 1;
        }
        let place = self.oldest;
        self.oldest = (self.oldest + 1) % COUNT_MAX;
        self.plans[place].clear();
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_small() {
        assert_eq!(size_of::<Op>(), 8);
    }
}
