//! Operations on data types, and what they leave, over HTTP/1.1 and HTTP/2.

use crate::support::resources::over_both;
use crate::support::resources::typed::{context, types, value};
use serde_json::{Value, json};

/// Riak §13
#[tokio::test]
async fn counters_count() {
    let path = "/types/counters/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for (operation, expected) in [
            ("5", 5),
            ("-2", 3),
            ("\"increment\"", 4),
            ("\"decrement\"", 3),
            ("{\"increment\":10}", 13),
            ("{\"decrement\":20}", -7),
            ("0", -7),
        ] {
            wire.post(path, operation)
                .is(204)
                .await
                .has_text("")
                .has_field("content-type", "application/json");
            wire.get(path).is(200).await.has_json(&json!({"type": "counter", "value": expected}));
        }
        wire.post(&format!("{path}?returnbody=true"), "1")
            .is(200)
            .await
            .has_json(&json!({"type": "counter", "value": -6}));
    })
    .await;
}

/// Riak §13: a counter stays within the numbers that clients read.
#[tokio::test]
async fn counters_refuse_what_is_no_number_of_64_bits() {
    let path = "/types/counters/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for operation in [
            "9223372036854775808",
            "-9223372036854775809",
            "{\"decrement\":-9223372036854775808}",
            "1e999",
            "1.5",
            "123456789012345678901234567890123456789012345678901234567890",
            "{\"increment\":\"1\"}",
            "{\"increment\":1,\"decrement\":1}",
            "\"add\"",
            "[1]",
            "{\"add\":\"a\"}",
            "",
            "one",
        ] {
            wire.post(path, operation).is(400).await.has_field("content-type", "text/plain");
        }
        wire.get(path).is(404).await;
        for (end, step, back) in [("9223372036854775807", "1", "-1"), ("-9223372036854775808", "-1", "1")] {
            wire.post(path, end).is(204).await;
            let text =
                "The operation was not carried out: the counter would pass a number of 64 bits with a sign\n";
            wire.post(path, step).is(400).await.has_text(text);
            let answered = wire.get(path).is(200).await;
            assert_eq!(answered.text(), format!(r#"{{"type":"counter","value":{end}}}"#));
            wire.post(path, back).is(204).await;
            let value = value(&wire, path).await.as_i64().expect("64 bits");
            wire.post(path, &value.wrapping_neg().to_string()).is(204).await;
        }
    })
    .await;
}

/// Riak §13
#[tokio::test]
async fn sets_take_and_remove_elements() {
    let path = "/types/sets/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for (operation, expected) in [
            (r#"{"add":"b"}"#, json!(["b"])),
            (r#"{"add_all":["c","a","é\"\\","b"]}"#, json!(["a", "b", "c", "é\"\\"])),
            (r#"{"remove":"c"}"#, json!(["a", "b", "é\"\\"])),
            (r#"{"remove_all":["a","é\"\\"]}"#, json!(["b"])),
            (r#"{"update":{"add":"x","remove":"b"}}"#, json!(["x"])),
            (r#"{"update":[{"add":"y"},{"add_all":["z"]}]}"#, json!(["x", "y", "z"])),
            (r#"{"add":"n","remove":"n"}"#, json!(["n", "x", "y", "z"])),
            (r#"{"add_all":[]}"#, json!(["n", "x", "y", "z"])),
        ] {
            wire.post(path, operation).is(204).await;
            assert_eq!(value(&wire, path).await, expected, "{operation}");
        }
        for operation in [
            "{}",
            "[]",
            "1",
            r#"{"add":1}"#,
            r#"{"add_all":"a"}"#,
            r#"{"increment":1}"#,
            r#"{"add":"a","x":1}"#,
        ] {
            let text = "The content has no valid operation for the datatype set\n";
            wire.post(path, operation).is(400).await.has_text(text).has_field("content-type", "text/plain");
        }
        wire.ask("POST", path).content("application/json", b"{\"add\":\"\xff\"}").is(400).await;
    })
    .await;
}

/// Riak §13: with a context, additions that it has not seen survive a removal.
#[tokio::test]
async fn a_removal_with_a_context_leaves_later_additions() {
    let path = "/types/sets/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        wire.post(path, r#"{"add_all":["a","b"]}"#).is(204).await;
        let seen = context(&wire, path).await;
        wire.post(path, r#"{"add":"a"}"#).is(204).await;
        wire.post(path, &json!({"remove_all": ["a", "b", "never"], "context": seen}).to_string())
            .is(204)
            .await;
        assert_eq!(value(&wire, path).await, json!(["a"]));
        wire.post(path, r#"{"remove":"a"}"#).is(204).await;
        assert_eq!(value(&wire, path).await, json!([]));
    })
    .await;
}

/// Riak §13: without a context a removal of what is absent is refused.
#[tokio::test]
async fn a_removal_of_what_is_absent_needs_a_context() {
    over_both(&types(), async |wire| {
        let path = "/types/sets/buckets/b/datatypes/k";
        wire.post(path, r#"{"remove":"a"}"#).is(400).await;
        wire.get(path).is(404).await;
        wire.post(path, r#"{"add":"a"}"#).is(204).await;
        let refused = wire.post(path, r#"{"add":"c","remove":"b"}"#).is(400).await;
        assert!(refused.text().starts_with("The operation was not carried out: "), "{}", refused.text());
        assert_eq!(value(&wire, path).await, json!(["a"]), "nothing of it was carried out");
        let with_context = json!({"remove": "b", "context": context(&wire, path).await}).to_string();
        wire.post(path, &with_context).is(204).await;
        let map = "/types/maps/buckets/b/datatypes/k";
        wire.post(map, r#"{"remove":["a_set"]}"#).is(400).await;
        wire.post(map, r#"{"update":{"a_set":{"remove":"x"}}}"#).is(400).await;
        wire.get(map).is(404).await;
    })
    .await;
}

/// Riak §13: bad contexts are 400.
#[tokio::test]
async fn a_bad_context_is_refused() {
    over_both(&types(), async |wire| {
        for (path, operation) in [
            ("/types/sets/buckets/b/datatypes/k", r#""add":"a""#),
            ("/types/maps/buckets/b/datatypes/k", r#""update":{"a_flag":"enable"}"#),
        ] {
            for context in ["\"?\"", "\"\"", "\"Ag==\"", "1", "null", "\"AQ\""] {
                let content = format!("{{{operation},\"context\":{context}}}");
                wire.post(path, &content).is(400).await.has_field("content-type", "text/plain");
            }
            wire.get(path).is(404).await;
            wire.post(path, &format!("{{{operation},\"context\":\"AQ==\"}}")).is(204).await;
        }
    })
    .await;
}

/// Riak §13
#[tokio::test]
async fn the_context_is_part_of_the_answer_unless_it_is_not_asked_for() {
    over_both(&types(), async |wire| {
        for (path, operation, has_context) in [
            ("/types/sets/buckets/b/datatypes/k", r#"{"add":"a"}"#, true),
            ("/types/maps/buckets/b/datatypes/k", r#"{"update":{"a_flag":"enable"}}"#, true),
            ("/types/gsets/buckets/b/datatypes/k", r#"{"add":"a"}"#, false),
            ("/types/hlls/buckets/b/datatypes/k", r#"{"add":"a"}"#, false),
            ("/types/counters/buckets/b/datatypes/k", "1", false),
        ] {
            let with_body = format!("{path}?returnbody=true");
            let without_context = format!("{path}?include_context=false");
            let neither = format!("{path}?returnbody=TRUE&include_context=False");
            let returned = wire.post(&with_body, operation).is(200).await.json();
            assert_eq!(returned["context"].is_string(), has_context, "{path}");
            wire.get(path).is(200).await.has_json(&returned);
            assert!(wire.post(&neither, operation).is(200).await.json()["context"].is_null());
            assert!(wire.get(&without_context).is(200).await.json()["context"].is_null());
            wire.post(&format!("{path}?returnbody=false"), operation).is(204).await.has_text("");
        }
    })
    .await;
}

/// Riak §13
#[tokio::test]
async fn sets_that_only_grow_have_no_removal() {
    let path = "/types/gsets/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        wire.post(path, r#"{"add_all":["b","a"]}"#).is(204).await;
        wire.post(path, r#"{"add":"c"}"#).is(204).await;
        wire.get(path).is(200).await.has_json(&json!({"type": "gset", "value": ["a", "b", "c"]}));
        for operation in [r#"{"remove":"a"}"#, r#"{"remove_all":["a"]}"#, r#"{"update":{"add":"a"}}"#, "1"] {
            wire.post(path, operation).is(400).await;
        }
        assert_eq!(value(&wire, path).await, json!(["a", "b", "c"]));
    })
    .await;
}

/// Riak §13: the estimate is exact for a handful, and a type has its precision.
#[tokio::test]
async fn different_elements_are_counted() {
    over_both(&types(), async |wire| {
        let path = "/types/hlls/buckets/b/datatypes/k";
        wire.post(path, r#"{"add":"a"}"#).is(204).await;
        wire.post(path, r#"{"add_all":["a","b","c","b"]}"#).is(204).await;
        wire.get(path).is(200).await.has_json(&json!({"type": "hll", "value": 3}));
        wire.post(path, r#"{"remove":"a"}"#).is(400).await;
        let many: Vec<String> = (0..20_000).map(|number| format!("e{number}")).collect();
        let many = json!({"add_all": many}).to_string();
        let mut errors = Vec::new();
        for path in ["/types/hlls/buckets/b/datatypes/many", "/types/coarse/buckets/b/datatypes/many"] {
            wire.post(path, &many).is(204).await;
            let estimate = value(&wire, path).await.as_f64().expect("a number");
            errors.push((estimate / 20_000.0 - 1.0).abs());
        }
        assert!(errors[0] < 0.04 && errors[1] < 1.1 && errors[0] != errors[1], "{errors:?}");
    })
    .await;
}

/// Riak §9.4, §13: a lower precision of the type holds for what is there.
#[tokio::test]
async fn a_count_goes_on_with_a_lower_precision() {
    let path = "/types/hlls/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        wire.post(path, r#"{"add_all":["a","b"]}"#).is(204).await;
        wire.put("/types/hlls/props", r#"{"props":{"hll_precision":10}}"#).is(204).await;
        wire.post(path, r#"{"add_all":["b","c"]}"#).is(204).await;
        assert_eq!(value(&wire, path).await, json!(3));
    })
    .await;
}

/// Riak §13
#[tokio::test]
async fn maps_have_fields_of_every_kind() {
    let path = "/types/maps/buckets/b/datatypes/k";
    let update = json!({"update": {
        "visits_counter": {"increment": 2},
        "name_register": "Ada",
        "title_register": {"assign": "Countess"},
        "on_flag": "enable",
        "off_flag": "disable",
        "tags_set": {"add_all": ["y", "x"]},
        "log_gset": {"add": "first"},
        "seen_hll": {"add_all": ["a", "b", "a"]},
        "inner_map": {"update": {"deep_map": {"update": {"a_b_counter": -1}}}},
    }});
    let expected = json!({
        "visits_counter": 2, "name_register": "Ada", "title_register": "Countess", "on_flag": true, "off_flag": false,
        "tags_set": ["x", "y"], "log_gset": ["first"], "seen_hll": 2,
        "inner_map": {"deep_map": {"a_b_counter": -1}},
    });
    over_both(&types(), async |wire| {
        wire.post(path, &update.to_string()).is(204).await;
        let read = wire.get(path).is(200).await.json();
        assert_eq!((&read["type"], &read["value"]), (&json!("map"), &expected));
        let remove = json!({"remove": ["tags_set", "on_flag"], "update": {"name_register": "Grace"}});
        wire.post(path, &remove.to_string()).is(204).await;
        wire.post(path, r#"{"remove":"inner_map"}"#).is(204).await;
        let left = json!({
            "visits_counter": 2, "name_register": "Grace", "title_register": "Countess", "off_flag": false,
            "log_gset": ["first"], "seen_hll": 2,
        });
        assert_eq!(value(&wire, path).await, left);
        wire.post(path, r#"{"update":{}}"#).is(204).await;
        assert_eq!(value(&wire, path).await, left);
    })
    .await;
}

/// Riak §13: a field that is removed and changed at once has the change alone.
#[tokio::test]
async fn a_field_that_is_removed_and_changed_begins_anew() {
    let path = "/types/maps/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        wire.post(path, r#"{"update":{"n_counter":40,"n_set":{"add":"a"}}}"#).is(204).await;
        wire.post(path, r#"{"update":{"n_counter":2},"remove":["n_counter"]}"#).is(204).await;
        assert_eq!(value(&wire, path).await, json!({"n_counter": 2, "n_set": ["a"]}));
        let seen = context(&wire, path).await;
        wire.post(path, r#"{"update":{"n_counter":3}}"#).is(204).await;
        wire.post(path, &json!({"remove": ["n_counter", "n_set"], "context": seen}).to_string())
            .is(204)
            .await;
        assert_eq!(value(&wire, path).await["n_set"], Value::Null);
        assert!(value(&wire, path).await["n_counter"].is_number(), "the later change survives");
    })
    .await;
}

/// Riak §13
#[tokio::test]
async fn maps_refuse_bad_fields_and_operations() {
    let path = "/types/maps/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for (operation, text) in [
            (r#"{"update":{"x":1}}"#, "The name of the field \"x\" does not end in the name of a datatype\n"),
            (
                r#"{"update":{"x_thing":1}}"#,
                "The name of the field \"x_thing\" does not end in the name of a datatype\n",
            ),
            (r#"{"remove":["x_"]}"#, "The name of the field \"x_\" does not end in the name of a datatype\n"),
            (r#"{"update":{"x_flag":true}}"#, "The content has no valid operation for the datatype flag\n"),
            (
                r#"{"update":{"x_register":1}}"#,
                "The content has no valid operation for the datatype register\n",
            ),
            (r#"{"update":{"x_set":1}}"#, "The content has no valid operation for the datatype set\n"),
            (
                r#"{"update":{"x_counter":"x"}}"#,
                "The content has no valid operation for the datatype counter\n",
            ),
            (
                r#"{"update":{"x_gset":{"remove":"a"}}}"#,
                "The content has no valid operation for the datatype gset\n",
            ),
            (r#"{"update":{"x_map":{}}}"#, "The content has no valid operation for the datatype map\n"),
            (r#"{"update":["x_set"]}"#, "The content has no valid operation for the datatype map\n"),
            (r#"{"remove":[1]}"#, "The content has no valid operation for the datatype map\n"),
            ("{}", "The content has no valid operation for the datatype map\n"),
            ("\"enable\"", "The content has no valid operation for the datatype map\n"),
        ] {
            wire.post(path, operation).is(400).await.has_text(text).has_field("content-type", "text/plain");
        }
        let deep = (0..33).fold(r#""enable""#.to_owned(), |inner, depth| {
            format!("{{\"update\":{{\"x_{}\":{inner}}}}}", if depth == 0 { "flag" } else { "map" })
        });
        wire.post(path, &deep).is(400).await;
        let beyond = "{\"update\":{\"x_map\":".repeat(10_000);
        wire.post(path, &beyond).is(400).await;
        wire.get(path).is(404).await;
    })
    .await;
}

/// Removals of many elements take time by their number, and not by its square.
#[tokio::test]
async fn many_elements_are_removed_at_once() {
    let path = "/types/sets/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        let many: Vec<String> = (0..60_000).map(|number| number.to_string()).collect();
        wire.post(path, &json!({"add_all": many}).to_string()).is(204).await;
        let content = json!({"remove_all": many, "add_all": ["x"]}).to_string();
        wire.post(path, &content).is(204).await;
        assert_eq!(value(&wire, path).await, json!(["x"]));
    })
    .await;
}
