//! Counters of buckets without a type, over HTTP/1.1 and HTTP/2.

use std::sync::Arc;

use crate::support::resources::{Kept, Wire, over_both};
use serde_json::json;

const PATH: &str = "/buckets/b/counters/k";

async fn allow_mult(wire: &Wire) {
    wire.put("/buckets/b/props", r#"{"props":{"allow_mult":true}}"#).is(204).await;
}

/// Riak §12
#[tokio::test]
async fn counters_count() {
    over_both(&[], async |wire| {
        allow_mult(&wire).await;
        wire.get(PATH).is(404).await.has_text("not found\n").has_field("content-type", "text/plain");
        for (content, value) in [("5", "5"), ("+3", "8"), ("-10", "-2"), ("0", "-2"), ("007", "5")] {
            wire.ask("POST", PATH)
                .content("", content)
                .is(204)
                .await
                .has_text("")
                .has_field("content-type", "text/plain");
            wire.get(PATH).is(200).await.has_text(value).has_field("content-type", "text/plain");
        }
        wire.ask("POST", &format!("{PATH}?returnvalue=true")).content("", "1").is(200).await.has_text("6");
        wire.ask("POST", &format!("{PATH}?returnvalue=false")).content("", "1").is(204).await.has_text("");
        wire.ask("POST", PATH).content("application/json", "1").is(204).await;
        wire.ask("POST", PATH).content("application/octet-stream", "1").is(204).await;
        wire.get(&format!("{PATH}/")).is(200).await.has_text("9");
    })
    .await;
}

/// Riak §12
#[tokio::test]
async fn only_whole_numbers_are_taken() {
    over_both(&[], async |wire| {
        allow_mult(&wire).await;
        for content in [
            "",
            "one",
            " 1",
            "1 ",
            "1\n",
            "1.5",
            "1e3",
            "0x1",
            "--1",
            "+",
            "9223372036854775808",
            "\"1\"",
            "{\"increment\":1}",
        ] {
            wire.ask("POST", PATH).content("", content).is(400).await.has_field("content-type", "text/plain");
        }
        wire.ask("POST", PATH).content("", b"\xff").is(400).await;
        wire.ask("POST", PATH).content("", "1".repeat(5000)).is(413).await;
        wire.get(PATH).is(404).await;
        wire.ask("POST", PATH).content("", "9223372036854775807").is(204).await;
        wire.ask("POST", PATH).content("", "-9223372036854775808").is(204).await;
        wire.get(PATH).is(200).await.has_text("-1");
    })
    .await;
}

/// Riak §12
#[tokio::test]
async fn a_bucket_without_siblings_has_no_counters() {
    over_both(&[], async |wire| {
        let text = "Counters require bucket property 'allow_mult=true'";
        wire.ask("POST", PATH)
            .content("", "1")
            .is(409)
            .await
            .has_text(text)
            .has_field("content-type", "text/plain");
        wire.ask("POST", PATH).content("", "x").is(400).await;
        wire.get(PATH).is(404).await;
        allow_mult(&wire).await;
        wire.ask("POST", PATH).content("", "1").is(204).await;
        wire.delete("/buckets/b/props").is(204).await;
        wire.ask("POST", PATH).content("", "1").is(409).await;
        wire.get(PATH).is(200).await.has_text("1");
    })
    .await;
}

/// Riak §12
#[tokio::test]
async fn other_methods_are_refused() {
    over_both(&[], async |wire| {
        for method in ["HEAD", "PUT", "DELETE"] {
            let answered = wire.ask(method, PATH).is(405).await;
            let allow = answered.field("allow").expect("the methods").to_owned();
            assert!(allow.contains("GET") && allow.contains("POST") && !allow.contains("PUT"), "{allow}");
        }
        wire.get("/types/default/buckets/b/counters/k").is(404).await;
    })
    .await;
}

/// Riak §4, §1.7
#[tokio::test]
async fn parameters_and_accept_are_checked() {
    over_both(&[], async |wire| {
        allow_mult(&wire).await;
        for query in ["w=x", "dw=4", "returnvalue=2", "timeout=x", "r=9"] {
            wire.ask("POST", &format!("{PATH}?{query}")).content("", "1").is(400).await;
        }
        wire.get(&format!("{PATH}?r=x")).is(400).await;
        wire.ask("POST", PATH).content("", "1").field("accept", "application/json").is(406).await;
        wire.get(PATH).field("accept", "application/json").is(404).await;
        wire.ask("POST", &format!("{PATH}?w=all&dw=1&pw=one&timeout=500")).content("", "1").is(204).await;
        wire.get(PATH).field("accept", "application/json").is(406).await;
        wire.get(PATH)
            .field("accept", "multipart/mixed, application/json, */*;q=0.5")
            .is(200)
            .await
            .has_text("1");
    })
    .await;
}

/// Riak §12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_lose_nothing() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let wire = Arc::new(Wire::open(&engine, &[], is_http2).await);
        allow_mult(&wire).await;
        let writers = [1, 2].map(|_| {
            let wire = Arc::clone(&wire);
            tokio::spawn(async move {
                for _ in 0..200 {
                    wire.ask("POST", PATH).content("", "1").is(204).await;
                }
            })
        });
        for writer in writers {
            writer.await.expect("no panic");
        }
        wire.get(PATH).is(200).await.has_text("400");
        let again = Wire::open(&engine, &[("t", json!({}))], is_http2).await;
        again
            .ask("POST", &format!("{PATH}?returnvalue=true"))
            .content("", "-1")
            .is(200)
            .await
            .has_text("399");
    }
}
