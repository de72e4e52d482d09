//! Shapes that cost time: removals that name the same again and again or come with long contexts, and states
//! of data types that a client wrote as objects.

use std::ops::Range;

use crate::attack::{Attack, filled, get, json, request};

const MAP: &str = "/types/maps/buckets/b/datatypes/k";
const SET: &str = "/types/sets/buckets/b/datatypes/k";

/// The most actors that a context names.
const ACTORS_MAX: u64 = 1_024;

pub(crate) fn removals() -> Vec<Attack> {
    let elements = |bytes: usize| filled(bytes, ",", |number| format!("\"{number}\""));
    let add_all = format!("{{\"add_all\":[{}]}}", elements(600_000));
    let large_field = format!("{{\"update\":{{\"a_set\":{add_all}}}}}");
    let mut attacks = Vec::new();
    for (shape, context) in [("a foreign", context(1..2)), ("a long foreign", context(1..ACTORS_MAX + 1))] {
        let again = filled(200_000, ",", |_| "\"a_set\"".into());
        let content = format!("{{\"remove\":[{again}],\"context\":\"{context}\"}}");
        let attack =
            Attack::of(format!("a field again and again, {shape} context"), json("POST", MAP, &content));
        attacks.push(attack.after(vec![json("POST", MAP, &large_field)], 1_200_000));
        let content = format!("{{\"remove_all\":[{}],\"context\":\"{context}\"}}", elements(600_000));
        let attack = Attack::of(format!("all elements, {shape} context"), json("POST", SET, &content));
        attacks.push(attack.after(vec![json("POST", SET, &add_all)], 1_200_000));
    }
    attacks
}

/// Objects of buckets without a type hold any contents, also such as a data type would write.
pub(crate) fn forged_states() -> Vec<Attack> {
    const SHARES: u64 = 60_000;
    const SIBLINGS: u64 = 90;
    let counters = (0..2).map(|part| {
        let mut state = vec![1, 0, 1];
        put_number(SHARES, &mut state);
        for number in 0..SHARES {
            state.extend_from_slice(&(2 * number + part + 1).to_be_bytes());
            state.extend_from_slice(&[1, 1, 0]);
        }
        stored("application/riak_counter", &state)
    });
    let sets = (0..SIBLINGS).map(|part| {
        let mut state = vec![1, 0, 2];
        put_number(1_000, &mut state);
        for number in 0..1_000 {
            state.push(8);
            state.extend_from_slice(format!("{:08}", number * SIBLINGS + part).as_bytes());
            state.push(1);
            state.extend_from_slice(&(part + 1).to_be_bytes());
            state.push(1);
        }
        stored("application/riak_set", &state)
    });
    // One hll of a map that stands on many dots, each with one register.
    const SKETCHES: u64 = 50_000;
    let mut state = vec![1, 0, 5, 16];
    put_number(SKETCHES, &mut state);
    for number in 1..=SKETCHES {
        state.extend_from_slice(&7_u64.to_be_bytes());
        put_number(number, &mut state);
        state.extend_from_slice(&[16, 1]);
        put_number(number * 7_919 % 65_536, &mut state);
        state.push(1);
    }
    let sketches = stored("application/riak_hll", &state);
    let allows = json("PUT", "/buckets/b/props", "{\"props\":{\"allow_mult\":true}}");
    let after = |shape: &str, path: &str, states: Vec<Vec<u8>>| {
        let bytes = states.iter().map(Vec::len).sum();
        let before = [vec![allows.clone()], states].concat();
        Attack::of(shape, get(path, "")).after(before, bytes)
    };
    vec![
        after("two counters", "/buckets/b/counters/k", counters.clone().collect()),
        after("two counters as an object", "/buckets/b/keys/k", counters.collect()),
        after("sets as an object", "/buckets/b/keys/k", sets.collect()),
        after("sketches as an object", "/buckets/b/keys/k", vec![sketches]),
    ]
}

fn stored(media_type: &str, state: &[u8]) -> Vec<u8> {
    request("PUT", "/buckets/b/keys/k", &format!("content-type: {media_type}\r\n"), state)
}

/// Returns the text of a context that covers the counts 1 to 9 of these actors.
fn context(actors: Range<u64>) -> String {
    let spans = |actor: u64| [&actor.to_be_bytes()[..], &[1, 8, 0]].concat();
    base64(&[vec![1], actors.flat_map(spans).collect()].concat())
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = part.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
