//! Lists of keys and of buckets over HTTP (Riak §10).

use std::time::Duration;

use crate::support::broken::Broken;
use crate::support::seeded::{Seed, check, clients, config, get, json, open, put, put_typed, servers};
use alula::testing::Wire;
use alula_store::Store;
use alula_store::engine::{EngineError, Memory};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const NAMES: [&str; 3] = ["a", "b/c", "d e"];

async fn small() -> Store<Memory> {
    let store = open(Memory::new()).await;
    for key in NAMES {
        put(&store, "b", key, Seed::plain()).await;
    }
    put(&store, "one", "k", Seed::plain()).await;
    put_typed(&store, "maps", "typed", "t", Seed::plain()).await;
    put_typed(&store, "maps", "b", "other", Seed::plain()).await;
    store
}

#[tokio::test]
async fn buckets_are_those_that_hold_a_key() {
    let cases = [
        // Riak §10.2: only buckets with a key, of one type.
        json("/buckets?buckets=true", r#"{"buckets":["b","one"]}"#),
        json("/types/default/buckets?buckets=true", r#"{"buckets":["b","one"]}"#),
        json("/types/maps/buckets?buckets=true", r#"{"buckets":["b","typed"]}"#),
        json("/types/sets/buckets?buckets=true", r#"{"buckets":[]}"#),
        json("/buckets?buckets=stream", r#"{"buckets":["b","one"]}{"buckets":[]}"#),
        json("/types/sets/buckets?buckets=stream", r#"{"buckets":[]}"#),
        // Riak §19: without the parameter, and with another value.
        json("/buckets", r#"{"buckets":[]}"#),
        json("/buckets?buckets=false", r#"{"buckets":[]}"#),
        json("/types/maps/buckets", r#"{"buckets":[]}"#),
        // Riak §10.4: the path of older clients.
        json("/riak?buckets=true", r#"{"buckets":["b","one"]}"#),
        json("/riak?buckets=stream", r#"{"buckets":["b","one"]}{"buckets":[]}"#),
        json("/riak", r#"{"buckets":[]}"#),
    ];
    check(&small().await, &cases).await;
}

/// Riak §10.1: no time is left, which is the last object.
#[tokio::test]
async fn a_list_without_time_ends_with_an_error() {
    let mut config = config();
    config.timeout_max = Duration::ZERO;
    let store = Store::open(Memory::new(), config).await.expect("an engine that opens");
    let cases = [
        json("/buckets/b/keys?keys=true", r#"{"error":"timeout"}"#),
        json("/buckets/b/keys?keys=stream&timeout=100000", r#"{"error":"timeout"}"#),
        json("/buckets?buckets=true&timeout=0", r#"{"error":"timeout"}"#),
        json("/buckets?buckets=stream", r#"{"error":"timeout"}"#),
        json("/riak/b?keys=stream&props=false", r#"{"error":"timeout"}"#),
    ];
    check(&store, &cases).await;
}

/// Riak §10.4: properties come first, as a member or as an object.
#[tokio::test]
async fn older_clients_find_properties_before_keys() {
    for client in clients(&small().await) {
        let mut whole = get(&client, "/riak/b?keys=true").await;
        assert_eq!((whole.status().as_u16(), whole.content_type()), (200, Some("application/json")));
        let whole: serde_json::Value = whole.json().await.expect("one object");
        assert_eq!(whole["keys"], serde_json::json!(NAMES));
        assert_eq!(whole["props"]["name"], "b");

        let streamed = get(&client, "/riak/b?keys=stream").await.text().await.expect("whole content");
        let objects = serde_json::Deserializer::from_str(&streamed).into_iter::<serde_json::Value>();
        let objects: Vec<_> = objects.collect::<Result<_, _>>().expect("a run of objects");
        assert_eq!(objects.len(), 3, "{streamed}");
        assert_eq!(objects[0]["props"], whole["props"]);
        assert_eq!(objects[1], serde_json::json!({"keys": NAMES}));
        assert_eq!(objects[2], serde_json::json!({"keys": []}));
    }
}

/// Riak §1.2: segments are bytes. JSON is text, so that other bytes have characters that stand for them.
#[tokio::test]
async fn any_bytes_are_listed() {
    let store = open(Memory::new()).await;
    let keys: [&[u8]; 6] = [b"\0", b"\"\\", "\u{fc}".as_bytes(), b"}", b"\xff", b"\xed\xa0\x80"];
    for key in keys {
        put_typed(&store, "default", b"b\xfe", key, Seed::plain()).await;
    }
    let listed = "\"\\u0000\",\"\\\"\\\\\",\"\\u007d\",\"\u{fc}\",\"\u{efed}\u{efa0}\u{ef80}\",\"\u{efff}\"";
    for client in clients(&store) {
        for (path, content) in [
            ("/buckets/b%FE/keys?keys=true", format!("{{\"keys\":[{listed}]}}")),
            ("/buckets/b%fe/keys?keys=stream", format!("{{\"keys\":[{listed}]}}{{\"keys\":[]}}")),
            ("/buckets?buckets=true", "{\"buckets\":[\"b\u{effe}\"]}".to_owned()),
        ] {
            assert_eq!(get(&client, path).await.text().await.expect("whole content"), content, "{path}");
        }
    }
}

/// Riak §10.1: clients cut a stream at `}`, whatever is in a key.
#[tokio::test]
async fn a_stream_can_be_cut_at_braces() {
    let store = open(Memory::new()).await;
    let keys: Vec<String> = (0..3_000).map(|number| format!("{{{number:05}}}\"}}]")).collect();
    for key in &keys {
        put(&store, "b", key, Seed::plain()).await;
    }
    for client in clients(&store) {
        let text = get(&client, "/buckets/b/keys?keys=stream").await.text().await.expect("whole content");
        let mut found = Vec::new();
        for object in text.split_inclusive('}') {
            let object: serde_json::Value = serde_json::from_str(object).expect("an object");
            let keys = object["keys"].as_array().expect("keys");
            found.extend(keys.iter().map(|key| key.as_str().expect("text").to_owned()));
        }
        assert_eq!(found, keys);
        assert!(text.ends_with(r#"{"keys":[]}"#));
    }
}

/// Riak §10.1: one chunk for each object; §1.1: a stream is chunked, other content has a length.
#[tokio::test]
async fn a_chunk_is_an_object() {
    let store = open(Memory::new()).await;
    for number in 0..2_500 {
        put(&store, "b", format!("key-{number:04}"), Seed::plain()).await;
    }
    let [server, _] = servers(&store);
    for (path, objects) in [
        ("/buckets/b/keys?keys=stream", 4),
        ("/riak/b?keys=stream&props=false", 5),
        ("/buckets?buckets=stream", 2),
    ] {
        let mut peer = server.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        peer.write_all(request.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        peer.read_to_string(&mut answer).await.expect("an answer");
        let (head, content) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.to_ascii_lowercase().contains("transfer-encoding: chunked"), "{head}");
        let chunks = chunks(content);
        assert_eq!(chunks.len(), objects, "{path}");
        for chunk in chunks {
            let object: serde_json::Value = serde_json::from_str(chunk).expect("a whole object");
            assert!(object.is_object());
        }
    }
    let whole = get(&crate::support::seeded::client(&server), "/buckets/one/keys?keys=true").await;
    assert_eq!(whole.content_length(), Some(r#"{"keys":[]}"#.len() as u64));
}

fn chunks(mut content: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    loop {
        let (len, rest) = content.split_once("\r\n").expect("the length of a chunk");
        let len = usize::from_str_radix(len, 16).expect("a length");
        if len == 0 {
            assert_eq!(rest, "\r\n");
            return chunks;
        }
        let (chunk, rest) = rest.split_at(len);
        chunks.push(chunk);
        content = rest.strip_prefix("\r\n").expect("the end of a chunk");
    }
}

/// Riak §10.1, §3.5: a key is listed until its object is removed.
#[tokio::test]
async fn deleted_objects_may_be_listed_until_they_are_removed() {
    let store = small().await;
    put(&store, "one", "k", Seed::deleted()).await;
    put(&store, "b", "a", Seed::plain().sibling()).await;
    let cases = [
        json("/buckets/one/keys?keys=true", r#"{"keys":["k"]}"#),
        // An object with siblings has one key.
        json("/buckets/b/keys?keys=true", r#"{"keys":["a","b/c","d e"]}"#),
    ];
    check(&store, &cases).await;
}

/// Keys of the greatest length, which fill pages by themselves.
#[tokio::test]
async fn the_longest_keys_are_listed() {
    let store = open(Memory::new()).await;
    let keys: Vec<String> = (0..20).map(|number| format!("{number:02}{}", "k".repeat(65_534))).collect();
    for key in &keys {
        put(&store, "b", key, Seed::plain()).await;
    }
    for client in clients(&store) {
        for path in ["/buckets/b/keys?keys=true", "/buckets/b/keys?keys=stream"] {
            let text = get(&client, path).await.text().await.expect("whole content");
            let objects = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
            let mut found = Vec::new();
            for object in objects.map(|object| object.expect("JSON")) {
                let listed = object["keys"].as_array().expect("keys").clone();
                found.extend(listed.into_iter().map(|key| key.as_str().expect("text").to_owned()));
            }
            assert_eq!(found, keys, "{path}");
        }
    }
}

async fn large(broken: Broken) -> Store<Broken> {
    let store = open(broken).await;
    for number in 0..3_500 {
        put(&store, "b", format!("{number:04}{}", "k".repeat(12)), Seed::plain()).await;
    }
    store
}

/// Riak §10.1: a list whose time runs out ends with an object that says so, and what is one object stays open
/// before it.
#[tokio::test]
async fn time_that_runs_out_is_the_last_object() {
    let store = large(Broken::after(2, EngineError::TimedOut)).await;
    for client in clients(&store) {
        let whole = get(&client, "/buckets/b/keys?keys=true").await.text().await.expect("whole content");
        assert!(whole.starts_with("{\"keys\":[\"0000k") && whole.ends_with("k\"{\"error\":\"timeout\"}"));
        assert_eq!(whole.matches(['}', ']']).count(), 1);
        assert_eq!(whole.matches("k\"").count(), 2_000, "all that was read is sent");
        let streamed = get(&client, "/buckets/b/keys?keys=stream").await.text().await.expect("whole content");
        assert!(
            streamed.starts_with("{\"keys\":[\"0000k") && streamed.ends_with("k\"]}{\"error\":\"timeout\"}")
        );
    }
    let cases = [json("/riak/b?keys=true", r#"{"error":"timeout"}"#)];
    check(&large(Broken::after(0, EngineError::TimedOut)).await, &cases).await;
}

/// Riak §1.12: an engine that fails at once has a status of its own; later it is the last object.
#[tokio::test]
async fn a_failure_of_the_engine_is_told() {
    for client in clients(&large(Broken::after(0, crate::support::broken::unreadable())).await) {
        let mut response = get(&client, "/buckets/b/keys?keys=true").await;
        assert_eq!(response.status(), 500);
        let text = response.text().await.expect("whole content");
        assert_eq!(text, "Error:\nwhat is stored cannot be read: the record of an object is damaged\n");
    }
    for client in clients(&large(Broken::after(1, crate::support::broken::unreadable())).await) {
        let text = get(&client, "/buckets/b/keys?keys=stream").await.text().await.expect("whole content");
        let error = r#"]}{"error":"what is stored cannot be read: the record of an object is damaged"}"#;
        assert!(text.ends_with(error), "{text}");
    }
}

async fn huge() -> Store<Broken> {
    let store = open(Broken::never()).await;
    for number in 0..4_000 {
        put(&store, "b", format!("{number:04}{}", "k".repeat(1_000)), Seed::plain()).await;
    }
    store
}

/// Riak §10.1: the time of a list is also that of a client that takes it slowly.
#[tokio::test(start_paused = true)]
async fn a_slow_client_has_no_more_time() {
    let store = huge().await;
    for server in servers(&store) {
        let client = server.to_client(Wire::new().capacity(1_000)).client();
        let mut response = get(&client, "/buckets/b/keys?keys=stream&timeout=1000").await;
        assert!(response.chunk().await.expect("content").is_some());
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        let rest = response.bytes().await.expect("whole content");
        assert!(rest.ends_with(br#""]}{"error":"timeout"}"#));
        assert_eq!(store.engine().snapshots_held(), 0);
    }
}

/// A client that goes away ends the reading.
#[tokio::test(start_paused = true)]
async fn a_list_that_nobody_reads_ends() {
    let store = huge().await;
    for server in servers(&store) {
        let server = server.to_client(Wire::new().capacity(1_000));
        let client = server.client();
        let before = store.engine().pages_read();
        let mut response = get(&client, "/buckets/b/keys?keys=stream").await;
        assert!(response.chunk().await.expect("content").is_some());
        assert_eq!(store.engine().snapshots_held(), 1);
        drop(response);
        drop(client);
        let ended = async {
            while store.engine().snapshots_held() > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(120), ended).await.expect("the list ends");
        assert!(store.engine().pages_read() - before < 10, "nothing is read for a client that takes nothing");
    }
}

/// HEAD reads no further than what its answer is made of.
#[tokio::test]
async fn head_reads_little() {
    let store = large(Broken::never()).await;
    for client in clients(&store) {
        let before = store.engine().pages_read();
        let path = "/buckets/b/keys?keys=stream";
        let mut response = client.head("http://test/").path(path).send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.text().await.expect("no content"), "");
        assert_eq!(store.engine().pages_read() - before, 1);
    }
}
