//! Links and index entries of more than 48 KiB leave as several lines of their field, over both versions:
//! clients have bounds of a line, Python's of 64 KiB. Joined, they are the list that was stored.

use alula::testing::TestServer;
use alula::{Client, Response, Server};
use alula_store::engine::Memory;
use alula_store::{Config, Store};

const SITE: &str = "http://store.example";
const LINE_BYTES_MAX: usize = 48 * 1024;

async fn clients() -> [Client; 2] {
    let mut config = Config::default();
    let allow_mult = serde_json::json!({"allow_mult": true});
    config.types.push(("mult".to_owned(), allow_mult.as_object().expect("an object").clone()));
    let store = Store::open(Memory::new(), config).await.expect("a store");
    let server = || {
        let settings = Server::builder().limits(alula_store::limits());
        TestServer::with(settings, store.routes().expect("routes"))
    };
    let client = |server: TestServer| {
        server.client_with(Client::builder().limits(alula_store::limits())).expect("settings in order")
    };
    [client(server()), client(server().http2())]
}

/// A list of links and one of terms, of some hundred kilobytes; one of each is longer than a line.
fn lists() -> (Vec<String>, Vec<String>) {
    let number = |number: usize| if number == 700 { "n".repeat(60_000) } else { format!("{number:0100}") };
    let link = |key: usize| format!(r#"</buckets/c/keys/{}>; riaktag="t""#, number(key));
    ((0..1_000).map(link).collect(), (0..1_000).map(number).collect())
}

async fn put(client: &Client, path: &str, links: &[String], terms: &[String]) {
    let put = client.put(format!("{SITE}{path}")).header("content-type", "text/plain");
    let put = put.header("link", links.join(", ")).header("x-riak-index-a_bin", terms.join(", "));
    let mut answer = put.header("x-riak-index-b_bin", "one").body("v").send().await.expect("an answer");
    assert_eq!(answer.status(), 204, "{:?}", answer.text().await);
}

async fn get(client: &Client, path: &str, accept: &str) -> Response {
    client.get(format!("{SITE}{path}")).header("accept", accept).send().await.expect("an answer")
}

/// Checks lines of a field: as few as there may be, and all of the list in its order.
fn check(lines: &[&str], list: &[String]) {
    let joined = lines.join(", ");
    assert!(joined == list.join(", "), "{} lines of {} bytes", lines.len(), joined.len());
    let long = lines.iter().filter(|line| line.len() > LINE_BYTES_MAX);
    assert_eq!(long.filter(|line| line.contains("nnnn")).count(), 1);
    assert_eq!(lines.iter().filter(|line| line.len() > LINE_BYTES_MAX).count(), 1);
    assert!(lines.len() <= joined.len() / (LINE_BYTES_MAX - 200) + 3, "{} lines", lines.len());
}

#[tokio::test]
async fn long_lists_leave_in_lines() {
    let (links, terms) = lists();
    let parent = |bucket: &str| [vec![format!(r#"</buckets/{bucket}>; rel="up""#)], links.clone()].concat();
    for client in clients().await {
        put(&client, "/buckets/b/keys/k", &links, &terms).await;
        let answer = get(&client, "/buckets/b/keys/k", "*/*").await;
        let lines = |name: &'static str| {
            answer.headers().get_all(name).map(|line| std::str::from_utf8(line).expect("UTF-8"))
        };
        check(&lines("link").collect::<Vec<_>>(), &parent("b"));
        check(&lines("x-riak-index-a_bin").collect::<Vec<_>>(), &terms);
        assert!(lines("x-riak-index-b_bin").eq(["one"]));
    }
}

#[tokio::test]
async fn parts_of_siblings_have_lines_too() {
    let (links, terms) = lists();
    for client in clients().await {
        let path = "/types/mult/buckets/b/keys/k";
        for _ in 0..2 {
            put(&client, path, &links, &terms).await;
        }
        let mut answer = get(&client, path, "multipart/mixed").await;
        assert_eq!(answer.status(), 300);
        let text = answer.text().await.expect("a text");
        for part in text.split("\r\n\r\nv\r\n").take(2) {
            let parent = [vec![r#"</buckets/b>; rel="up""#.to_owned()], links.clone()].concat();
            let lines: Vec<_> = part.lines().filter_map(|line| line.strip_prefix("Link: ")).collect();
            check(&lines, &parent);
        }
    }
}
