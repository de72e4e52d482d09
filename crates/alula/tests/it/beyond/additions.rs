//! What the client adds to requests: fields of all calls, and who asks.

use alula::{Cause, Client, Method, Phase};

use super::site::{Answer, Seen, Site, clients, post, send};

/// `Basic` of the example of RFC 7617 §2, and of `a:b`.
const ALADDIN: &str = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
const A_B: &str = "Basic YTpi";

fn answer(seen: &Seen) -> Answer {
    match seen.line.split_once('?') {
        Some((_, location)) => Answer::new(307).header("location", location),
        None => Answer::new(200),
    }
}

fn all(seen: &Seen, name: &str) -> Vec<String> {
    seen.fields.get_all(name).map(|value| String::from_utf8_lossy(value).into_owned()).collect()
}

#[tokio::test]
async fn fields_of_all_calls_give_way_to_those_of_the_call() {
    let site = Site::start(answer).await;
    let settings = |builder: alula::ClientBuilder| {
        let builder = builder.header("user-agent", b"one");
        builder.header("x-tag", b"a").header("X-Tag", b"b")
    };
    for client in clients(settings) {
        let url = site.url("/");
        send(client.get(&url)).await.unwrap();
        send(client.get(&url).header("User-Agent", "two")).await.unwrap();
        post(client.post(&url).header("X-TAG", "c").header("x-tag", "d"), b"1").await.unwrap();
        let (writer, pending) = client.post(&url).open().await.unwrap();
        writer.finish().await.unwrap();
        pending.response().await.unwrap();
        let mut prepare = client.prepare(Method::Get, &url).unwrap().header("user-agent", b"two");
        let tag = prepare.hole("x-tag").unwrap();
        let prepared = prepare.build().unwrap();
        send(client.call(&prepared).set(tag, b"e")).await.unwrap();
        let prepared = client.prepare(Method::Get, &url).unwrap().build().unwrap();
        send(client.call(&prepared)).await.unwrap();
        let seen = site.take_seen();
        let rows = ["one: a, b", "two: a, b", "one: c, d", "one: a, b", "two: e", "one: a, b"];
        let told = |seen: &Seen| {
            format!("{}: {}", all(seen, "user-agent").join(", "), all(seen, "x-tag").join(", "))
        };
        assert_eq!(seen.iter().map(told).collect::<Vec<_>>(), rows);
    }
    assert!(Client::builder().header("no name", b"").build().is_err());
    assert!(Client::builder().header("x", b"\n").build().is_err());
}

#[tokio::test]
async fn the_program_that_asks_is_said_unless_that_is_switched_off() {
    let site = Site::start(answer).await;
    let own = concat!("alula/", env!("CARGO_PKG_VERSION"));
    let url = site.url("/");
    for (builder, expected) in [
        (Client::builder(), Some(own)),
        (Client::builder().user_agent("one/1"), Some("one/1")),
        (Client::builder().user_agent("one/1").no_user_agent(), None),
        (Client::builder().no_user_agent(), None),
        (Client::builder().header("User-Agent", "two"), Some("two")),
        (Client::builder().header("user-agent", "two").user_agent("one/1"), Some("one/1")),
        (Client::builder().header("x-tag", "a"), Some(own)),
    ] {
        for client in clients(|_| builder.clone()).into_iter().chain([builder.clone().build().unwrap()]) {
            let prepared = client.prepare(Method::Get, &url).unwrap().build().unwrap();
            let mut named = client.prepare(Method::Get, &url).unwrap();
            let agent = named.hole("user-agent").unwrap();
            let named = named.build().unwrap();
            let redirected = site.url(&format!("/?{url}"));
            let request = http::Request::get(&url).body(String::new()).unwrap();
            let calls = [
                client.get(&url),
                client.get(&url).header("x-a", "b"),
                client.post(&url).content(alula::Content::text("a")),
                client.call(&prepared),
                client.call(&prepared).path("/other"),
                client.get(&redirected),
            ];
            for call in calls {
                send(call).await.unwrap();
            }
            post(client.post(&url), b"a").await.unwrap();
            let (writer, pending) = client.post(&url).open().await.unwrap();
            writer.finish().await.unwrap();
            pending.response().await.unwrap();
            client.execute(request).await.unwrap();
            for seen in site.take_seen() {
                assert_eq!(all(&seen, "user-agent"), Vec::from_iter(expected), "{seen:?}");
            }
            for call in [
                client.get(&url).header("user-agent", "mine"),
                client.get(&url).header("x-a", "b").header("USER-agent", "mine"),
                client.call(&named).set(agent, "mine"),
            ] {
                send(call).await.unwrap();
            }
            for seen in site.take_seen() {
                assert_eq!(all(&seen, "user-agent"), ["mine"], "{seen:?}");
            }
        }
    }
    assert!(Client::builder().user_agent("a\nb").build().is_err());
}

#[tokio::test]
async fn who_asks_is_said_once() {
    let site = Site::start(answer).await;
    let with_user = site.origin.replace("http://", "http://Aladdin:open%20sesame@");
    let bind = |builder: alula::ClientBuilder| builder.basic_auth(&site.origin, "a", "b");
    for (client, bound) in clients(|builder| builder)
        .into_iter()
        .map(|client| (client, None))
        .chain(clients(bind).into_iter().map(|client| (client, Some(A_B))))
    {
        let call = |url| client.get(url);
        let url = site.url("/x");
        for (row, call, value) in [
            ("nothing", call(&url), bound),
            ("basic", call(&url).basic_auth("Aladdin", "open sesame"), Some(ALADDIN)),
            ("bearer", call(&url).bearer_auth("abc.def"), Some("Bearer abc.def")),
            ("the last counts", call(&url).bearer_auth("x").basic_auth("a", "b"), Some(A_B)),
            ("by hand", call(&url).header("authorization", "Own"), Some("Own")),
            ("in the URL", call(&with_user), Some(ALADDIN)),
            ("in the URL, other path", call(&with_user).path("/x"), Some(ALADDIN)),
            ("in the URL and by hand", call(&with_user).header("authorization", "Own"), Some("Own")),
            ("in the URL and in the call", call(&with_user).basic_auth("a", "b"), Some(A_B)),
        ] {
            send(call).await.unwrap();
            let seen = site.take_seen().remove(0);
            assert_eq!(all(&seen, "authorization"), Vec::from_iter(value), "{row}");
            assert!(!seen.authority.contains('@') && !seen.line.contains("sesame"), "{row}");
        }
        for (url, value) in [(&url, bound), (&with_user, Some(ALADDIN))] {
            let prepared = client.prepare(Method::Get, url).unwrap().build().unwrap();
            send(client.call(&prepared)).await.unwrap();
            assert_eq!(all(&site.take_seen()[0], "authorization"), Vec::from_iter(value), "{url}");
        }
    }
}

#[tokio::test]
async fn credentials_go_to_their_origin_only() {
    let (site, other) = (Site::start(answer).await, Site::start(answer).await);
    let bind = |builder: alula::ClientBuilder| builder.basic_auth(&other.origin, "a", "b");
    for client in clients(bind) {
        // From elsewhere, and by a redirect; then back again.
        send(client.get(&site.url("/"))).await.unwrap();
        let round = format!("/?{}", other.url(&format!("/?{}", site.url("/"))));
        send(client.get(&site.url(&round))).await.unwrap();
        assert!(site.take_seen().iter().all(|seen| !seen.fields.contains("authorization")));
        assert_eq!(all(&other.take_seen()[0], "authorization"), [A_B]);
    }
    for client in clients(|builder| builder) {
        let url = site.url(&format!("/?{}", other.url("/"))).replace("http://l", "http://a:b@l");
        let response = send(client.get(&url)).await.unwrap();
        assert_eq!(response.final_url(), Some(&*other.url("/")));
        assert_eq!(all(&site.take_seen()[0], "authorization"), [A_B]);
        assert!(!other.take_seen()[0].fields.contains("authorization"));
    }
}

#[tokio::test]
async fn what_cannot_be_said_is_a_mistake() {
    let client = Client::new().unwrap();
    let url = "http://localhost:9/";
    let prepared = client.prepare(Method::Get, url).unwrap().build().unwrap();
    for call in [
        client.get(url).basic_auth("a:b", "c"),
        client.get(url).basic_auth("a", "\n"),
        client.get(url).bearer_auth("a\r\nb: c"),
        client.get("http://a%3Ab:c@localhost:9/"),
        client.call(&prepared).bearer_auth("a"),
    ] {
        let error = send(call).await.err().unwrap();
        assert!(
            matches!((error.phase(), error.cause()), (Phase::Build, Cause::Usage(_) | Cause::Field(_))),
            "{error}"
        );
    }
    assert!(Client::builder().basic_auth(url, "a:b", "").build().is_err());
    assert!(Client::builder().bearer_auth(url, "\n").build().is_err());
    assert!(Client::builder().bearer_auth("nowhere", "a").build().is_err());
}
