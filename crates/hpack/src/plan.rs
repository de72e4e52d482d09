//! What an encoder remembers of prepared blocks.
//!
//! A plan says for each part what to write: an index, a literal made before, or a field that is new each time. Indexes of the
//! dynamic table are kept as ids of entries; a plan holds as long as none of them has been evicted. A hole that inserts may
//! evict, so the oldest entry named after it is looked at again.

use alloc::vec::Vec;

use alula_fields::OutBuf;

use crate::encoder::{Encoder, Written};
use crate::field::{Field, Indexing};
use crate::lookup::alive;
use crate::prepared::PreparedBlock;
use crate::{Huffman, integer, static_table};

/// The plans of one encoder: a few, found by the id of the prepared block.
#[derive(Debug)]
pub(crate) struct Plans {
    plans: [Plan; COUNT],
    /// The next to give way.
    oldest: usize,
}

/// A client rarely has more prepared requests in use at one origin.
const COUNT: usize = 8;

#[derive(Debug)]
pub(crate) struct Plan {
    /// Of the prepared block; zero is nobody's.
    id: u64,
    ops: Vec<Op>,
    /// The oldest entry named, or [`NONE`].
    oldest: u64,
}

const NONE: u64 = u64::MAX;

/// What to write for one part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Op {
    /// This octet: an index of the static table.
    Octet(u8),
    /// The index of the entry with this id, shortened.
    Entry(u32),
    /// The literal of the part.
    Literal,
    /// The part as a field that is encoded now.
    Field,
    /// The same; afterwards this entry must be alive if any is named after it.
    Hole { oldest_after: Option<u32> },
}

impl Encoder {
    /// Appends a prepared block to `out`, with a value for each of its holes.
    ///
    /// The first time the fields are found one by one. Later times that is remembered, as long as no entry they are has been
    /// evicted. Values in holes are taken as they are. Allocates only when a block is new to this encoder.
    ///
    /// # Panics
    ///
    /// If there are not as many values as holes.
    pub fn emit(&mut self, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) {
        assert!(holes.len() == prepared.holes(), "a prepared block needs a value for each of its holes");
        self.write_size_updates(out);
        let place = self.plans.place_of(prepared.id());
        let mut plan = core::mem::replace(&mut self.plans.plans[place], Plan::NEW);
        let written = self.walk(&plan, prepared, holes, out);
        if written < prepared.parts().len() {
            self.write_and_plan(&mut plan, written, prepared, holes, out);
        }
        self.plans.plans[place] = plan;
    }

    /// Writes parts as the plan says while it holds, and says how many that were.
    fn walk(&mut self, plan: &Plan, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) -> usize {
        if plan.oldest < self.table.oldest_id() {
            return 0;
        }
        let mut part = 0;
        loop {
            part = self.walk_to_hole(plan, part, prepared, out);
            let Some(op) = plan.ops.get(part) else { return part };
            self.write(part, prepared, holes, out);
            part += 1;
            if let Op::Hole { oldest_after: Some(id) } = *op
                && alive(&self.table, id).is_none()
            {
                return part;
            }
        }
    }

    /// Writes what needs no look at a table, and says at which part that ends.
    #[inline]
    fn walk_to_hole(
        &self,
        plan: &Plan,
        mut part: usize,
        prepared: &PreparedBlock,
        out: &mut OutBuf,
    ) -> usize {
        let spare = out.spare(prepared.fixed_len_max());
        // The index of an entry is what is between this and its id.
        let base = (self.table.next_id() as u32).wrapping_add(static_table::LAST);
        let mut at = 0;
        for op in &plan.ops[part..] {
            match *op {
                Op::Octet(octet) => {
                    spare[at] = octet;
                    at += 1;
                }
                Op::Entry(id) => {
                    let index = base.wrapping_sub(id);
                    at += integer::encode(index, 7, 0x80, &mut spare[at..]);
                }
                Op::Literal => {
                    let literal = prepared.literal(&prepared.parts()[part]);
                    spare[at..at + literal.len()].copy_from_slice(literal);
                    at += literal.len();
                }
                Op::Field | Op::Hole { .. } => break,
            }
            part += 1;
        }
        out.commit(at);
        part
    }

    /// Writes the parts from `first` on as any fields, and remembers what has become of them.
    #[cold]
    fn write_and_plan(
        &mut self,
        plan: &mut Plan,
        first: usize,
        prepared: &PreparedBlock,
        holes: &[&[u8]],
        out: &mut OutBuf,
    ) {
        plan.id = prepared.id();
        plan.ops.truncate(first);
        for (part, prepared_part) in prepared.parts().iter().enumerate().skip(first) {
            let op = match self.write(part, prepared, holes, out) {
                _ if prepared_part.hole.is_some() => Op::Hole { oldest_after: None },
                Written::Static(index) => Op::Octet(0x80 | index),
                Written::Entry(id) => Op::Entry(id as u32),
                Written::Literal if self.huffman() == Huffman::Shorter => Op::Literal,
                Written::Literal => Op::Field,
            };
            plan.ops.push(op);
        }
        plan.find_oldest(self.table.next_id());
    }

    /// Writes one part as any field.
    fn write(&mut self, part: usize, prepared: &PreparedBlock, holes: &[&[u8]], out: &mut OutBuf) -> Written {
        let part = &prepared.parts()[part];
        let mut field = prepared.field(part);
        match part.hole {
            Some(hole) => field.value = holes[hole as usize],
            None if self.enters_prepared(&field) => field = Field { indexing: Indexing::Index, ..field },
            None => {}
        }
        self.field(&field, out)
    }
}

impl Plan {
    const NEW: Self = Self { id: 0, ops: Vec::new(), oldest: NONE };

    /// Finds the oldest entry named, in all and after each hole. No id named is as large as `next`.
    fn find_oldest(&mut self, next: u64) {
        let mut oldest = NONE;
        for op in self.ops.iter_mut().rev() {
            match op {
                Op::Entry(id) => {
                    let back = (next as u32).wrapping_sub(*id);
                    oldest = oldest.min(next - u64::from(back));
                }
                Op::Hole { oldest_after } => *oldest_after = (oldest != NONE).then_some(oldest as u32),
                Op::Octet(_) | Op::Literal | Op::Field => {}
            }
        }
        self.oldest = oldest;
    }
}

impl Plans {
    pub(crate) const fn new() -> Self {
        Self { plans: [const { Plan::NEW }; COUNT], oldest: 0 }
    }

    /// Drops every plan; ids of entries may mean something else from now on.
    pub(crate) fn forget(&mut self) {
        for plan in &mut self.plans {
            plan.id = 0;
            plan.ops.clear();
            plan.oldest = NONE;
        }
    }

    /// Drops every plan and its memory.
    pub(crate) fn trim(&mut self) {
        *self = Self::new();
    }

    /// Octets of memory held outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.plans.iter().map(|plan| plan.ops.capacity() * size_of::<Op>()).sum()
    }

    /// Where the plan for this prepared block is, or shall be: then it is empty.
    #[inline]
    fn place_of(&mut self, id: u64) -> usize {
        match self.plans.iter().position(|plan| plan.id == id) {
            Some(place) => place,
            None => self.make_place(),
        }
    }

    #[cold]
    fn make_place(&mut self) -> usize {
        let place = self.oldest;
        self.oldest = (self.oldest + 1) % COUNT;
        let plan = &mut self.plans[place];
        plan.ops.clear();
        plan.oldest = NONE;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_small() {
        assert!(size_of::<Op>() <= 12);
    }
}
