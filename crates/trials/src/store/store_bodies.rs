//! The JSON that clients of the store send: properties of buckets, and operations on data types of each kind.
//!
//! Accepted bodies are kept and shown in a form that is accepted again and means the same.

use alula_store::fuzzing;
use alula_store::model::types::{Change, Kind, Operation, State, Value};
use alula_store::model::{Actor, Context, Dot, Moment};

use crate::memory::bounded;

/// A tree of a thousand objects, which is held against its rules and kept.
const FOR_PROPERTIES: u64 = 4 * 1024 * 1024;
/// A few values, and a sentence about what is wrong.
const FOR_OPERATIONS: u64 = 16 * 1024;
/// The first byte says what the others are.
pub fn store_bodies(data: &[u8]) {
    let Some((kind, json)) = data.split_first() else { return };
    match Kind::ALL.get(usize::from(*kind) % (Kind::ALL.len() + 1)) {
        Some(kind) => operation(*kind, json),
        None => properties(json),
    }
}

fn properties(json: &[u8]) {
    let kept = bounded(json.len(), FOR_PROPERTIES, || fuzzing::properties(json));
    let Some(kept) = kept else { return };
    let again = [b"{\"props\":", &kept[..], b"}"].concat();
    assert_eq!(fuzzing::properties(&again), Some(kept));
}

fn operation(kind: Kind, json: &[u8]) {
    let asked = bounded(json.len(), FOR_OPERATIONS, || fuzzing::operation(kind, json));
    let Some((operation, context)) = asked else { return };
    assert_eq!(operation.kind(), kind);
    let context = context.as_deref().map(|bytes| Context::read(bytes).expect("a context that was read"));
    let dot = Dot::new(Actor::new(1), 1).expect("a count within its bounds");
    let mut state = State::new(kind);
    if state.change(&operation, &Change { dot, now: Moment::from_micros(1), context }).is_ok() {
        shown(&state);
    }
}

/// A value that is shown can be sent as an operation on a new one.
fn shown(state: &State<'_>) {
    let mut kept = Vec::new();
    state.write(&mut kept);
    assert_eq!(State::read(&kept).as_ref(), Ok(state));
    let json = fuzzing::value_json(state.value());
    let all = [b"{\"add_all\":", &json[..], b"}"].concat();
    let read = |json: &[u8]| fuzzing::operation(state.value().kind(), json).map(|(operation, _)| operation);
    match state.value() {
        Value::Counter(counter) => {
            assert_eq!(read(&json), i64::try_from(counter.value()).ok().map(Operation::add));
        }
        Value::Set(set) => assert_eq!(read(&all), Some(Operation::set(set.elements(), []))),
        Value::GrowSet(set) => assert_eq!(read(&all), Some(Operation::grow(set.elements()))),
        Value::Register(register) => assert_eq!(read(&json), Some(Operation::assign(register.value()))),
        Value::Flag(flag) => assert_eq!(json, flag.is_on().to_string().as_bytes()),
        Value::Distinct(distinct) => assert_eq!(json, distinct.estimate().to_string().as_bytes()),
        Value::Map(map) => assert_eq!(map.fields().count() == 0, json == b"{}"),
    }
}
