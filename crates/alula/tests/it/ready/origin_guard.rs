//! Requests that pages of other origins make, and hosts that were bound anew: which of them pass.

use alula::{Exchange, OriginGuard, Router, Server, Status, routing::any};

use super::{clients, serve_routes};

use crate::support::listen;

async fn says(exchange: Exchange) -> Result<alula::Sent, alula::Error> {
    exchange.respond(Status::OK).send("").await
}

fn routes(guard: OriginGuard) -> Router {
    Router::new().hook(guard.clone()).route("/", any(says)).route("/layer", any(says).wrap(guard.layer()))
}

type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], u16);

async fn check(origin: &str, paths: &[&str], rows: &[Row<'_>]) {
    for client in clients() {
        for (method, host, fields, status) in rows {
            for path in paths {
                let call = client.request(*method, format!("{origin}{path}")).header("host", *host);
                let call = fields.iter().fold(call, |call, (name, value)| call.header(*name, *value));
                let response = call.send().await.unwrap();
                assert_eq!(response.status(), *status, "{method} {path} for {host} with {fields:?}");
            }
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing() {
    let origin = serve_routes(routes(OriginGuard::new().trust("https://app.example"))).await;
    let (site, page) = ("sec-fetch-site", "origin");
    check(
        &origin,
        &["/", "/layer"],
        &[
            // No browser.
            ("POST", "a.example", &[], 200),
            ("POST", "a.example", &[(site, "same-origin"), (page, "https://behind.example")], 200),
            ("POST", "a.example", &[(site, "none")], 200),
            ("POST", "a.example", &[(site, "same-site"), (page, "http://a.example")], 403),
            ("POST", "a.example", &[(site, "cross-site")], 403),
            ("PUT", "a.example", &[(site, "cross-site"), (page, "http://a.example")], 403),
            ("DELETE", "a.example", &[(site, "Same-Origin")], 403),
            ("POST", "a.example", &[(site, "same-origin"), (site, "same-origin")], 403),
            // Browsers that say no more than the origin, and clear text.
            ("POST", "a.example", &[(page, "http://a.example")], 200),
            ("POST", "A.example:80", &[(page, "http://a.example")], 200),
            ("POST", "a.example", &[(page, "http://a.example:80")], 200),
            ("POST", "a.example:8080", &[(page, "http://a.example:8080")], 200),
            ("POST", "[::1]:8080", &[(page, "http://[::1]:8080")], 200),
            ("POST", "a.example", &[(page, "https://a.example")], 403),
            ("POST", "a.example:443", &[(page, "https://a.example")], 403),
            ("POST", "a.example:8080", &[(page, "http://a.example")], 403),
            ("POST", "a.example", &[(page, "http://b.example")], 403),
            ("POST", "a.example", &[(page, "http://a.example.b.example")], 403),
            ("POST", "a.example", &[(page, "http://b.example@a.example")], 403),
            ("POST", "a.example", &[(page, "null")], 403),
            ("POST", "a.example", &[(page, "")], 403),
            ("POST", "a.example", &[(page, "a.example")], 403),
            ("POST", "a.example", &[(page, "http://a.example"), (page, "http://b.example")], 403),
            ("BREW", "a.example", &[(page, "http://b.example")], 403),
            // Those that are trusted.
            ("POST", "a.example", &[(page, "https://app.example")], 200),
            ("POST", "a.example", &[(page, "https://app.example"), (site, "cross-site")], 200),
            ("POST", "a.example", &[(page, "http://app.example"), (site, "cross-site")], 403),
            ("POST", "a.example", &[(page, "https://app.example:443"), (site, "cross-site")], 403),
            ("POST", "a.example", &[(page, "https://app.example"), (page, "https://app.example")], 403),
            // Links and images are of any site.
            ("GET", "a.example", &[(site, "cross-site"), (page, "http://b.example")], 200),
            ("HEAD", "a.example", &[(site, "cross-site")], 200),
            ("OPTIONS", "a.example", &[(page, "http://b.example")], 200),
        ],
    )
    .await;
}

#[tokio::test]
async fn hosts_that_were_bound_anew_are_refused_whatever_their_pages_do() {
    let own = &[("sec-fetch-site", "same-origin"), ("origin", "http://rebound.example")][..];
    let guard = OriginGuard::new().local_hosts().host("Db.Example.").hosts(["*.intern.example"]);
    check(
        &serve_routes(routes(guard)).await,
        &["/", "/layer"],
        &[
            ("GET", "rebound.example", own, 421),
            ("GET", "rebound.example", &[], 421),
            ("POST", "rebound.example:8080", own, 421),
            ("OPTIONS", "rebound.example", &[], 421),
            ("GET", "127.0.0.1:8080", &[], 200),
            ("GET", "192.0.2.1", &[], 200),
            ("GET", "[::1]", &[], 200),
            ("GET", "[2001:db8::1]:1", &[], 200),
            ("GET", "LOCALHOST:8080", &[], 200),
            ("GET", "localhost.", &[], 200),
            ("GET", "a.b.localhost", &[], 200),
            ("GET", ".localhost", &[], 421),
            ("GET", "alocalhost", &[], 421),
            ("GET", "localhost.example", &[], 421),
            ("GET", "127.0.0.1.example", &[], 421),
            ("GET", "1.2.3", &[], 421),
            ("GET", "db.example", &[], 200),
            ("GET", "DB.example.:99", &[], 200),
            ("GET", "a.db.example", &[], 421),
            ("GET", "intern.example", &[], 421),
            ("GET", "a.intern.example", &[], 200),
            ("POST", "db.example", &[("origin", "http://db.example")], 200),
            ("POST", "db.example", &[("origin", "http://rebound.example")], 403),
        ],
    )
    .await;
    let named = OriginGuard::of_hosts().host("a.example").misdirected("call it a.example");
    let origin = serve_routes(routes(named)).await;
    let rows: &[Row<'_>] = &[
        ("GET", "a.example", &[], 200),
        ("POST", "a.example", &[("origin", "http://b.example")], 200),
        ("GET", "localhost", &[], 421),
        ("GET", "127.0.0.1", &[], 421),
    ];
    check(&origin, &["/"], rows).await;
    let mut refused = clients()[0].get(&origin).send().await.unwrap();
    assert_eq!(refused.text().await.unwrap(), "call it a.example\n");
}

/// Behind a proxy that ends TLS the scheme is what the proxy says, where it is trusted.
#[tokio::test]
async fn the_scheme_is_that_of_the_client() {
    for (is_trusted, https, http) in [(true, 200, 403), (false, 403, 200)] {
        let builder = Server::builder().trusted_proxies(move |address| is_trusted && address.is_loopback());
        let origin = format!("http://{}", listen(builder, routes(OriginGuard::new()).build().unwrap()).await);
        let over_tls = ("x-forwarded-proto", "https");
        let rows: &[Row<'_>] = &[
            ("POST", "a.example", &[over_tls, ("origin", "https://a.example")], https),
            ("POST", "a.example", &[over_tls, ("origin", "http://a.example")], http),
        ];
        check(&origin, &["/"], rows).await;
    }
}

#[tokio::test]
async fn pages_that_refer_are_judged_where_it_is_asked_for() {
    let guard = OriginGuard::new().referers().trust("https://app.example");
    let origin = serve_routes(routes(guard)).await;
    let referer = "referer";
    let rows: [Row<'_>; 8] = [
        ("GET", "a.example", &[], 200),
        ("GET", "a.example", &[(referer, "")], 200),
        ("GET", "a.example", &[(referer, "http://A.example:80/page?q#f")], 200),
        ("GET", "a.example", &[(referer, "https://app.example/page")], 200),
        ("GET", "a.example", &[(referer, "https://a.example/")], 403),
        ("GET", "a.example", &[(referer, "http://b.example/@a.example")], 403),
        ("POST", "a.example", &[(referer, "about:blank")], 403),
        ("GET", "a.example", &[(referer, "http://a.example/"), (referer, "http://b.example/")], 403),
    ];
    check(&origin, &["/", "/layer"], &rows).await;
    let free = serve_routes(routes(OriginGuard::new())).await;
    check(&free, &["/"], &[("GET", "a.example", &[(referer, "http://b.example/")], 200)]).await;
}
