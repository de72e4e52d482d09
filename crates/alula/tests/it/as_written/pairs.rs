//! Pairs of queries and forms: of anything that displays, from anything that has them.

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;

use alula::{Call, Client};

use super::{blocking_client, said, said_at_once, start};

fn queries<'c>(client: &'c Client, origin: &'c str) -> Vec<(Call<'c>, &'static str)> {
    let map = HashMap::from([("page", 3)]);
    let sorted = BTreeMap::from([("a".to_owned(), 1.5), ("b".to_owned(), -2.0)]);
    let owned = vec![("name".to_owned(), "Ada & Co".to_owned())];
    let get = || client.get(origin);
    vec![
        (get().query([("page", 3)]), "?page=3"),
        (get().query([("done", true)]), "?done=true"),
        (get().query(&[("q", String::from("é"))]), "?q=%C3%A9"),
        (get().query([("q", "a b")]).query([("page", 3)]), "?q=a+b&page=3"),
        (get().query((("q", "a b"), ("page", 3), ("at", Ipv4Addr::LOCALHOST))), "?q=a+b&page=3&at=127.0.0.1"),
        (get().query(&(("q", 'x'), (1, 2))), "?q=x&1=2"),
        (get().query((("only", 1),)), "?only=1"),
        (get().query(&map), "?page=3"),
        (get().query(map.clone()), "?page=3"),
        (get().query(&sorted), "?a=1.5&b=-2"),
        (get().query(&owned), "?name=Ada+%26+Co"),
        (get().query(owned.clone()), "?name=Ada+%26+Co"),
        (get().query((1..3).map(|n| (format!("n{n}"), n))), "?n1=1&n2=2"),
        (get().query::<_>(Vec::<(&str, &str)>::new()), ""),
    ]
}

#[tokio::test]
async fn pairs_of_anything_that_displays_are_a_query() {
    let (client, origin) = (Client::new().unwrap(), start());
    for (call, query) in queries(&client, &origin) {
        assert_eq!(said(call.send().await).await, format!("GET /{query}"));
    }
}

#[tokio::test]
async fn and_a_form() {
    let (client, origin) = (Client::new().unwrap(), start());
    for (call, form) in [
        (client.post(&origin).form([("user", "me"), ("word", "p&s")]), "user=me&word=p%26s"),
        (client.post(&origin).form((("user", "me"), ("age", 36))), "user=me&age=36"),
        (client.post(&origin).form(&HashMap::from([("age", 36)])), "age=36"),
    ] {
        assert_eq!(said(call.send().await).await, format!("POST / {form}"));
    }
}

#[test]
fn calls_that_wait_take_the_same() {
    let (client, origin) = (blocking_client(), start());
    assert_eq!(said_at_once(client.get(&origin).query((("a", 1), ("b", "c"))).send()), "GET /?a=1&b=c");
    assert_eq!(said_at_once(client.post(&origin).form([("a", 1)]).send()), "POST / a=1");
}

#[tokio::test]
async fn what_does_not_display_itself_is_a_mistake() {
    struct Broken;
    impl std::fmt::Display for Broken {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    let client = Client::new().unwrap();
    for call in [
        client.get("http://127.0.0.1:9/").query([("a", Broken)]),
        client.post("http://127.0.0.1:9/").form([("a", Broken)]),
    ] {
        let error = call.send().await.err().unwrap();
        assert!(error.to_string().contains("failed to display itself"), "{error}");
    }
}
