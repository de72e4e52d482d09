//! Cookies: kept from every response, and sent where they belong.

use alula::{Jar, Method};

use super::site::{Answer, Seen, Site, clients, post, send};

/// `/set?a=1` sets a cookie, `/302-a?/x` sets one named `hop` and leads to `/x`.
fn answer(seen: &Seen) -> Answer {
    let path = seen.line.split(' ').nth(1).unwrap();
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    match route {
        "/set" => Answer::new(200).header("set-cookie", query).header("set-cookie", "second=2; Path=/"),
        _ if route.starts_with("/302-") => {
            let cookie = format!("hop={}; Path=/", &route[5..]);
            Answer::new(302).header("set-cookie", cookie).header("location", query)
        }
        _ => Answer::new(200),
    }
}

fn cookies(site: &Site) -> Vec<String> {
    let values = |seen: &Seen| {
        let values = seen.fields.get_all("cookie").map(|value| String::from_utf8_lossy(value).into_owned());
        values.collect::<Vec<_>>().join(" | ")
    };
    site.take_seen().iter().map(values).collect()
}

#[tokio::test]
async fn cookies_are_kept_and_sent() {
    let site = Site::start(answer).await;
    for prior_knowledge in [false, true] {
        let jar = Jar::new();
        let client = alula::Client::builder().http2_prior_knowledge(prior_knowledge).cookies(jar.clone());
        let client = client.build().unwrap();
        let url = site.url("/x/y");
        send(client.get(&site.url("/set?a=1"))).await.unwrap();
        send(client.get(&url)).await.unwrap();
        send(client.get(&url).header("cookie", "own=0; a=9")).await.unwrap();
        post(client.post(&url), b"abc").await.unwrap();
        assert_eq!(cookies(&site), ["", "a=1; second=2", "own=0; a=9; second=2", "a=1; second=2"]);
        // What is streamed keeps and sends them too.
        let (writer, pending) = client.post(&site.url("/set?b=3")).open().await.unwrap();
        writer.finish().await.unwrap();
        pending.response().await.unwrap();
        let mut prepare = client.prepare(Method::Get, &url).unwrap().header("x-a", b"1");
        let hole = prepare.hole("x-b").unwrap();
        let prepared = prepare.build().unwrap();
        send(client.call(&prepared).set(hole, b"2").path("/z")).await.unwrap();
        let seen = site.take_seen();
        assert_eq!(seen[0].header("cookie").unwrap(), "a=1; second=2");
        let told = ["cookie", "x-a", "x-b"].map(|name| seen[1].header(name).unwrap());
        assert_eq!((&*seen[1].line, told), ("GET /z", ["a=1; b=3; second=2", "1", "2"].map(String::from)));
        assert_eq!(jar.len(), 3);
    }
}

#[tokio::test]
async fn every_hop_has_its_cookies() {
    let (site, other) = (Site::start(answer).await, Site::start(answer).await);
    // The same host has the same cookies on any port, so the other site goes by another name.
    let elsewhere = other.origin.replace("localhost", "127.0.0.1");
    for (index, client) in clients(|builder| builder.cookies(Jar::new())).into_iter().enumerate() {
        send(client.get(&site.url("/set?a=1"))).await.unwrap();
        let url = site.url("/302-1?/302-2?/end");
        send(client.get(&url).header("cookie", "own=0")).await.unwrap();
        let expected =
            ["", "own=0; a=1; second=2", "own=0; a=1; hop=1; second=2", "own=0; a=1; hop=2; second=2"];
        // Clones of a builder's jar would share it; these two clients have one each.
        assert_eq!(cookies(&site), expected, "{index}");
        // Another host gets neither the jar's nor the caller's, and what it sets stays its own.
        let back = site.url("/end");
        let url = site.url(&format!("/302-3?{elsewhere}/302-4?{back}"));
        send(client.get(&url).header("cookie", "own=0")).await.unwrap();
        assert_eq!(cookies(&other), [""]);
        assert_eq!(cookies(&site), ["own=0; a=1; hop=2; second=2", "a=1; hop=3; second=2"]);
        send(client.get(&elsewhere)).await.unwrap();
        assert_eq!(cookies(&other), ["hop=4"]);
    }
}

#[tokio::test]
async fn without_a_jar_nothing_is_kept() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        send(client.get(&site.url("/set?a=1"))).await.unwrap();
        send(client.get(&site.url("/302-1?/x"))).await.unwrap();
        assert_eq!(cookies(&site), ["", "", ""]);
    }
}
