//! Queries of secondary indexes that are answered in parts, that fail on the way, and that nobody reads (Riak
//! §11.4, §11.6).

use crate::support::broken::Broken;
use crate::support::seeded::{Seed, check, client, clients, get, json, open, put, put_typed, servers, text};
use alula::Response;
use alula::testing::Wire;
use alula_store::Store;
use alula_store::engine::{EngineError, Memory};

/// Objects whose names are in an index.
async fn people() -> Store<Memory> {
    let store = open(Memory::new()).await;
    put(&store, "b", "k1", Seed::new(&[("name_bin", "alice")])).await;
    put(&store, "b", "k2", Seed::new(&[("name_bin", "bob")])).await;
    put(&store, "b", "k3", Seed::new(&[("name_bin", "bob"), ("name_bin", "carol")])).await;
    put(&store, "b", "k4", Seed::new(&[("name_bin", "\u{fc}")])).await;
    put_typed(&store, "maps", "b", "x1", Seed::new(&[("name_bin", "alice")])).await;
    store
}

/// The parts of a streamed answer, each a header section and JSON, split as RFC 2046 §5.1.1 has it.
async fn parts(response: &mut Response) -> Vec<String> {
    let media_type = response.content_type().expect("a media type").to_owned();
    let boundary = media_type.strip_prefix("multipart/mixed;boundary=").expect("parts").to_owned();
    assert!(boundary.len() >= 20 && boundary.bytes().all(|letter| letter.is_ascii_alphanumeric()));
    let content = response.text().await.expect("whole content");
    let whole = content.strip_suffix(&format!("\r\n--{boundary}--\r\n")).expect("an end");
    let line = format!("\r\n--{boundary}\r\n");
    let mut parts = whole.split(&*line);
    assert_eq!(parts.next(), Some(""), "{content}");
    let json = parts.map(|part| part.strip_prefix("Content-Type: application/json\r\n\r\n").expect("JSON"));
    json.map(str::to_owned).collect()
}

/// Riak §11.4: batches, then the continuation, then the end.
#[tokio::test]
async fn results_are_streamed_in_parts() {
    for client in clients(&people().await) {
        for (path, expected) in [
            ("/buckets/b/index/name_bin/bob?stream=true", &[r#"{"keys":["k2","k3"]}"#][..]),
            (
                "/buckets/b/index/name_bin/a/c?stream=true&return_terms=true",
                &[r#"{"results":[{"alice":"k1"},{"bob":"k2"},{"bob":"k3"}]}"#],
            ),
            (
                "/buckets/b/index/name_bin/a/z?stream=true&max_results=2",
                &[r#"{"keys":["k1","k2"]}"#, r#"{"continuation":"AQNib2JrMg"}"#],
            ),
            ("/buckets/b/index/$bucket/b?stream=TRUE", &[r#"{"keys":["k1","k2","k3","k4"]}"#]),
            ("/buckets/b/index/name_bin/x/y?stream=true", &[]),
            ("/buckets/b/index/name_bin/a/z?stream=true&term_regex=x&max_results=1", &[]),
            ("/types/maps/buckets/b/index/$key/a/z?stream=true&stream=false", &[r#"{"keys":["x1"]}"#]),
        ] {
            let mut response = get(&client, path).await;
            assert_eq!(response.status(), 200, "{path}");
            assert_eq!(parts(&mut response).await, expected, "{path}");
        }
        // Riak §11.6: another word is no wish for a stream.
        for word in ["false", "yes", ""] {
            let path = format!("/buckets/b/index/name_bin/carol?stream={word}");
            let mut response = get(&client, &path).await;
            assert_eq!(response.content_type(), Some("application/json"), "{word}");
            assert_eq!(response.text().await.expect("whole content"), r#"{"keys":["k3"]}"#);
        }
    }
}

/// Riak §11.4: a stream of many batches, whose parts are all of its results.
#[tokio::test]
async fn many_results_are_many_batches() {
    let store = large(Broken::never()).await;
    let expected: Vec<String> = (0..3_500).map(large_key).collect();
    for client in clients(&store) {
        let mut streamed = get(&client, "/buckets/b/index/n_int/0/9999?stream=true&max_results=3500").await;
        let mut parts = parts(&mut streamed).await;
        let continuation: serde_json::Value =
            serde_json::from_str(&parts.pop().expect("a part")).expect("JSON");
        assert!(continuation["continuation"].is_string());
        assert!(parts.len() > 3);
        assert_eq!(parts.iter().flat_map(|part| keys(part)).collect::<Vec<_>>(), expected);
        let mut whole = get(&client, "/buckets/b/index/n_int/0/9999").await;
        assert_eq!(keys(&whole.text().await.expect("whole content")), expected);
    }
}

fn large_key(number: usize) -> String {
    format!("{number:04}{}", "k".repeat(60))
}

async fn large(broken: Broken) -> Store<Broken> {
    let store = open(broken).await;
    for number in 0..3_500 {
        put(&store, "b", large_key(number), Seed::new(&[("n_int", number.to_string())])).await;
    }
    store
}

fn keys(json: &str) -> Vec<String> {
    let object: serde_json::Value = serde_json::from_str(json).expect("an object");
    let keys = object["keys"].as_array().expect("keys");
    keys.iter().map(|key| key.as_str().expect("text").to_owned()).collect()
}

/// Riak §11.6: the time is over before anything was sent; `timeout=0` is no limit.
#[tokio::test]
async fn time_that_runs_out_is_503() {
    let store = large(Broken::after(0, EngineError::TimedOut)).await;
    let cases = [
        text("/buckets/b/index/n_int/1/2", 503, "request timed out\n"),
        text("/buckets/b/index/n_int/1/2?stream=true", 503, "request timed out\n"),
        text("/buckets/b/index/$key/1/2?timeout=100000", 503, "request timed out\n"),
    ];
    check(&store, &cases).await;
    check(&people().await, &[json("/buckets/b/index/name_bin/carol?timeout=0", r#"{"keys":["k3"]}"#)]).await;
}

/// Riak §11.4: after a part was sent, an error is a part of its own before the end; without parts the content
/// breaks off.
#[tokio::test]
async fn a_query_that_fails_on_the_way_says_so() {
    let store = large(Broken::after(2, EngineError::TimedOut)).await;
    for client in clients(&store) {
        let mut response = get(&client, "/buckets/b/index/n_int/0/9999?stream=true").await;
        assert_eq!(response.status(), 200);
        let mut parts = parts(&mut response).await;
        assert_eq!(parts.pop().as_deref(), Some(r#"{"error":"timeout"}"#));
        assert_eq!(parts.iter().flat_map(|part| keys(part)).count(), 456, "two pages of 16 KiB");

        let mut response = get(&client, "/buckets/b/index/n_int/0/9999").await;
        assert_eq!(response.status(), 200);
        assert!(response.text().await.is_err());
    }
    for client in clients(&large(Broken::after(2, crate::support::broken::unreadable())).await) {
        let mut response = get(&client, "/buckets/b/index/n_int/0/9999?stream=true").await;
        let error = r#"{"error":"what is stored cannot be read: the record of an object is damaged"}"#;
        assert_eq!(parts(&mut response).await.pop().as_deref(), Some(error));
    }
    // What is short is not sent before it is whole, so that its failure has a status.
    for client in clients(&large(Broken::after(2, crate::support::broken::unreadable())).await) {
        let response = get(&client, "/buckets/b/index/n_int/0/9999?term_regex=").await;
        assert_eq!(response.status(), 400);
        let response = get(&client, "/buckets/b/index/$key/0/9?term_regex=^00").await;
        assert_eq!(response.status(), 500);
    }
}

/// A query is read no further than it is asked for, and not at all for a client that went away.
#[tokio::test(start_paused = true)]
async fn little_is_read() {
    let store = large(Broken::never()).await;
    for server in servers(&store) {
        let pages = store.engine().pages_read();
        let short = get(&client(&server), "/buckets/b/index/n_int/0/9999?max_results=10").await;
        assert!(short.content_length().is_some());
        assert_eq!(store.engine().pages_read() - pages, 1);

        let pages = store.engine().pages_read();
        let server = server.to_client(Wire::new().capacity(1_000).silent_after(2_000));
        let client = server.client();
        let mut response = get(&client, "/buckets/b/index/n_int/0/9999?stream=true").await;
        assert!(response.chunk().await.expect("content").is_some());
        drop((response, client));
        let ended = async {
            while store.engine().snapshots_held() > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(120), ended).await.expect("the query ends");
        assert!(store.engine().pages_read() - pages <= 16);
    }
}
