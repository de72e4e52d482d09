//! The resources of the store as a whole, and the requests of foreign pages, over both versions of HTTP.

use alula::testing::TestServer;
use alula::{Client, Response};
use alula_store::engine::Memory;
use alula_store::{Config, Referers, Store};
use serde_json::Value;

/// A client of an empty store for each version of HTTP.
async fn clients(config: Config) -> [Client; 2] {
    let store = Store::open(Memory::new(), config).await.unwrap();
    let routes = store.routes().unwrap();
    [TestServer::new(routes.clone()).client(), TestServer::new(routes).http2().client()]
}

/// Sends a request with these fields, and returns the answer if it has this status.
async fn ask(client: &Client, method: &str, path: &str, fields: &[(&str, &str)], status: u16) -> Response {
    let url = format!("http://store.example:8098{path}");
    let mut call = client.request(method, &*url);
    for (name, value) in fields {
        call = call.header(*name, value);
    }
    let response = call.send().await.unwrap();
    assert_eq!(response.status(), status, "{method} {path} {fields:?}");
    response
}

async fn text(client: &Client, method: &str, path: &str, fields: &[(&str, &str)], status: u16) -> String {
    ask(client, method, path, fields, status).await.text().await.unwrap()
}

#[tokio::test]
async fn resources_are_listed_as_a_page_or_in_json() {
    for client in clients(Config::default()).await {
        // Riak §15, §1.7
        for (accept, media_type) in [
            ("*/*", "text/html"),
            ("text/html", "text/html"),
            ("application/json", "application/json"),
            ("multipart/mixed, application/json, */*;q=0.5", "application/json"),
            ("application/json, text/html", "text/html"),
            ("text/html;q=0.9, application/*", "application/json"),
        ] {
            let mut response = ask(&client, "GET", "/", &[("accept", accept)], 200).await;
            let headers = response.headers();
            assert_eq!(headers.text("content-type"), Some(media_type), "{accept}");
            assert_eq!(headers.text("vary"), Some("Accept"));
            assert!(headers.text("link").unwrap().contains("</buckets>; rel=\"riak_kv_wm_buckets\","));
            let content = response.text().await.unwrap();
            match media_type {
                "text/html" => assert!(content.contains("<a href=\"/stats\">riak_kv_wm_stats</a>")),
                _ => {
                    let resources: Value = serde_json::from_str(&content).unwrap();
                    assert_eq!(resources["riak_kv_wm_buckets"], "/buckets");
                    assert_eq!(resources["riak_kv_wm_crdt"], "/types");
                }
            }
        }
        for accept in ["image/png", "text/html;q=0", "text/html;q=high", "text/html;level=1"] {
            ask(&client, "GET", "/", &[("accept", accept)], 406).await;
        }
    }
}

#[tokio::test]
async fn a_store_that_lives_says_so() {
    for client in clients(Config::default()).await {
        // Riak §15: /ping; §1.2: slashes too many do no harm; §1.4: no OPTIONS.
        for path in ["/ping", "/ping/", "//ping", "/ping?x"] {
            assert_eq!(text(&client, "GET", path, &[], 200).await, "OK");
        }
        let mut head = ask(&client, "HEAD", "/ping", &[], 200).await;
        assert_eq!(head.headers().text("content-type"), Some("text/html"));
        assert_eq!((head.content_length(), head.text().await.unwrap().len()), (Some(2), 0));
        let refused = ask(&client, "OPTIONS", "/ping", &[], 405).await;
        assert_eq!(refused.headers().text("allow"), Some("GET, HEAD"));
        ask(&client, "PATCH", "/ping", &[], 501).await;
        ask(&client, "GET", "/ping", &[("accept", "application/json")], 406).await;
    }
}

#[tokio::test]
async fn figures_are_json_or_text() {
    for client in clients(Config::default()).await {
        // Riak §15: /stats
        let stats: Value = serde_json::from_str(&text(&client, "GET", "/stats", &[], 200).await).unwrap();
        assert_eq!(stats["riak_kv_version"], "3.0.16");
        assert_eq!(stats["storage_backend"], "memory");
        for name in ["node_gets", "node_gets_total", "node_puts", "node_puts_total", "node_get_fsm_time_mean"]
        {
            assert!(stats[name].is_u64(), "{name}: {stats}");
        }
        let shown = text(&client, "GET", "/stats", &[("accept", "text/plain")], 200).await;
        assert!(shown.lines().any(|line| line == "  \"riak_kv_version\": \"3.0.16\","), "{shown}");
    }
}

#[tokio::test]
async fn map_reduce_is_answered_as_by_a_store_that_has_it_switched_off() {
    for client in clients(Config::default()).await {
        // Riak §14
        let mut refused = ask(&client, "POST", "/mapred", &[("content-type", "application/json")], 403).await;
        assert_eq!(refused.headers().text("content-type"), Some("text/plain"));
        assert_eq!(refused.text().await.unwrap(), "Operation '{riak_kv,map_reduce}' is not enabled");
        assert!(text(&client, "GET", "/mapred", &[], 400).await.contains("POST"));
        ask(&client, "PUT", "/mapred", &[], 405).await;
    }
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let own = "http://store.example:8098/page";
    let other = "https://other.example/page";
    let named = Referers::OwnAnd(vec!["https://other.example".to_owned()]);
    for (referers, takes_other) in [(Referers::Own, false), (named, true), (Referers::Any, true)] {
        let mut config = Config::default();
        config.referers = referers;
        for client in clients(config).await {
            // Riak §1.11
            ask(&client, "GET", "/ping", &[("referer", own)], 200).await;
            ask(&client, "GET", "/ping", &[("origin", "https://other.example")], 200).await;
            ask(&client, "GET", "/ping", &[("origin", "null")], 403).await;
            let status = if takes_other { 200 } else { 403 };
            ask(&client, "GET", "/ping", &[("referer", other)], status).await;
            ask(&client, "GET", "/buckets/b/keys/k", &[("referer", own), ("origin", "null")], 403).await;
        }
    }
}

#[tokio::test]
async fn lists_queries_walks_and_data_types_are_counted() {
    let mut config = Config::default();
    let kinds = ["counter", "set", "map", "hll", "gset"];
    config.types = kinds.map(|kind| (kind.to_owned(), datatype(kind))).into();
    // Riak §15
    for client in clients(config).await {
        let before = figures(&client).await;
        let put = client.put("http://store.example/buckets/b/keys/k").header("content-type", "text/plain");
        let put = put.header("link", "</buckets/b/keys/k>; riaktag=\"self\"");
        assert_eq!(put.body("value").send().await.unwrap().status(), 204);
        for path in [
            "/buckets/b/keys?keys=true",
            "/buckets/b/keys?keys=stream",
            "/buckets?buckets=true",
            "/riak/b?keys=true",
        ] {
            ask(&client, "GET", path, &[], 200).await;
        }
        for path in ["/buckets/b/keys", "/buckets", "/riak/b"] {
            ask(&client, "GET", path, &[], 200).await;
        }
        for path in ["/buckets/b/index/a_bin/x", "/types/set/buckets/b/index/n_int/1/2?stream=true"] {
            ask(&client, "GET", path, &[], 200).await;
        }
        ask(&client, "GET", "/buckets/b/index/a_none/x", &[], 400).await;
        ask(&client, "GET", "/buckets/b/keys/k/_,_,1", &[], 200).await;
        ask(&client, "GET", "/buckets/b/keys/k/_,_", &[], 400).await;
        for (kind, operation) in [
            ("counter", r#"{"increment":1}"#),
            ("set", r#"{"add":"a"}"#),
            ("map", r#"{"update":{"f_flag":"enable"}}"#),
            ("hll", r#"{"add":"a"}"#),
            ("gset", r#"{"add":"a"}"#),
        ] {
            let url = format!("http://store.example/types/{kind}/buckets/b/datatypes/k");
            let post = client.post(&*url).header("content-type", "application/json").body(operation);
            assert_eq!(post.send().await.unwrap().status(), 204, "{kind}");
            for _ in 0..2 {
                ask(&client, "GET", &url["http://store.example".len()..], &[], 200).await;
            }
        }
        let after = figures(&client).await;
        for (name, count) in [
            ("list_fsm_create", 4),
            ("list_fsm_create_total", 4),
            ("index_fsm_create", 2),
            ("pipeline_create_one", 1),
            ("pipeline_create_count", 1),
            ("node_gets_counter", 2),
            ("node_puts_counter", 1),
            ("node_gets_set_total", 2),
            ("node_puts_set_total", 1),
            ("node_gets_map", 2),
            ("node_puts_map_total", 1),
            ("node_gets_hll_total", 2),
            ("node_puts_hll", 1),
        ] {
            let number = |figures: &Value| figures[name].as_u64().unwrap();
            assert_eq!(number(&after) - number(&before), count, "{name}");
        }
    }
}

fn datatype(kind: &str) -> serde_json::Map<String, Value> {
    let properties = serde_json::json!({ "datatype": kind });
    properties.as_object().unwrap().clone()
}

async fn figures(client: &Client) -> Value {
    serde_json::from_str(&text(client, "GET", "/stats", &[], 200).await).unwrap()
}
