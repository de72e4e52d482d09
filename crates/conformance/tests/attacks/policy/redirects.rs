//! Redirects that want to be given what is not theirs, or do not end.

use std::{io, net::SocketAddr, time::Duration};

use alula::{ClientBuilder, Follow, Identity};
use alula_conformance::attack::{ByItself, told};

use super::site::{Answer, Seen, Site, block_on, clients, send};

/// `/?x` leads to `x`, as it stands there; all else is well.
fn answer(seen: &Seen) -> Answer {
    match seen.path.starts_with("/?") {
        true => Answer::to(seen.query()),
        false => Answer::new(200),
    }
}

/// Fields of which another origin must not hear.
const SECRETS: [(&str, &str); 3] =
    [("authorization", "Bearer secret"), ("cookie", "id=secret"), ("proxy-authorization", "Basic c2VjcmV0")];

#[test]
fn credentials_stay() {
    let (site, other) = (Site::start(answer), Site::start(answer));
    for client in clients(|builder| builder) {
        let ask = async |url: String| {
            let call = SECRETS.iter().fold(client.get(&url), |call, (name, value)| call.header(*name, value));
            send(call).await.expect("it is followed").status().as_u16()
        };
        let statuses = block_on(async {
            [ask(site.url("/?/here")).await, ask(site.url(&format!("/?{}", other.url("/here")))).await]
        });
        assert_eq!(statuses, [200, 200]);
        let (seen, elsewhere) = (site.take_seen(), other.take_seen());
        assert_eq!((seen.len(), elsewhere.len()), (3, 1));
        for (name, value) in SECRETS {
            // Within the origin they go along.
            let got = (seen[1].header(name), elsewhere[0].header(name));
            assert_eq!(got, (value.into(), String::new()), "{name}");
        }
        let told =
            "the response, 200; the other origin gets no `authorization`, `cookie` and `proxy-authorization`";
        ByItself::check("a redirect to another origin", "the origin, `redirects_with_credentials`", told);
    }
}

#[test]
fn loops() {
    // Each leads to another path: one that leads back is seen at once.
    let site = Site::start(|seen| Answer::to(&format!("{}x", seen.path)));
    let ask = |set: fn(ClientBuilder) -> ClientBuilder| {
        clients(set).map(|client| {
            let outcome = block_on(send(client.get(&site.url("/"))));
            (told(&outcome), site.take_seen().len())
        })
    };
    for (told, requests) in ask(|builder| builder) {
        assert_eq!(requests, 11);
        ByItself::check("redirects without end", "`redirects`, 10", &told);
    }
    for (_, requests) in ask(|builder| builder.redirects(50)) {
        assert_eq!(requests, 51);
    }
}

#[test]
fn clear_text() {
    let identity = Identity::self_signed(["localhost"]).expect("a certificate");
    let pem = identity.certificate_pem().expect("it is self-signed").to_owned();
    let (site, other) = (Site::start_secured(identity, answer), Site::start(answer));
    let ask = |set: fn(ClientBuilder) -> ClientBuilder| {
        clients(|builder| set(builder.add_roots_pem(pem.as_bytes()).expect("a certificate"))).map(|client| {
            let outcome = block_on(send(client.get(&site.url(&format!("/?{}", other.url("/here"))))));
            (told(&outcome), other.take_seen().len())
        })
    };
    for (told, requests) in ask(|builder| builder) {
        assert_eq!(requests, 0);
        ByItself::check("a redirect from https to http", "`redirects_to_clear_text`", &told);
    }
    for (told, requests) in ask(|builder| builder.redirects_to_clear_text(true)) {
        assert_eq!((&*told, requests), ("the response, 200", 1));
    }
}

/// Where a hostile server leads, and what the caller gets instead.
fn leads(attack: &str, location: &str) {
    let site = Site::start(answer);
    for client in clients(|builder| builder) {
        let outcome = block_on(send(client.get(&site.url(&format!("/?{location}")))));
        assert_eq!(site.take_seen().len(), 1, "{location}");
        ByItself::check(attack, "–", &told(&outcome));
    }
}

#[test]
fn schemes() {
    for location in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:,content",
        "ftp://localhost/",
        "gopher://localhost/",
    ] {
        leads("a redirect to file:, javascript:, data:, ftp: or gopher:", location);
    }
    leads("a redirect to what is no URL", "http://localhost:99999/");
}

#[test]
fn several_places() {
    let site = Site::start(|_| Answer::to("/here").header("location", "/there"));
    for client in clients(|builder| builder) {
        let outcome = block_on(send(client.get(&site.url("/"))));
        assert_eq!(site.take_seen().len(), 1);
        ByItself::check("a redirect to two places", "–", &told(&outcome));
    }
}

#[test]
fn users() {
    let (site, other) = (Site::start(answer), Site::start(answer));
    let location = other.url("/here").replace("http://", "http://admin:secret@");
    for client in clients(|builder| builder) {
        let outcome = block_on(send(client.get(&site.url(&format!("/?{location}")))));
        let [seen] = &other.take_seen()[..] else { panic!("one request") };
        assert_eq!(seen.header("authorization"), "");
        let told = format!("{}; nobody is logged in", told(&outcome));
        ByItself::check("a redirect with a user and a password", "–", &told);
    }
}

#[test]
fn line_breaks() {
    let site = Site::start(answer);
    for client in clients(|builder| builder) {
        let url = site.url("/?/here%0d%0ax-injected:%201%0d%0a%0d%0aGET%20/there");
        let outcome = block_on(send(client.get(&url)));
        let seen = site.take_seen();
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert_eq!(seen[1].path, "/here%0d%0ax-injected:%201%0d%0a%0d%0aGET%20/there");
        assert_eq!(seen[1].header("x-injected"), "");
        let told = format!("{}; they stay bytes of the path", told(&outcome));
        ByItself::check("a redirect with line breaks in it", "–", &told);
    }
}

/// The name of a service of the inside, which is not for those outside.
const INSIDE: &str = "metadata.internal";

#[test]
fn names_of_the_inside() {
    let (site, inside) = (Site::start(answer), Site::start(answer));
    let at = SocketAddr::from(([127, 0, 0, 1], inside.port));
    let url = site.url(&format!("/?http://{INSIDE}:{}/secret", inside.port));
    let ask = |refuses: bool| {
        let resolve = move |host: &str, port: u16| {
            let found = match (host, refuses) {
                (INSIDE, true) => Err(io::ErrorKind::PermissionDenied.into()),
                (INSIDE, false) => Ok(vec![at]),
                _ => Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
            };
            async move { found }
        };
        clients(|builder| builder.resolver(resolve).connect_timeout(Duration::from_secs(20))).map(|client| {
            let outcome = block_on(send(client.get(&url)));
            (told(&outcome), inside.take_seen().len())
        })
    };
    for (told, requests) in ask(true) {
        assert_eq!(requests, 0);
        ByItself::check("a redirect to a name of the inside", "`resolver`, which refuses it", &told);
    }
    for (told, requests) in ask(false) {
        assert_eq!((&*told, requests), ("the response, 200", 1));
    }
}

#[test]
fn addresses_of_the_inside() {
    let (site, inside) = (Site::start(answer), Site::start(answer));
    let url = site.url(&format!("/?http://127.0.0.1:{}/secret", inside.port));
    let ask = |set: fn(ClientBuilder) -> ClientBuilder| {
        clients(set).map(|client| {
            let outcome = block_on(send(client.get(&url)));
            (told(&outcome), inside.take_seen().len())
        })
    };
    let refuses = |builder: ClientBuilder| {
        builder.on_redirect(|to| if to.to().contains("//127.") { Follow::Error } else { Follow::Yes })
    };
    for (told, requests) in ask(refuses) {
        assert_eq!(requests, 0);
        ByItself::check("a redirect to an address of the inside", "`on_redirect`, which refuses it", &told);
    }
    for (told, requests) in ask(|builder| builder) {
        assert_eq!((&*told, requests), ("the response, 200", 1));
    }
}
