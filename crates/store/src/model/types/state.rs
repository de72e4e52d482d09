//! The state of a data type.

use super::parts::size::{Growth, Size};
use super::{Change, Clock, Kind, Making, Operation, Precision, Seen, Unfit, Value};
use crate::model::bytes::Bytes;
use crate::model::{Context, Damaged, Dot};

const VERSION: u8 = 1;

/// A data type with the clock of the changes that it has seen. It borrows from the bytes that it was read
/// from and from the operations that changed it, so that it takes a small multiple of these: at most
/// [`DECODED_FACTOR`](Self::DECODED_FACTOR).
///
/// ```
/// use alula_store::model::types::{Change, Kind, Operation, State, Value};
/// use alula_store::model::{Actor, Dot, Moment};
///
/// let mut state = State::new(Kind::Counter);
/// let dot = Dot::new(Actor::new(7), 1).expect("a count within its bounds");
/// let change = Change { dot, now: Moment::from_micros(1), context: None };
/// let operation = Operation::add(5);
/// state.change(&operation, &change)?;
/// let Value::Counter(counter) = state.value() else { unreachable!("a counter stays one") };
/// assert_eq!(counter.value(), 5);
/// # Ok::<(), alula_store::model::types::Unfit>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State<'a> {
    clock: Clock,
    value: Value<'a>,
}

impl<'a> State<'a> {
    /// Creates an empty data type of this kind.
    pub fn new(kind: Kind) -> Self {
        Self { clock: Clock::default(), value: Value::new(kind) }
    }

    /// Creates an empty count of different elements with this precision.
    pub fn distinct(precision: Precision) -> Self {
        Self { clock: Clock::default(), value: Value::Distinct(super::Distinct::new(precision)) }
    }

    /// The bytes of memory that a state takes for each byte of its record, at most.
    pub const DECODED_FACTOR: u64 = 8;

    /// Lowers the precision of a count of different elements. Others have none.
    pub fn reduce(&mut self, precision: Precision) {
        if let Value::Distinct(distinct) = &mut self.value {
            distinct.reduce(precision);
        }
    }

    /// Returns the value.
    pub const fn value(&self) -> &Value<'a> {
        &self.value
    }

    /// Makes one change.
    ///
    /// # Errors
    /// An [`Unfit`], after which the state may be changed in part and is of no use.
    pub fn change(&mut self, operation: &'a Operation, change: &Change<'_>) -> Result<(), Unfit> {
        if self.clock.sees(change.dot) {
            return Err(Unfit::Dot);
        }
        let before = Size::of(&self.value);
        if self.value.kind() != operation.kind() {
            return Err(Unfit::Kind { kind: self.value.kind() });
        }
        let making = Making::of(change);
        self.value.change(&mut operation.steps(), &making, 0, &mut Growth::from(before))?;
        Size::of(&self.value).check_after(before)?;
        self.clock.add(change.dot);
        Ok(())
    }

    /// Merges another replica's state of the same data type into this one. The order of merging does not
    /// matter, nor does repeating it.
    pub fn merge(&mut self, other: &Self) {
        self.value.merge(&self.clock, &other.value, &other.clock);
        self.clock.merge(&other.clock);
    }

    /// Returns the context of a client that is given the value, written over `out`.
    pub fn context<'out>(&self, out: &'out mut Vec<u8>) -> Context<'out> {
        Context::up_to(self.clock.dots(), out)
    }

    /// Returns true if the change of this dot has been seen.
    pub fn sees(&self, dot: Dot) -> bool {
        self.clock.sees(dot)
    }

    /// Appends the stored form of the state.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        self.clock.put(out);
        self.value.put(out);
    }

    /// Reads a state.
    ///
    /// # Errors
    /// [`Damaged`], for bytes that [`State::write`] does not make.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Damaged> {
        Self::read_whole(&mut Bytes::new(bytes)).ok_or(Damaged)
    }

    fn read_whole(bytes: &mut Bytes<'a>) -> Option<Self> {
        if bytes.byte()? != VERSION {
            return None;
        }
        let (clock, value) = (Clock::read(bytes)?, Value::read(bytes, 0, 0)?);
        bytes.is_empty().then_some(Self { clock, value })
    }
}
