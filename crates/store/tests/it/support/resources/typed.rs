//! Types of all data types, and values that are read from them.

use serde_json::{Value, json};

use super::Wire;

pub(crate) fn types() -> Vec<(&'static str, Value)> {
    vec![
        ("plain", json!({})),
        ("counters", json!({"datatype": "counter"})),
        ("sets", json!({"datatype": "set"})),
        ("gsets", json!({"datatype": "gset"})),
        ("maps", json!({"datatype": "map"})),
        ("hlls", json!({"datatype": "hll", "hll_precision": 14})),
        ("coarse", json!({"datatype": "hll", "hll_precision": 4})),
    ]
}

pub(crate) async fn value(wire: &Wire, path: &str) -> Value {
    wire.get(path).is(200).await.has_field("content-type", "application/json").json()["value"].take()
}

pub(crate) async fn context(wire: &Wire, path: &str) -> String {
    wire.get(path).is(200).await.json()["context"].as_str().expect("a context").to_owned()
}
