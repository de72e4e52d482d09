//! Changes of data types that are kept: whatever is stored and whatever is asked for, the memory that a
//! change takes is in proportion to both.

use alula_store::fuzzing;
use alula_store::model::types::{Change, State};
use alula_store::model::{Actor, Context, Dot, Moment};

use crate::input::Input;
use crate::memory::bounded;

/// One sketch of the greatest precision, with its estimate.
const FOR_ANY: u64 = 256 * 1024;

/// A counted string is the state, and the rest the operation in JSON. A state that cannot be read is passed
/// over.
pub fn datatype_change(data: &[u8]) {
    let mut input = Input::new(data);
    let kept = input.take_counted();
    let json = input.take(usize::MAX);
    bounded(data.len(), FOR_ANY, || change(kept, json));
}

fn change(kept: &[u8], json: &[u8]) {
    let Ok(state) = State::read(kept) else { return };
    let kind = state.value().kind();
    let Some((operation, context)) = fuzzing::operation(kind, json) else { return };
    let context = context.as_deref().and_then(|bytes| Context::read(bytes).ok());
    let dot = Dot::new(Actor::new(u64::MAX), 1).expect("a count within its bounds");
    // A state borrows from the operations that it has been given, and is gone before them.
    let mut state = state;
    if state.change(&operation, &Change { dot, now: Moment::from_micros(1), context }).is_err() {
        return;
    }
    let mut out = Vec::new();
    state.write(&mut out);
    drop(state);
    assert!(State::read(&out).is_ok_and(|again| again.value().kind() == kind));
}
