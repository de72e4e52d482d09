//! A host of the caller's choice, in place of the one of the URL.

use alula::{Cause, Client, Method, Phase, Proxy};

use super::site::{Answer, Seen, Site, clients, send};

fn answer(seen: &Seen) -> Answer {
    let answer = match seen.line.split_once('?') {
        Some((_, location)) => Answer::new(307).header("location", location),
        None => Answer::new(200),
    };
    answer.header("set-cookie", "a=b")
}

fn authorities(site: &Site) -> Vec<String> {
    site.take_seen().into_iter().map(|seen| seen.authority).collect()
}

#[tokio::test]
async fn a_host_takes_the_place_of_the_one_of_the_url() {
    let site = Site::start(answer).await;
    let own = site.origin.trim_start_matches("http://").to_owned();
    for client in clients(|builder| builder) {
        let url = site.url("/");
        for (host, expected) in [
            ("example.com", "example.com"),
            ("Example.com:8080", "Example.com:8080"),
            ("[::1]:80", "[::1]:80"),
            (&*own, &*own),
        ] {
            send(client.get(&url).header("Host", host)).await.unwrap();
            send(client.get(&url).header("x-a", "b").header("host", host)).await.unwrap();
            let prepared = client.prepare(Method::Get, &url).unwrap().header("host", host).build().unwrap();
            send(client.call(&prepared)).await.unwrap();
            send(client.call(&prepared).path("/other")).await.unwrap();
            let request = http::Request::get(&url).header("host", host).body(String::new()).unwrap();
            client.execute(request).await.unwrap();
            let seen = site.take_seen();
            let told: Vec<_> = seen.iter().map(|seen| &*seen.authority).collect();
            assert_eq!(told, [expected; 5]);
            assert!(seen.iter().all(|seen| seen.fields.get_all("host").count() <= 1), "{seen:?}");
        }
    }
    let client = Client::builder().header("host", "a.example").build().unwrap();
    send(client.get(&site.url("/"))).await.unwrap();
    assert_eq!(authorities(&site), ["a.example"]);
}

#[tokio::test]
async fn the_name_that_tls_is_for_stays_the_one_of_the_url() {
    let site = Site::start_secured(answer).await;
    for http2 in [false, true] {
        let builder = Client::builder().add_roots_pem(site.certificate.as_bytes()).unwrap();
        let builder = if http2 { builder.http2_only() } else { builder.http1_only() };
        let client = builder.build().unwrap();
        let response = send(client.get(&site.url("/")).header("host", "example.com")).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        // On the same connection.
        send(client.get(&site.url("/"))).await.unwrap();
        let own = site.origin.trim_start_matches("https://").to_owned();
        assert_eq!(authorities(&site), ["example.com", &own]);
    }
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn redirects_keep_it_within_the_origin_and_drop_it_elsewhere() {
    let (site, other) = (Site::start(answer).await, Site::start(answer).await);
    let own = |site: &Site| site.origin.trim_start_matches("http://").to_owned();
    for client in clients(|builder| builder) {
        send(client.get(&site.url("/a?/b")).header("host", "a.example")).await.unwrap();
        assert_eq!(authorities(&site), ["a.example"; 2]);
        let round = site.url(&format!("/?{}", other.url(&format!("/?{}", site.url("/")))));
        let prepared = client.prepare("GET", &round).unwrap().header("host", "a.example");
        for call in [client.get(&round).header("host", "a.example"), client.call(&prepared.build().unwrap())]
        {
            send(call).await.unwrap();
            assert_eq!(authorities(&site), ["a.example".to_owned(), own(&site)]);
            assert_eq!(authorities(&other), [own(&other)]);
        }
    }
}

#[cfg(feature = "cookies")]
#[tokio::test]
async fn cookies_and_credentials_are_those_of_the_url() {
    let site = Site::start(answer).await;
    let settings =
        |builder: alula::ClientBuilder| builder.cookies(alula::Jar::new()).basic_auth(&site.origin, "a", "b");
    for client in clients(settings) {
        send(client.get(&site.url("/")).header("host", "a.example")).await.unwrap();
        send(client.get(&site.url("/")).header("host", "b.example")).await.unwrap();
        let seen = site.take_seen();
        assert_eq!(seen[1].header("cookie").as_deref(), Some("a=b"));
        assert!(seen.iter().all(|seen| seen.fields.contains("authorization")));
    }
}

#[tokio::test]
async fn what_is_no_host_is_refused() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        let url = site.url("/");
        for host in ["", "a b", "a/b", "http://a", "user@a", "a:99999", "[::1", "\u{e9}"] {
            let error = send(client.get(&url).header("host", host)).await.err().unwrap();
            assert!(
                matches!((error.phase(), error.cause()), (Phase::Build, Cause::Field(_))),
                "{host}: {error}"
            );
            let prepare = client.prepare("GET", &url).unwrap().header("host", host);
            assert!(prepare.build().is_err(), "{host}");
        }
        let twice = client.get(&url).header("host", "a").header("host", "a");
        let tunnel = client.request("CONNECT", &url).header("host", "a");
        for (call, sentence) in [(twice, "one field host"), (tunnel, "CONNECT asks for the host of its URL")]
        {
            let error = send(call).await.err().unwrap();
            assert!(error.to_string().contains(sentence), "{error}");
        }
    }
    assert!(site.take_seen().is_empty());
}

#[tokio::test]
async fn a_proxy_that_takes_requests_takes_no_other_host() {
    let site = Site::start(answer).await;
    let client = Client::builder().proxy(Proxy::all(&site.origin).unwrap()).build().unwrap();
    let url = "http://nowhere.invalid/";
    let error = send(client.get(url).header("host", "a.example")).await.err().unwrap();
    assert!(error.to_string().contains("takes the host"), "{error}");
    send(client.get(url).header("host", "nowhere.invalid")).await.unwrap();
    assert_eq!(authorities(&site), ["nowhere.invalid"]);
}
