//! Shapes of contents: JSON of operations and properties, changes of large values, and chunks.

use crate::attack::{Attack, filled, json, request};

/// Below the longest operation.
const JSON: usize = 1_000_000;

const VALUES: [&str; 6] = ["1", "\"\"", "[]", "{}", "{\"a\":1}", "[[[[]]]]"];

pub(crate) fn operations() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for value in VALUES {
        let all = filled(JSON, ",", |_| value.into());
        attacks.push(Attack::of(
            format!("elements {value}"),
            json("POST", SET, &format!("{{\"add_all\":[{all}]}}")),
        ));
        attacks.push(Attack::of(format!("an array of {value}"), json("POST", COUNTER, &format!("[{all}]"))));
        let all = filled(JSON, ",", |number| format!("\"{number}_register\":{value}"));
        attacks.push(Attack::of(
            format!("fields {value}"),
            json("POST", MAP, &format!("{{\"update\":{{{all}}}}}")),
        ));
    }
    let elements = filled(JSON, ",", |number| format!("\"{number}\""));
    for (kind, path) in [("a set", SET), ("an hll", "/types/hlls/buckets/b/datatypes/k")] {
        attacks.push(Attack::of(
            format!("elements of {kind}"),
            json("POST", path, &format!("{{\"add_all\":[{elements}]}}")),
        ));
    }
    for field in [
        "_counter\":1",
        "_flag\":\"enable\"",
        "_set\":{\"add\":\"\"}",
        "_hll\":{\"add\":\"\"}",
        "_map\":{\"update\":{\"_flag\":\"enable\"}}",
    ] {
        let fields = filled(JSON, ",", |number| format!("\"{number}{field}"));
        attacks.push(Attack::of(
            format!("fields {field}"),
            json("POST", MAP, &format!("{{\"update\":{{{fields}}}}}")),
        ));
    }
    attacks
}

const SET: &str = "/types/sets/buckets/b/datatypes/k";
const MAP: &str = "/types/maps/buckets/b/datatypes/k";
const COUNTER: &str = "/types/counters/buckets/b/datatypes/k";

/// Values that are large before a small change.
pub(crate) fn large_values() -> Vec<(String, &'static str, Vec<Vec<u8>>, usize)> {
    let mut values = Vec::new();
    for length in [1, 8, 100] {
        let parts = |part: usize| {
            let elements = filled(200_000, ",", |number| format!("\"{part}{number:0length$}\""));
            json("POST", SET, &format!("{{\"add_all\":[{elements}]}}"))
        };
        values.push((
            format!("a set of elements of {length}"),
            SET,
            (0..8).map(parts).collect(),
            8 * 200_000,
        ));
    }
    for field in [
        "_counter\":1",
        "_flag\":\"enable\"",
        "_set\":{\"add\":\"\"}",
        "_hll\":{\"add\":\"\"}",
        "_map\":{\"update\":{\"_flag\":\"enable\"}}",
        "_register\":\"\"",
    ] {
        // A map has a thousand hlls at most.
        let bytes = if field.contains("hll") { 5_500 } else { 50_000 };
        let parts = |part: usize| {
            let fields = filled(bytes, ",", |number| format!("\"{part}{number:04}{field}"));
            json("POST", MAP, &format!("{{\"update\":{{{fields}}}}}"))
        };
        values.push((format!("a map of {field}"), MAP, (0..4).map(parts).collect(), 4 * bytes));
    }
    values
}

pub(crate) fn changes() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (shape, path, before, bytes) in large_values() {
        let change = if path == SET { "{\"add\":\"x\"}" } else { "{\"update\":{\"x_counter\":1}}" };
        // Read and written.
        let attack = Attack::of(format!("four changes of {shape}"), json("POST", path, change)).times(4);
        attacks.push(attack.after(before, 2 * bytes));
    }
    attacks
}

pub(crate) fn properties() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for value in VALUES {
        for bytes in [60_000, JSON] {
            let all = filled(bytes, ",", |_| value.into());
            let content = format!("{{\"props\":{{\"a\":[{all}]}}}}");
            attacks.push(Attack::of(
                format!("a property of {bytes} bytes of {value}"),
                json("PUT", "/buckets/b/props", &content),
            ));
        }
        let all = filled(JSON, ",", |number| format!("\"{number}\":{value}"));
        attacks.push(Attack::of(
            format!("properties {value}"),
            json("PUT", "/buckets/b/props", &format!("{{\"props\":{{{all}}}}}")),
        ));
    }
    attacks
}

pub(crate) fn nesting() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (shape, unit) in [("arrays", "["), ("objects", "{\"update\":"), ("maps", "{\"update\":{\"a_map\":")] {
        for (of, method, path) in
            [("a set", "POST", SET), ("a map", "POST", MAP), ("properties", "PUT", "/buckets/b/props")]
        {
            let content = unit.repeat(JSON / unit.len());
            attacks.push(Attack::of(
                format!("{shape} within each other for {of}"),
                json(method, path, &content),
            ));
        }
    }
    attacks
}

pub(crate) fn chunks() -> Vec<Attack> {
    let fields = "content-type: text/plain\r\ntransfer-encoding: chunked\r\n";
    let mut attacks = Vec::new();
    for (size, count) in [(1, 200_000), (7, 100_000), (1_000, 1_000)] {
        let chunk = format!("{size:x}\r\n{}\r\n", "a".repeat(size));
        let content = format!("{}0\r\n\r\n", chunk.repeat(count));
        let head = request("PUT", "/buckets/b/keys/k", fields, b"");
        let head = String::from_utf8(head).expect("ASCII").replace("content-length: 0\r\n", "");
        attacks.push(Attack::of(format!("{count} chunks of {size}"), [head, content].concat().into_bytes()));
    }
    attacks
}
