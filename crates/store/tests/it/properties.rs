//! Properties of buckets and types over HTTP/1.1 and HTTP/2.

use std::time::Duration;

use crate::support::resources::{Kept, Wire, config, over_both};
use alula_store::engine::Engine;
use serde_json::{Value, json};
use tokio::time::Instant;

fn types() -> Vec<(&'static str, Value)> {
    vec![
        ("plain", json!({})),
        ("no_siblings", json!({"allow_mult": false})),
        ("sets", json!({"datatype": "set"})),
        ("hlls", json!({"datatype": "hll", "hll_precision": 14})),
        ("write_once", json!({"write_once": true})),
    ]
}

fn untyped_defaults(name: &str) -> Value {
    json!({
        "name": name, "r": "quorum", "w": "quorum", "dw": "quorum", "rw": "quorum", "n_val": 3, "pr": 0, "pw": 0,
        "allow_mult": false, "node_confirms": 0, "last_write_wins": false, "notfound_ok": true,
        "dvv_enabled": false, "basic_quorum": false, "sync_on_write": "backend", "precommit": [], "postcommit": [],
        "old_vclock": 86400, "young_vclock": 20, "big_vclock": 50, "small_vclock": 50,
        "chash_keyfun": {"mod": "riak_core_util", "fun": "chash_std_keyfun"},
        "linkfun": {"mod": "riak_kv_wm_link_walker", "fun": "mapreduce_linkfun"},
    })
}

async fn props(wire: &Wire, path: &str) -> Value {
    wire.get(path).is(200).await.has_field("content-type", "application/json").json()["props"].take()
}

/// Riak §9.1
#[tokio::test]
async fn an_untyped_bucket_has_the_defaults() {
    over_both(&types(), async |wire| {
        wire.get("/buckets/b/props").is(200).await.has_json(&json!({"props": untyped_defaults("b")}));
        wire.get("/types/default/buckets/b/props")
            .is(200)
            .await
            .has_json(&json!({"props": untyped_defaults("b")}));
        wire.get("/buckets//b/props/").is(200).await.has_json(&json!({"props": untyped_defaults("b")}));
        assert_eq!(props(&wire, "/buckets/a%2Fb+c/props").await["name"], json!("a/b c"));
        wire.ask("HEAD", "/buckets/b/props")
            .is(200)
            .await
            .has_text("")
            .has_field("content-type", "application/json");
    })
    .await;
}

/// A content of 256 KiB once took 80 MB: an object of JSON takes some hundred times its bytes, and was
/// copied three times.
#[tokio::test]
async fn contents_have_a_bounded_number_of_values() {
    over_both(&types(), async |wire| {
        let many = |count: usize| json!({"props": {"other": vec![json!({"a": 1}); count]}}).to_string();
        let answer = wire.put("/buckets/b/props", &many(10_000)).is(400).await;
        answer.has_text("The content has more than 1024 values\n");
        wire.put("/buckets/b/props", &many(100)).is(204).await;
    })
    .await;
}

/// Riak §9.1
#[tokio::test]
async fn a_typed_bucket_has_siblings_and_what_its_type_sets() {
    over_both(&types(), async |wire| {
        let plain = props(&wire, "/types/plain/buckets/b/props").await;
        assert_eq!((&plain["allow_mult"], &plain["dvv_enabled"]), (&json!(true), &json!(true)));
        assert_eq!(plain["datatype"], Value::Null);
        assert_eq!(props(&wire, "/types/no_siblings/buckets/b/props").await["allow_mult"], json!(false));
        let sets = props(&wire, "/types/sets/buckets/b/props").await;
        assert_eq!((&sets["datatype"], &sets["name"]), (&json!("set"), &json!("b")));
        assert_eq!(props(&wire, "/types/hlls/buckets/b/props").await["hll_precision"], json!(14));
        assert_eq!(props(&wire, "/types/write_once/buckets/b/props").await["write_once"], json!(true));
    })
    .await;
}

/// Riak §2, §19: 404 with a text for types that were not made.
#[tokio::test]
async fn unknown_types_are_told() {
    over_both(&types(), async |wire| {
        let text = "Unknown bucket type: none\n";
        let body = r#"{"props":{"n_val":1}}"#;
        wire.get("/types/none/buckets/b/props")
            .is(404)
            .await
            .has_text(text)
            .has_field("content-type", "text/plain");
        wire.put("/types/none/buckets/b/props", body).is(404).await.has_text(text);
        wire.delete("/types/none/buckets/b/props").is(404).await.has_text(text);
        wire.get("/types/none/props").is(404).await.has_text(text);
        wire.put("/types/none/props", body).is(404).await.has_text(text);
    })
    .await;
}

/// Riak §9.2
#[tokio::test]
async fn a_put_changes_what_it_names() {
    over_both(&types(), async |wire| {
        let put = |body: &'static str| wire.put("/buckets/b/props", body);
        put(r#"{"props":{"n_val":1,"allow_mult":true}}"#)
            .is(204)
            .await
            .has_text("")
            .has_field("content-type", "application/json");
        put(r#"{"props":{"w":1,"r":"one","dw":0,"pr":"all","node_confirms":1}}"#)
            .is(204)
            .await
            .lacks_field("content-length");
        let mut expected = untyped_defaults("b");
        for (name, value) in [
            ("n_val", json!(1)),
            ("allow_mult", json!(true)),
            ("w", json!(1)),
            ("r", json!("one")),
            ("dw", json!(0)),
            ("pr", json!("all")),
            ("node_confirms", json!(1)),
        ] {
            expected[name] = value;
        }
        assert_eq!(props(&wire, "/buckets/b/props").await, expected);
        assert_eq!(props(&wire, "/buckets/c/props").await, untyped_defaults("c"));
        put(r#"{"props":{}}"#).is(204).await;
        assert_eq!(props(&wire, "/buckets/b/props").await, expected);
    })
    .await;
}

/// Riak §9.2: booleans are words in any case and numbers as well.
#[tokio::test]
async fn booleans_have_several_forms() {
    over_both(&types(), async |wire| {
        for (value, truth) in [
            ("true", true),
            ("\"FALSE\"", false),
            ("\"True\"", true),
            ("0", false),
            ("7", true),
            ("-1", false),
        ] {
            let body = format!("{{\"props\":{{\"notfound_ok\":{value}}}}}");
            wire.put("/buckets/b/props", &body).is(204).await;
            assert_eq!(props(&wire, "/buckets/b/props").await["notfound_ok"], json!(truth), "{value}");
        }
    })
    .await;
}

/// Riak §9.2
#[tokio::test]
async fn every_wrong_property_is_told_and_nothing_is_stored() {
    let cases = [
        ("allow_mult", "1.5", "not_boolean"),
        ("basic_quorum", "\"yes\"", "not_boolean"),
        ("last_write_wins", "null", "not_boolean"),
        ("notfound_ok", "[]", "not_boolean"),
        ("n_val", "0", "not_integer"),
        ("n_val", "\"3\"", "not_integer"),
        ("big_vclock", "-1", "not_integer"),
        ("old_vclock", "1.5", "not_integer"),
        ("small_vclock", "{}", "not_integer"),
        ("r", "0", "not_valid_quorum"),
        ("rw", "\"two\"", "not_valid_quorum"),
        ("w", "\"QUORUM\"", "not_valid_quorum"),
        ("dw", "-1", "not_valid_quorum"),
        ("pr", "\"\"", "not_valid_quorum"),
        ("pw", "1.5", "not_valid_quorum"),
        ("node_confirms", "true", "not_valid_quorum"),
        ("sync_on_write", "\"default\"", "not_valid_sync_param"),
        ("write_once", "true", "cannot be changed"),
        ("consistent", "true", "cannot be changed"),
        ("datatype", "\"set\"", "cannot be changed"),
        ("hll_precision", "3", "must be an integer from 4 to 16"),
        ("hll_precision", "15", "cannot grow"),
    ];
    over_both(&types(), async |wire| {
        for (name, value, reason) in cases {
            let body = format!("{{\"props\":{{\"{name}\":{value},\"young_vclock\":1}}}}");
            let answered = wire.put("/buckets/b/props", &body).is(400).await;
            answered.has_field("content-type", "application/json").has_json(&json!({name: reason}));
        }
        let all = r#"{"props":{"n_val":0,"r":"x","allow_mult":"y","w":1}}"#;
        let reasons = json!({"n_val": "not_integer", "r": "not_valid_quorum", "allow_mult": "not_boolean"});
        wire.put("/buckets/b/props", all).is(400).await.has_json(&reasons);
        assert_eq!(props(&wire, "/buckets/b/props").await, untyped_defaults("b"));
    })
    .await;
}

/// Riak §9.2
#[tokio::test]
async fn last_write_wins_excludes_dots() {
    over_both(&types(), async |wire| {
        let refused = json!({"dvv_enabled": "must be false where last_write_wins is true"});
        let lww = r#"{"props":{"last_write_wins":true}}"#;
        wire.put("/buckets/b/props", lww).is(204).await;
        wire.put("/buckets/b/props", r#"{"props":{"dvv_enabled":true}}"#).is(400).await.has_json(&refused);
        wire.put("/types/plain/buckets/b/props", lww).is(400).await.has_json(&refused);
        wire.put("/types/plain/buckets/b/props", r#"{"props":{"last_write_wins":true,"dvv_enabled":false}}"#)
            .is(204)
            .await;
    })
    .await;
}

/// Riak §9.2: 415, 413 and 400 for what is no list of properties.
#[tokio::test]
async fn content_has_one_type_and_one_form() {
    let list = r#"{"props":{"n_val":1}}"#;
    over_both(&types(), async |wire| {
        for media_type in ["text/plain", "application/jsonx", "json", ""] {
            wire.ask("PUT", "/buckets/b/props").content(media_type, list).is(415).await;
        }
        for media_type in ["application/json; charset=utf-8", "Application/JSON"] {
            wire.ask("PUT", "/buckets/b/props").content(media_type, list).is(204).await;
        }
        for content in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"props":[]}"#,
            r#"{"props":null}"#,
            r#"{"n_val":1}"#,
            "{\"props\":{}} x",
        ] {
            let answered = wire.put("/buckets/b/props", content).is(400).await;
            assert!(
                answered.has_field("content-type", "text/plain").text().contains("{\"props\":"),
                "{content}"
            );
        }
        wire.ask("PUT", "/buckets/b/props")
            .content("application/json", b"{\"props\":{\"x\":\"\xff\"}}")
            .is(400)
            .await;
        let long = format!("{{\"props\":{{\"x\":\"{}\"}}}}", "y".repeat(256 * 1024));
        wire.put("/buckets/b/props", &long).is(413).await;
    })
    .await;
}

/// Riak §1.5, §1.7
#[tokio::test]
async fn clients_that_take_no_json_are_refused_before_anything_is_stored() {
    over_both(&types(), async |wire| {
        wire.get("/buckets/b/props").field("accept", "text/plain").is(406).await;
        wire.put("/buckets/b/props", r#"{"props":{"n_val":1}}"#).field("accept", "text/*").is(406).await;
        let python = "multipart/mixed, application/json, */*;q=0.5";
        let list = wire.get("/buckets/b/props").field("accept", python).is(200).await.json();
        assert_eq!(list["props"]["n_val"], json!(3));
        wire.get("/types/none/props").field("accept", "text/plain").is(404).await;
    })
    .await;
}

/// Riak §9.2: unknown names are kept as they are, in bounds.
#[tokio::test]
async fn unknown_properties_are_kept_as_they_are() {
    over_both(&types(), async |wire| {
        let body = r#"{"props":{"search":true,"repl":"fullsync","backend":{"a":[1,2.5,null,"é"]},"young_vclock":"soon"}}"#;
        wire.put("/buckets/b/props", body).is(204).await;
        let props = props(&wire, "/buckets/b/props").await;
        assert_eq!(props["backend"], json!({"a": [1, 2.5, null, "é"]}));
        assert_eq!((&props["search"], &props["repl"]), (&json!(true), &json!("fullsync")));
        assert_eq!(props["young_vclock"], json!("soon"));
        let many: String = (0..33).map(|number| format!("\"x{number}\":1,")).collect();
        let many = format!("{{\"props\":{{{many}\"n_val\":1}}}}");
        let reasons = wire.put("/buckets/many/props", &many).is(400).await.json();
        assert_eq!(reasons.as_object().map(serde_json::Map::len), Some(33));
        let long = format!("{{\"props\":{{\"x\":\"{}\"}}}}", "y".repeat(4096));
        wire.put("/buckets/long/props", &long).is(400).await;
    })
    .await;
}

/// Riak §9.2: clients send back what they were given.
#[tokio::test]
async fn a_whole_list_can_be_sent_back() {
    over_both(&types(), async |wire| {
        for path in [
            "/buckets/b/props",
            "/types/sets/buckets/b/props",
            "/types/hlls/props",
            "/types/write_once/props",
        ] {
            let list = wire.get(path).is(200).await.json();
            wire.put(path, &list.to_string()).is(204).await;
            wire.get(path).is(200).await.has_json(&list);
        }
    })
    .await;
}

/// Riak §9.3
#[tokio::test]
async fn a_delete_brings_the_defaults_back() {
    over_both(&types(), async |wire| {
        wire.put("/buckets/b/props", r#"{"props":{"n_val":1,"x":2}}"#).is(204).await;
        wire.put("/types/plain/buckets/b/props", r#"{"props":{"n_val":1}}"#).is(204).await;
        wire.delete("/buckets/b/props").is(204).await.has_text("").has_field("content-type", "text/html");
        assert_eq!(props(&wire, "/buckets/b/props").await, untyped_defaults("b"));
        assert_eq!(props(&wire, "/types/plain/buckets/b/props").await["n_val"], json!(1));
        wire.delete("/buckets/b/props").is(204).await;
    })
    .await;
}

/// Riak §9.3
#[tokio::test]
async fn the_older_path_has_no_delete() {
    over_both(&types(), async |wire| {
        let answered = wire.delete("/riak/b").is(405).await;
        assert!(
            answered.field("allow").is_some_and(|allow| allow.contains("PUT") && !allow.contains("DELETE"))
        );
        wire.delete("/types/plain/props").is(405).await;
        wire.post("/buckets/b/props", "{}").is(405).await;
    })
    .await;
}

/// Riak §9.1, §9.4
#[tokio::test]
async fn a_change_of_a_type_shows_through() {
    over_both(&types(), async |wire| {
        let n_val = async |bucket: &str| {
            props(&wire, &format!("/types/plain/buckets/{bucket}/props")).await["n_val"].take()
        };
        wire.put("/types/plain/buckets/own/props", r#"{"props":{"n_val":5}}"#).is(204).await;
        wire.put("/types/plain/props", r#"{"props":{"n_val":2}}"#)
            .is(204)
            .await
            .has_field("content-type", "application/json");
        assert_eq!([n_val("own").await, n_val("other").await], [json!(5), json!(2)]);
        wire.delete("/types/plain/buckets/own/props").is(204).await;
        assert_eq!(n_val("own").await, json!(2));
        assert_eq!(props(&wire, "/buckets/b/props").await["n_val"], json!(3));
        wire.put("/types/default/props", r#"{"props":{"n_val":1}}"#).is(204).await;
        assert_eq!(props(&wire, "/buckets/b/props").await["n_val"], json!(1));
    })
    .await;
}

/// Riak §9.4
#[tokio::test]
async fn a_type_is_shown_as_active() {
    over_both(&types(), async |wire| {
        let sets = props(&wire, "/types/sets/props").await;
        assert_eq!(
            (&sets["active"], &sets["datatype"], &sets["name"]),
            (&json!(true), &json!("set"), &json!("sets"))
        );
        assert!(sets["claimant"].is_string() && sets["allow_mult"] == json!(true));
        assert_eq!(props(&wire, "/types/default/props").await["allow_mult"], json!(false));
        wire.ask("HEAD", "/types/sets/props").is(200).await.has_text("");
    })
    .await;
}

/// Riak §9.4
#[tokio::test]
async fn some_properties_of_types_stay() {
    let cases = [
        ("sets", r#"{"datatype":"map"}"#, json!({"datatype": "cannot be changed"})),
        ("plain", r#"{"datatype":"set"}"#, json!({"datatype": "cannot be changed"})),
        ("plain", r#"{"write_once":true}"#, json!({"write_once": "cannot be changed"})),
        ("write_once", r#"{"write_once":false}"#, json!({"write_once": "cannot be changed"})),
        ("plain", r#"{"consistent":true}"#, json!({"consistent": "cannot be changed"})),
        ("sets", r#"{"allow_mult":false}"#, json!({"allow_mult": "must be true where there is a datatype"})),
        ("hlls", r#"{"hll_precision":15}"#, json!({"hll_precision": "cannot grow"})),
        ("hlls", r#"{"hll_precision":3}"#, json!({"hll_precision": "must be an integer from 4 to 16"})),
    ];
    over_both(&types(), async |wire| {
        for (name, list, reasons) in &cases {
            let path = format!("/types/{name}/props");
            wire.put(&path, &format!("{{\"props\":{list}}}")).is(400).await.has_json(reasons);
        }
        for (precision, status) in [(14, 204), (12, 204), (13, 400), (4, 204)] {
            let body = format!("{{\"props\":{{\"hll_precision\":{precision}}}}}");
            wire.put("/types/hlls/props", &body).is(status).await;
        }
        wire.put("/types/sets/buckets/b/props", r#"{"props":{"allow_mult":false}}"#).is(400).await;
        wire.put("/types/plain/props", r#"{"props":{"allow_mult":false}}"#).is(204).await;
    })
    .await;
}

/// Riak §9.1: what is set outlives the process.
#[tokio::test]
async fn properties_are_there_after_a_restart() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let wire = Wire::open(&engine, &types(), is_http2).await;
        wire.put("/buckets/b%00/props", r#"{"props":{"n_val":1,"x":{"y":[]}}}"#).is(204).await;
        wire.put("/types/plain/props", r#"{"props":{"r":"one"}}"#).is(204).await;
        wire.put("/types/plain/buckets/c/props", r#"{"props":{"w":2}}"#).is(204).await;
        wire.put("/buckets/gone/props", r#"{"props":{"w":2}}"#).is(204).await;
        wire.delete("/buckets/gone/props").is(204).await;
        let again = Wire::open(&engine, &types(), is_http2).await;
        for path in [
            "/buckets/b%00/props",
            "/types/plain/props",
            "/types/plain/buckets/c/props",
            "/buckets/gone/props",
        ] {
            assert_eq!(props(&again, path).await, props(&wire, path).await, "{path}");
        }
        assert_eq!(props(&again, "/buckets/b%00/props").await["x"], json!({"y": []}));
        assert_eq!(props(&again, "/types/plain/buckets/c/props").await["r"], json!("one"));
    }
}

/// Riak §9.4, §19: the data type of a type is what it was first.
#[tokio::test]
async fn a_store_does_not_open_with_another_datatype() {
    let engine = Kept::default();
    Wire::open(&engine, &types(), false).await;
    let other = config(&[("sets", json!({"datatype": "counter"}))]);
    let error = alula_store::Store::open(engine, other).await.expect_err("another data type");
    assert_eq!(error.to_string(), "the datatype of the bucket type sets was set and cannot become counter");
}

/// Riak §9.2: members that are set at once are all there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_lose_nothing() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let wire = std::sync::Arc::new(Wire::open(&engine, &types(), is_http2).await);
        let writers = ["a", "b"].map(|writer| {
            let wire = std::sync::Arc::clone(&wire);
            tokio::spawn(async move {
                for number in 0..15 {
                    let body = format!("{{\"props\":{{\"{writer}{number}\":{number}}}}}");
                    wire.put("/buckets/b/props", &body).is(204).await;
                }
            })
        });
        for writer in writers {
            writer.await.expect("no panic");
        }
        for wire in [&*wire, &Wire::open(&engine, &types(), is_http2).await] {
            let props = props(wire, "/buckets/b/props").await;
            assert!((0..15).all(|number| props[format!("a{number}")] == json!(number)));
            assert!((0..15).all(|number| props[format!("b{number}")] == json!(number)));
        }
    }
}

/// Riak §9.2: the number of buckets with properties of their own is bounded.
#[tokio::test]
async fn buckets_with_properties_of_their_own_are_bounded() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        for number in 0..10_000_u32 {
            let name = [b"\x02\x07default\x04", &number.to_be_bytes()[..]].concat();
            engine.set(&name, Some(b"{\"n_val\":1}"), deadline).await.expect("kept");
        }
        let wire = Wire::open(&engine, &types(), is_http2).await;
        wire.put("/buckets/one-more/props", r#"{"props":{"n_val":2}}"#).is(507).await;
        wire.put("/buckets/%00%00%00%01/props", r#"{"props":{"n_val":2}}"#).is(204).await;
        wire.delete("/buckets/%00%00%00%01/props").is(204).await;
        wire.put("/buckets/one-more/props", r#"{"props":{"n_val":2}}"#).is(204).await;
        assert_eq!(props(&wire, "/buckets/one-more/props").await["n_val"], json!(2));
    }
}
