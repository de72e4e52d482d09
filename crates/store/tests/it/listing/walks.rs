//! The bounds of link walks, by which one small request makes a store read many objects (Riak §8).

use std::fmt::Write as _;

use alula::testing::TestServer;
use alula::{Client, Response, Server};
use alula_store::engine::Memory;
use alula_store::{Config, Store};

const SITE: &str = "http://store.example";

/// The links of an object to itself and to objects that are not there.
const LINKS: usize = 300;

/// A client for each version.
async fn clients() -> [Client; 2] {
    let store = Store::open(Memory::new(), Config::default()).await.expect("a store");
    let server = || {
        let settings = Server::builder().limits(alula_store::limits());
        TestServer::with(settings, store.routes().expect("routes"))
    };
    [server().client(), server().http2().client()]
}

async fn put(client: &Client, field: (&str, &str)) {
    let put = client.put(format!("{SITE}/buckets/b/keys/k")).header(field.0, field.1);
    let answer = put.header("content-type", "text/plain").body("v").send().await.expect("an answer");
    assert_eq!(answer.status(), 204);
}

async fn put_links(client: &Client) {
    let mut links = r#"</buckets/b/keys/k>; riaktag="t""#.to_owned();
    for number in 1..LINKS {
        let _ = write!(links, r#", </buckets/b/keys/{number}>; riaktag="t""#);
    }
    put(client, ("link", &links)).await;
}

async fn walk(client: &Client, steps: &str, query: &str) -> Response {
    let url = format!("{SITE}/buckets/b/keys/k{steps}{query}");
    client.get(url).send().await.expect("an answer")
}

#[tokio::test]
async fn a_walk_has_a_bound_of_steps_and_of_objects() {
    for client in clients().await {
        put_links(&client).await;
        let (many, all) = ("/_,_,0".repeat(99), "/_,_,1".repeat(100));
        assert_eq!(walk(&client, &format!("{many}/_,_,1"), "").await.status(), 200);
        for (steps, text) in [
            (format!("{many}/_,_,0/_,_,1"), "A walk has 100 steps at most\n"),
            (all, "A walk reaches more than 10000 objects\n"),
        ] {
            let mut refused = walk(&client, &steps, "").await;
            assert_eq!(refused.status(), 400);
            assert_eq!(refused.text().await.expect("a text"), text);
        }
    }
}

async fn put_with_links(client: &Client, key: &str, links: impl Iterator<Item = String>) {
    let links: Vec<_> = links.map(|key| format!(r#"</buckets/b/keys/{key}>; riaktag="t""#)).collect();
    let put = client.put(format!("{SITE}/buckets/b/keys/{key}")).header("link", links.join(", "));
    let answer = put.header("content-type", "text/plain").body("v").send().await.expect("an answer");
    assert_eq!(answer.status(), 204);
}

async fn check_refused(client: &Client, steps: &str, text: &str) {
    let mut refused = walk(client, steps, "").await;
    assert_eq!(refused.status(), 400, "{steps}");
    assert_eq!(refused.text().await.expect("a text"), text);
}

#[tokio::test]
async fn a_walk_has_a_bound_of_links() {
    // Each of 500 objects has links to all of them.
    const OBJECTS: usize = 500;
    let [client, other] = clients().await;
    for key in (0..OBJECTS).map(|number| number.to_string()).chain(["k".to_owned()]) {
        put_with_links(&client, &key, (0..OBJECTS).map(|number| number.to_string())).await;
    }
    for client in [client, other] {
        assert_eq!(walk(&client, "/_,_,0/b,other,1", "").await.status(), 200);
        let many = "/_,_,0".repeat(99) + "/_,_,1";
        check_refused(&client, &many, "A walk looks at more than 500000 links\n").await;
    }
}

#[tokio::test]
async fn a_walk_has_a_bound_of_reads() {
    // Each of 1000 objects has a link to itself.
    const OBJECTS: usize = 1_000;
    let [client, other] = clients().await;
    for key in (0..OBJECTS).map(|number| number.to_string()) {
        put_with_links(&client, &key, std::iter::once(key.clone())).await;
    }
    put_with_links(&client, "k", (0..OBJECTS).map(|number| number.to_string())).await;
    for client in [client, other] {
        assert_eq!(walk(&client, &"/_,_,0".repeat(48), "").await.status(), 200);
        check_refused(&client, &"/_,_,0".repeat(60), "A walk reads more than 50000 objects\n").await;
    }
}

#[tokio::test]
async fn a_walk_has_a_bound_of_names() {
    let [client, other] = clients().await;
    let long = "l".repeat(20_000);
    for key in 0..6 {
        put_with_links(&client, &key.to_string(), (0..40).map(|number| format!("{long}{key}.{number}")))
            .await;
    }
    put_with_links(&client, "k", (0..6).map(|key| key.to_string())).await;
    put_with_links(&client, "few", (0..4).map(|key| key.to_string())).await;
    for client in [client, other] {
        let url = format!("{SITE}/buckets/b/keys/few/_,_,0/_,_,1");
        assert_eq!(client.get(url).send().await.expect("an answer").status(), 200);
        let text = "A walk holds names of more than 4194304 bytes\n";
        check_refused(&client, "/_,_,0/_,_,0", text).await;
    }
}

#[tokio::test]
async fn steps_beyond_their_bound_are_not_read() {
    for client in clients().await {
        check_refused(&client, &"/a,b,0".repeat(100_000), "A walk has 100 steps at most\n").await;
    }
}

#[tokio::test]
async fn a_walk_ends_with_its_time() {
    for client in clients().await {
        put_links(&client).await;
        // 30 000 reads.
        let mut late = walk(&client, &"/_,_,0".repeat(100), "?timeout=1").await;
        assert_eq!(late.status(), 503);
        assert_eq!(late.text().await.expect("a text"), "request timed out\n");
    }
}

#[tokio::test]
async fn the_boundaries_of_each_walk_are_its_own() {
    for client in clients().await {
        put(&client, ("link", r#"</buckets/b/keys/k>; riaktag="t""#)).await;
        let (one, other) = (walk(&client, "/_,_,1", "").await, walk(&client, "/_,_,1", "").await);
        assert!(one.content_type().is_some_and(|it| it.starts_with("multipart/mixed; boundary=")));
        assert_ne!(one.content_type(), other.content_type());
    }
}
