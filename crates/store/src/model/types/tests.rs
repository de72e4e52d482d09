//! Data types beside a simpler model, and the laws of merging, by random operations on several replicas.

use alula_testkit::Rng;

use super::*;
use crate::model::{Actor, Context, Damaged, Dot, Dots, Moment};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn name(rng: &mut Rng) -> Vec<u8> {
    rng.pick(&NAMES).as_bytes().to_vec()
}

fn names(rng: &mut Rng) -> Vec<Vec<u8>> {
    (0..rng.below(3)).map(|_| name(rng)).collect()
}

fn field(rng: &mut Rng) -> FieldName {
    FieldName { name: name(rng), kind: *rng.pick(&Kind::ALL) }
}

fn operation(kind: Kind, rng: &mut Rng, depth: usize) -> Operation {
    match kind {
        Kind::Counter => Operation::add(rng.below(20) as i64 - 10),
        Kind::Set => Operation::set(names(rng), names(rng)),
        Kind::GrowSet => Operation::grow(names(rng)),
        Kind::Distinct => Operation::count(names(rng)),
        Kind::Register => Operation::assign(name(rng)),
        Kind::Flag => Operation::turn(rng.one_in(2)),
        Kind::Map => {
            let names: Vec<_> = (0..rng.below(3)).map(|_| field(rng)).collect();
            let names = names.into_iter().filter(|field| depth < 3 || field.kind != Kind::Map);
            let updates: Vec<_> =
                names.map(|field| (field.name, operation(field.kind, rng, depth + 1))).collect();
            let removes: Vec<_> = (0..rng.below(3)).map(|_| field(rng)).collect();
            Operation::map(updates, removes)
        }
    }
}

/// Leaks an operation, so that states may borrow from it.
fn kept_operation(operation: Operation) -> &'static Operation {
    Box::leak(Box::new(operation))
}

/// Three replicas of one data type, each with an actor, which change and merge as chance has it.
struct Replicas {
    states: Vec<State<'static>>,
    dots: Vec<Dots>,
    now: u64,
}

impl Replicas {
    fn new(kind: Kind) -> Self {
        let dots = (1..=3).map(|actor| Dots::new(Actor::new(actor))).collect();
        Self { states: vec![State::new(kind); 3], dots, now: 0 }
    }

    fn step(&mut self, rng: &mut Rng) {
        let one = rng.below(3);
        if rng.one_in(3) {
            let other = self.states[rng.below(3)].clone();
            self.states[one].merge(&other);
            return;
        }
        let mut bytes = Vec::new();
        let given = rng.one_in(2).then(|| self.states[one].context(&mut bytes));
        self.now += rng.below(2) as u64;
        let dot = self.dots[one].next().expect("far from the last");
        let change = Change { dot, now: Moment::from_micros(self.now), context: given };
        let mut changed = self.states[one].clone();
        let operation = kept_operation(operation(changed.value().kind(), rng, 0));
        if changed.change(operation, &change).is_ok() {
            self.states[one] = changed;
        }
    }
}

fn kept(state: &State<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write(&mut bytes);
    bytes
}

fn merged<'a>(one: &State<'a>, other: &State<'a>) -> State<'a> {
    let mut merged = one.clone();
    merged.merge(other);
    merged
}

/// Merging does not depend on order, grouping or repetition, and what is kept comes back.
#[test]
fn merging_is_a_join_and_states_come_back() {
    for kind in Kind::ALL {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut replicas = Replicas::new(kind);
            for _ in 0..25 {
                replicas.step(&mut rng);
            }
            let [one, two, three] = &replicas.states[..] else { unreachable!("there are three") };
            assert_eq!(merged(one, two), merged(two, one), "{kind:?} {seed}");
            assert_eq!(merged(&merged(one, two), three), merged(one, &merged(two, three)), "{kind:?} {seed}");
            assert_eq!(merged(one, one), *one, "{kind:?} {seed}");
            let bytes = kept(one);
            assert_eq!(State::read(&bytes).as_ref(), Ok(one), "{kind:?} {seed}");
            for len in 0..bytes.len() {
                assert_eq!(State::read(&bytes[..len]), Err(Damaged), "{kind:?} {seed} {len}");
            }
        }
    }
}

#[test]
fn any_bytes_are_a_state_or_damaged() {
    let mut rng = Rng::new(5);
    for seed in 0..40 {
        let mut replicas = Replicas::new(Kind::Map);
        let mut steps = Rng::new(seed);
        (0..25).for_each(|_| replicas.step(&mut steps));
        let bytes = kept(&replicas.states[0]);
        for _ in 0..500 {
            let mut changed = bytes.clone();
            let place = rng.below(changed.len());
            changed[place] = rng.byte();
            if let Ok(state) = State::read(&changed) {
                assert_eq!(kept(&state), changed);
            }
        }
    }
}

/// A state, and the dots of its one actor.
struct One {
    state: State<'static>,
    dots: Dots,
}

impl One {
    fn new(kind: Kind) -> Self {
        Self { state: State::new(kind), dots: Dots::new(Actor::new(1)) }
    }

    fn change(&mut self, operation: Operation, given: Option<&[u8]>) -> Result<(), Unfit> {
        let dot = self.dots.next().expect("far from the last");
        let context = given.map(|bytes| Context::read(bytes).expect("a context that was given"));
        self.state.change(kept_operation(operation), &Change { dot, now: Moment::from_micros(1), context })
    }

    fn given(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.state.context(&mut bytes);
        bytes
    }

    fn elements(&self) -> Vec<&[u8]> {
        let Value::Set(set) = self.state.value() else { panic!("{:?}", self.state) };
        set.elements().collect()
    }

    fn field(&self, name: &str, kind: Kind) -> Option<&Value<'static>> {
        let Value::Map(map) = self.state.value() else { panic!("{:?}", self.state) };
        map.fields()
            .find(|(field, value)| *field == name.as_bytes() && value.kind() == kind)
            .map(|(_, value)| value)
    }
}

fn set(adds: &[&str], removes: &[&str]) -> Operation {
    Operation::set(adds, removes)
}

fn field_named(name: &str, kind: Kind) -> FieldName {
    FieldName { name: name.into(), kind }
}

fn update(name: &str, operation: Operation) -> Operation {
    Operation::map([(name, operation)], [])
}

#[test]
fn an_element_that_was_added_after_the_context_stays() {
    let mut one = One::new(Kind::Set);
    one.change(set(&["a", "b"], &[]), None).expect("it fits");
    let given = one.given();
    one.change(set(&["a"], &[]), None).expect("it fits");
    one.change(set(&[], &["a", "b"]), Some(&given)).expect("it fits");
    assert_eq!(one.elements(), [b"a"]);
}

#[test]
fn an_element_that_is_not_there_is_removed_only_with_a_context() {
    let mut one = One::new(Kind::Set);
    assert_eq!(one.change(set(&[], &["a"]), None), Err(Unfit::Absent));
    let given = one.given();
    assert_eq!(one.change(set(&[], &["a"]), Some(&given)), Ok(()));
    assert_eq!(one.change(set(&["a"], &["a"]), None), Ok(()));
    assert_eq!(one.elements(), [b"a"]);
}

#[test]
fn a_counter_that_is_removed_and_changed_at_once_begins_anew() {
    let mut one = One::new(Kind::Map);
    one.change(update("n", Operation::add(40)), None).expect("it fits");
    let operation = Operation::map([("n", Operation::add(2))], [field_named("n", Kind::Counter)]);
    one.change(operation, None).expect("it fits");
    let Some(Value::Counter(counter)) = one.field("n", Kind::Counter) else { panic!("{:?}", one.state) };
    assert_eq!(counter.value(), 2);
}

#[test]
fn a_field_that_was_changed_after_the_context_stays_with_that_change() {
    let mut one = One::new(Kind::Map);
    one.change(update("s", set(&["old"], &[])), None).expect("it fits");
    let given = one.given();
    one.change(update("s", set(&["new"], &[])), None).expect("it fits");
    let removal = Operation::map::<&str>([], [field_named("s", Kind::Set)]);
    one.change(removal, Some(&given)).expect("it fits");
    let Some(Value::Set(left)) = one.field("s", Kind::Set) else { panic!("{:?}", one.state) };
    assert_eq!(left.elements().collect::<Vec<_>>(), [b"new"]);
}

#[test]
fn a_field_that_is_named_twice_is_removed_once() {
    let twice = || Operation::map::<&str>([], [field_named("f", Kind::Flag), field_named("f", Kind::Flag)]);
    let mut one = One::new(Kind::Map);
    one.change(update("f", Operation::turn(true)), None).expect("it fits");
    let given = one.given();
    for _ in 0..2 {
        one.change(twice(), Some(&given)).expect("a context says that it was there");
        assert_eq!(one.field("f", Kind::Flag), None);
    }
    one.change(update("f", Operation::turn(true)), None).expect("it fits");
    one.change(twice(), Some(&given)).expect("what the context has not seen stays");
    assert!(one.field("f", Kind::Flag).is_some());
    assert_eq!(one.change(twice(), None), Err(Unfit::Absent), "the second time");
}

#[test]
fn maps_lie_in_each_other_up_to_a_limit() {
    let nested =
        |depth| (0..depth).fold(update("flag", Operation::turn(true)), |inner, _| update("map", inner));
    let mut one = One::new(Kind::Map);
    assert_eq!(one.change(nested(NESTING_MAX), None), Err(Unfit::Nesting));
    let mut one = One::new(Kind::Map);
    assert_eq!(one.change(nested(NESTING_MAX - 1), None), Ok(()));
    assert_eq!(State::read(&kept(&one.state)).as_ref(), Ok(&one.state));
}

#[test]
fn an_operation_for_another_kind_does_not_fit() {
    let mut one = One::new(Kind::Counter);
    assert_eq!(one.change(set(&["a"], &[]), None), Err(Unfit::Kind { kind: Kind::Counter }));
}

#[test]
fn a_counter_stays_within_64_bits() {
    for (number, end) in [(i64::MAX, 1), (i64::MIN, -1)] {
        let mut one = One::new(Kind::Counter);
        one.change(Operation::add(number), None).expect("the last");
        assert_eq!(one.change(Operation::add(end), None), Err(Unfit::Limit));
        one.change(Operation::add(-end), None).expect("it comes back");
        one.change(Operation::add(end), None).expect("the last");
        let Value::Counter(counter) = one.state.value() else { panic!("{:?}", one.state) };
        assert_eq!(counter.value(), i128::from(number));
    }
}

/// Two replicas may have counted to the end each; what they merge to comes back.
#[test]
fn a_counter_beyond_64_bits_comes_back() {
    let change = |actor, count| Change {
        dot: Dot::new(Actor::new(actor), count).expect("a count within its bounds"),
        now: Moment::from_micros(1),
        context: None,
    };
    let (most, one, less) = (Operation::add(i64::MAX), Operation::add(1), Operation::add(-1));
    let mut states = [State::new(Kind::Counter), State::new(Kind::Counter)];
    states[0].change(&most, &change(1, 1)).expect("it fits");
    states[1].change(&most, &change(2, 1)).expect("it fits");
    let [mut merged, other] = states;
    merged.merge(&other);
    assert_eq!(merged.clone().change(&one, &change(3, 1)), Err(Unfit::Limit));
    merged.change(&less, &change(3, 1)).expect("it comes back");
    let Value::Counter(counter) = merged.value() else { panic!("{merged:?}") };
    assert_eq!(counter.value(), 2 * i128::from(i64::MAX) - 1);
}

/// The sums that an actor has added and taken have 64 bits each, whatever their difference is.
#[test]
fn a_counter_at_the_end_of_its_sums_is_refused() {
    let mut one = One::new(Kind::Counter);
    for _ in 0..2 {
        one.change(Operation::add(i64::MAX), None).expect("half of the sum");
        one.change(Operation::add(-i64::MAX), None).expect("half of the sum");
    }
    assert_eq!(one.change(Operation::add(2), None), Err(Unfit::Sums));
}

/// A dot that names two changes would let a context remove what its client was never given.
#[test]
fn a_dot_that_was_seen_is_refused() {
    let mut state = State::new(Kind::Counter);
    let dot = Dot::new(Actor::new(1), 1).expect("a count within its bounds");
    let change = Change { dot, now: Moment::from_micros(1), context: None };
    let operation = Operation::add(1);
    assert_eq!(state.change(&operation, &change), Ok(()));
    assert_eq!(state.change(&operation, &change), Err(Unfit::Dot));
}

/// Elements and fields are kept in order and once each; of several operations on a field the last counts.
#[test]
fn an_operation_is_the_same_in_any_order() {
    let long = "n".repeat(300);
    let set = Operation::set(["b", &long, "a", "b"], ["c", "a", "c"]);
    assert_eq!(set, Operation::set(["a", "b", &long], ["c", "c"]));
    let removes = || [field_named("x", Kind::Set), field_named("b", Kind::Counter)];
    let updates =
        [("b", Operation::add(1)), (&long, set.clone()), ("a", set.clone()), ("b", Operation::add(-2))];
    let ordered = [("a", set.clone()), ("b", Operation::add(-2)), (&long, set)];
    assert_eq!(Operation::map(updates, removes()), Operation::map(ordered, removes()));
}

#[test]
fn numbers_of_any_size_are_added() {
    for number in [0, 1, -1, 63, -64, 64, i64::MAX, -i64::MAX] {
        let mut one = One::new(Kind::Counter);
        one.change(Operation::add(number), None).expect("within 64 bits");
        let Value::Counter(counter) = one.state.value() else { panic!("{:?}", one.state) };
        assert_eq!(counter.value(), i128::from(number));
    }
}
