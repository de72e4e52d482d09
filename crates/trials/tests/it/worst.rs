//! The worst inputs of the store's parsers: for each of them a grid of shapes, since one shape proves nothing
//! of the others.
//!
//! The bodies themselves say how much a parser may hold. What is printed is the greatest multiple of a
//! shape's input.

use alula_store::model::types::{Change, Kind, Operation, State};
use alula_store::model::{Actor, Dot, Moment};

/// The lengths of inputs. The longest is as long as the head of a request of the store may be.
const LENGTHS: [usize; 3] = [1_000, 30_000, 300_000];

/// Runs a body over all shapes, and prints the worst.
fn search(name: &str, body: fn(&[u8]), shapes: impl IntoIterator<Item = (String, Vec<u8>)>) {
    assert!(alula_tally::is_installed());
    let (mut worst, mut failed) = ((0.0, String::new()), Vec::new());
    for (shape, input) in shapes {
        alula_trials::take_worst();
        let outcome = std::panic::catch_unwind(|| body(&input));
        let multiple = alula_trials::take_worst().multiple();
        let shape = format!("{multiple:.1} times the input of {} bytes: {shape}", input.len());
        if outcome.is_err() {
            failed.push(shape.clone());
        }
        if multiple >= worst.0 {
            worst = (multiple, shape);
        }
    }
    println!("{name}: at most {}", worst.1);
    assert!(failed.is_empty(), "{name}: {} shapes take too much:\n{}", failed.len(), failed.join("\n"));
}

/// A unit repeated to each length, between two ends.
fn repeated(before: &str, unit: &str, between: &str, after: &str) -> Vec<(String, Vec<u8>)> {
    let of = |length: usize| {
        let units = vec![unit; length / (unit.len() + between.len())];
        let text = format!("{before}{}{after}", units.join(between));
        (format!("{unit:?} many times in {before:?}"), text.into_bytes())
    };
    LENGTHS.map(of).into()
}

/// Units with a number each, so that none is like another.
fn numbered(
    before: &str,
    unit: impl Fn(usize) -> String,
    between: &str,
    after: &str,
) -> Vec<(String, Vec<u8>)> {
    let of = |length: usize| {
        let units: Vec<_> = (0..length / (unit(length).len() + between.len())).map(&unit).collect();
        let text = format!("{before}{}{after}", units.join(between));
        (format!("{:?} and so on in {before:?}", unit(0)), text.into_bytes())
    };
    LENGTHS.map(of).into()
}

fn with_first(first: u8, shapes: Vec<(String, Vec<u8>)>) -> impl Iterator<Item = (String, Vec<u8>)> {
    shapes.into_iter().map(move |(shape, input)| (shape, [&[first], &input[..]].concat()))
}

/// Without it no object is stored.
const MEDIA_TYPE: &str = "content-type:a/b\n";

#[test]
fn fields_of_objects() {
    let link = format!("{MEDIA_TYPE}link:");
    let mut shapes = Vec::new();
    for name in [1, 100, 4_000, 30_000] {
        let field = format!("{MEDIA_TYPE}x-riak-index-{}_bin:", "n".repeat(name));
        shapes.extend(numbered(&field, |number| number.to_string(), ", ", ""));
        let field = format!("{MEDIA_TYPE}x-riak-index-{}_int:", "n".repeat(name));
        shapes.extend(numbered(&field, |number| number.to_string(), ", ", ""));
    }
    shapes.extend(numbered(MEDIA_TYPE, |number| format!("x-riak-index-{number}_bin:a"), "\n", ""));
    shapes.extend(numbered(MEDIA_TYPE, |number| format!("x-riak-meta-{number}:a"), "\n", ""));
    shapes.extend(repeated(&link, "</b/k>;riaktag=\"t\"", ",", ""));
    shapes.extend(repeated(&link, "</buckets/b>;rel=\"up\"", ",", ""));
    shapes.extend(repeated(&link, "</b/%25%25%25%25>;riaktag=\"%25%25\"", ",", ""));
    search("object_fields", alula_trials::object_fields, shapes);
}

#[test]
fn queries_of_indexes() {
    let patterns = [
        "a|",
        "()",
        "[^a]",
        "\\w",
        "a?",
        "(?:)",
        "[a-z0-9]",
        "(?u)\\w",
        "(?i)k",
        "(a",
        "[a",
        "a{9}",
        "\\pL",
        "x*?",
        "[[:alpha:]]",
    ];
    let before = "\0\x01a\x01\x01z\x01a"; // `name_bin`, from `a` to `z`, and a term
    let mut shapes = Vec::new();
    for pattern in patterns {
        shapes.extend(repeated(&format!("{before}term_regex="), pattern, "", ""));
        shapes.extend(repeated(&format!("{before}term_regex=(?u)"), pattern, "", ""));
    }
    shapes.extend(repeated(before, "a=b", "&", ""));
    shapes.extend(repeated(before, "", "&", ""));
    shapes.extend(repeated(&format!("{before}max_results="), "9", "", ""));
    shapes.extend(repeated(&format!("{before}continuation="), "AAAA", "", ""));
    search("index_query", alula_trials::index_query, with_first(4, shapes));
    let names = ["\0", "\u{80}", "}", "\"", "a"].map(|unit| repeated("", unit, "", ""));
    search("index_query, names", alula_trials::index_query, with_first(2, names.concat()));
    let texts = ["AAAA", "=", "a"].map(|unit| repeated("", unit, "", ""));
    search("index_query, continuations", alula_trials::index_query, with_first(0, texts.concat()));
}

#[test]
fn steps_of_walks() {
    let steps = ["_,_,_", ",,", "%61,%61,1", "a,b,c,d", "a"].map(|unit| repeated("", unit, "/", ""));
    search("walk_steps", alula_trials::walk_steps, steps.concat());
}

/// Values of JSON that take little text.
const VALUES: [&str; 8] = ["1", "\"\"", "\"a\"", "[]", "{}", "null", "[[]]", "{\"a\":1}"];

#[test]
fn properties_of_buckets() {
    let mut shapes = Vec::new();
    for value in VALUES {
        shapes.extend(repeated("{\"props\":{\"a\":[", value, ",", "]}}"));
        shapes.extend(repeated("[", value, ",", "]"));
        shapes.extend(numbered("{\"props\":{", |number| format!("\"{number}\":{value}"), ",", "}}"));
    }
    search("store_bodies, properties", alula_trials::store_bodies, with_first(Kind::ALL.len() as u8, shapes));
}

#[test]
fn operations_on_data_types() {
    let mut shapes = Vec::new();
    for value in VALUES {
        shapes.extend(repeated("[", value, ",", "]"));
        shapes.extend(repeated("{\"add_all\":[", value, ",", "]}"));
        shapes.extend(repeated("{\"remove_all\":[", value, ",", "]}"));
        shapes.extend(repeated("{\"update\":[", value, ",", "]}"));
    }
    shapes.extend(numbered("{\"add_all\":[", |number| format!("\"{number}\""), ",", "]}"));
    for unit in [
        "_counter\":1",
        "_set\":{\"add\":\"\"}",
        "_map\":{\"update\":{\"_flag\":\"enable\"}}",
        "_hll\":{\"add\":\"\"}",
    ] {
        shapes.extend(numbered("{\"update\":{", |number| format!("\"{number}{unit}"), ",", "}}"));
    }
    let kinds = 0..Kind::ALL.len() as u8;
    let shapes = kinds.flat_map(|kind| with_first(kind, shapes.clone()));
    search("store_bodies, operations", alula_trials::store_bodies, shapes);
}

/// The state after one operation, or `None` if it has more parts than a state may have.
fn state(operation: &Operation) -> Option<Vec<u8>> {
    let (mut state, mut out) = (State::new(operation.kind()), Vec::new());
    let dot = Dot::new(Actor::new(1), 1).expect("a count within its bounds");
    let change = Change { dot, now: Moment::from_micros(1), context: None };
    state.change(operation, &change).ok()?;
    state.write(&mut out);
    Some(out)
}

/// States of many small parts, of each kind that has parts.
fn states() -> Vec<(String, Vec<u8>)> {
    let text = |number: usize| number.to_string().into_bytes();
    let mut all = Vec::new();
    for parts in [10, 200, 1_000, 20_000] {
        let elements: Vec<_> = (0..parts).map(text).collect();
        let map = |operation: &Operation| {
            Operation::map((0..parts).map(|number| (text(number), operation.clone())), [])
        };
        let nested = Operation::map([("0", Operation::turn(true))], []);
        for (shape, operation) in [
            ("a set", Operation::set(&elements, [])),
            ("a gset", Operation::grow(&elements)),
            ("an hll", Operation::count(&elements)),
            ("a map of counters", map(&Operation::add(1))),
            ("a map of flags", map(&Operation::turn(true))),
            ("a map of hlls", map(&Operation::count(["x"]))),
            ("a map of sets", map(&Operation::set(["x"], []))),
            ("a map of registers", map(&Operation::assign(""))),
            ("a map of maps", map(&nested)),
        ] {
            all.extend(state(&operation).map(|state| (format!("{shape}, {parts} parts"), state)));
        }
    }
    all
}

#[test]
fn states_that_are_stored() {
    search("stored, states", alula_trials::stored, with_first(3, states()));
}

#[test]
fn changes_of_states() {
    let operations = ["1", "{\"add\":\"x\"}", "{\"remove\":\"1\"}", "{\"update\":{\"c_counter\":1}}"];
    let with = |(shape, state): &(String, Vec<u8>)| {
        let counted = [&(state.len() as u32).to_be_bytes()[..], state].concat();
        operations
            .map(|operation| (format!("{operation} on {shape}"), [&counted, operation.as_bytes()].concat()))
    };
    let states = states();
    search("datatype_change", alula_trials::datatype_change, states.iter().flat_map(with));
}

#[test]
fn contexts_of_clients() {
    let texts = ["AAAA", "AQAA", "=", "a"].map(|unit| repeated("", unit, "", ""));
    search("stored, contexts", alula_trials::stored, with_first(2, texts.concat()));
}
