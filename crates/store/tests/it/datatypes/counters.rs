//! Counters of buckets without a type: what the cases of `wire` cannot say.

use std::sync::Arc;

use crate::support::resources::{Kept, Wire};
use serde_json::json;

const PATH: &str = "/buckets/b/counters/k";

async fn allow_mult(wire: &Wire) {
    wire.put("/buckets/b/props", r#"{"props":{"allow_mult":true}}"#).is(204).await;
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
