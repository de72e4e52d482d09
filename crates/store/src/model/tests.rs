//! Records and writes beside a simpler model: a map of dots to values, and contexts as sets of dots.

use std::collections::{BTreeMap, BTreeSet};

use alula_testkit::Rng;

use super::*;

const RULES: Rules =
    Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };

fn new_content(dot: Dot, value: &[u8]) -> NewContent<'_> {
    let vtag = Vtag::from_bits(u128::from(dot.count()));
    NewContent { dot, vtag, now: Moment::from_micros(1_000), is_deleted: false, attributes: b"", value }
}

/// An object, by the model and by its record.
#[derive(Default)]
struct Both {
    simple: BTreeMap<Dot, Vec<u8>>,
    record: Vec<u8>,
}

/// A context as a client has it: the dots, and the text.
#[derive(Clone, Default)]
struct Given {
    dots: BTreeSet<Dot>,
    text: Option<Vec<u8>>,
}

impl Both {
    fn record(&self) -> Option<Record<'_>> {
        (!self.record.is_empty()).then(|| Record::read(&self.record).expect("a record that was just written"))
    }

    fn write(&mut self, given: &Given, dot: Dot, value: &[u8], is_deleted: bool) {
        self.simple.retain(|dot, _| !given.dots.contains(dot));
        self.simple.insert(dot, value.to_vec());
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        let context = given.text.as_ref().map_or(Context::EMPTY, |text| {
            Context::from_text(text, &mut bytes).expect("a context that was given")
        });
        let new = NewContent { is_deleted, ..new_content(dot, value) };
        write(self.record(), context, &new, &RULES, &mut out).expect("few and short contents");
        self.record = out;
    }

    fn give(&self) -> Given {
        let Some(record) = self.record() else { return Given::default() };
        let (mut bytes, mut text) = (Vec::new(), Vec::new());
        record.context(&mut bytes).write_text(&mut text);
        Given { dots: self.simple.keys().copied().collect(), text: Some(text) }
    }

    fn check(&self) {
        let record = self.record().expect("something was written");
        let read: Vec<_> =
            record.contents().map(|content| (content.dot(), content.value().to_vec())).collect();
        let expected: Vec<_> = self.simple.iter().map(|(dot, value)| (*dot, value.clone())).collect();
        assert_eq!(read, expected);
    }
}

/// Clients write with contexts that are missing, fresh or stale, to one object that restarts of the store
/// write to by other actors.
#[test]
fn writes_leave_what_the_simple_model_leaves() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut both = Both::default();
        let mut clients = vec![Given::default(); 4];
        let mut dots = Dots::new(Actor::new(rng.next_u64()));
        for _ in 0..60 {
            if rng.one_in(15) {
                dots = Dots::new(Actor::new(rng.next_u64()));
            }
            let client = rng.below(clients.len());
            match rng.below(3) {
                0 => clients[client] = both.give(),
                1 => clients[client] = Given::default(),
                _ => {}
            }
            let len = rng.below(20);
            let value = rng.bytes(len);
            both.write(&clients[client], dots.next().expect("far from the last"), &value, rng.one_in(5));
            both.check();
        }
    }
}

fn record_of_three() -> Vec<u8> {
    let dots = Dots::new(Actor::new(3));
    let mut both = Both::default();
    for value in [&b"one"[..], b"", b"three"] {
        both.write(&Given::default(), dots.next().expect("far from the last"), value, value.is_empty());
    }
    both.record
}

#[test]
fn a_record_that_is_cut_off_or_goes_on_is_damaged() {
    let mut record = record_of_three();
    for len in 0..record.len() {
        assert_eq!(Record::read(&record[..len]).err(), Some(Damaged), "{len}");
    }
    record.push(0);
    assert_eq!(Record::read(&record).err(), Some(Damaged));
}

#[test]
fn any_bytes_are_a_record_or_damaged() {
    let mut rng = Rng::new(1);
    let record = record_of_three();
    for _ in 0..20_000 {
        let mut changed = record.clone();
        for _ in 0..=rng.below(3) {
            let place = rng.below(changed.len());
            changed[place] = rng.byte();
        }
        if let Ok(record) = Record::read(&changed) {
            assert_eq!(record.contents().len(), record.contents().count());
            let bytes: usize = record.contents().map(|content| content.value().len()).sum();
            assert!(bytes <= changed.len());
        }
    }
}

#[test]
fn without_siblings_the_last_write_is_left() {
    for rules in [Rules { allow_mult: false, ..RULES }, Rules { last_write_wins: true, ..RULES }] {
        let stored = record_of_three();
        let dot = Dot::new(Actor::new(9), 1).expect("a count within its bounds");
        let mut out = Vec::new();
        let record = Record::read(&stored).expect("whole");
        write(Some(record), Context::EMPTY, &new_content(dot, b"last"), &rules, &mut out).expect("short");
        let left = Record::read(&out).expect("whole");
        assert_eq!(left.single().map(|content| content.value()), Some(&b"last"[..]));
    }
}

#[test]
fn time_goes_on_although_the_clock_steps_back() {
    let stored = record_of_three();
    let record = Record::read(&stored).expect("whole");
    let dot = Dot::new(Actor::new(9), 1).expect("a count within its bounds");
    let new = NewContent { now: Moment::from_micros(1), ..new_content(dot, b"last") };
    let mut out = Vec::new();
    write(Some(record), Context::EMPTY, &new, &RULES, &mut out).expect("short");
    let after = Record::read(&out).expect("whole").modified();
    assert_eq!(after.micros(), record.modified().micros() + 1);
}

#[test]
fn limits_hold_for_all_siblings_together() {
    let stored = record_of_three();
    let record = Record::read(&stored).expect("whole");
    let dot = Dot::new(Actor::new(9), 1).expect("a count within its bounds");
    let written = |context: Context<'_>, rules: Rules| {
        write(Some(record), context, &new_content(dot, b"1234"), &rules, &mut Vec::new())
    };
    let narrow = |bytes_max| Rules { bytes_max, ..RULES };
    assert_eq!(written(Context::EMPTY, narrow(12)), Ok(()));
    assert_eq!(written(Context::EMPTY, narrow(11)), Err(Refused::Bytes { bytes: 12, bytes_max: 11 }));
    let few = |siblings_max| Rules { siblings_max, ..RULES };
    assert_eq!(written(Context::EMPTY, few(4)), Ok(()));
    assert_eq!(written(Context::EMPTY, few(3)), Err(Refused::Siblings { siblings: 4, siblings_max: 3 }));
    let mut bytes = Vec::new();
    let all = record.context(&mut bytes);
    assert_eq!(written(all, Rules { siblings_max: 1, bytes_max: 4, ..RULES }), Ok(()));
}

/// A dot that names two writes would let the context of one client remove what it was never given.
#[test]
fn a_dot_that_does_not_follow_is_refused() {
    let stored = record_of_three();
    let record = Record::read(&stored).expect("whole");
    for count in 1..=3 {
        let dot = Dot::new(Actor::new(3), count).expect("a count within its bounds");
        let refused = write(Some(record), Context::EMPTY, &new_content(dot, b""), &RULES, &mut Vec::new());
        assert_eq!(refused, Err(Refused::Dot), "{count}");
    }
}

#[test]
fn an_object_is_deleted_when_every_content_says_so() {
    let dots = Dots::new(Actor::new(3));
    let mut both = Both::default();
    both.write(&Given::default(), dots.next().expect("far from the last"), b"", true);
    assert!(both.record().expect("written").is_deleted());
    both.write(&Given::default(), dots.next().expect("far from the last"), b"", false);
    assert!(!both.record().expect("written").is_deleted());
}
