//! Twenty cookies of a jar cost a request a few allocations over both versions, and none for each cookie.

use alula::{Client, Exchange, Jar, Status};
use alula_tally::Side;
use alula_testkit::Windows;

use crate::support::{DATE, cost, on_a_thread, serve};

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;
/// The text of the URL, three for parsing it, and the list of the cookies; the documentation of `cookies`
/// says as much.
const ALLOCATIONS: f64 = 5.0;

pub(crate) fn twenty_cookies_cost_a_few_allocations() {
    assert!(alula_tally::is_installed());
    let url = serve(|server| {
        server.serve(|exchange: Exchange| {
            let has_cookies = exchange.request().headers().contains("cookie");
            let status = if has_cookies { Status::OK } else { Status::BAD_REQUEST };
            exchange.respond(status).header("date", DATE).send(b"")
        })
    });
    on_a_thread(Side::CLIENT, async move {
        for http2 in [false, true] {
            for cookies in [20, 1] {
                let jar = Jar::new();
                for at in 0..cookies {
                    jar.add(&url, &format!("cookie-{at}=value-{at}")).unwrap();
                }
                let client = Client::builder().http2_prior_knowledge(http2).cookies(jar).build().unwrap();
                get(&client, &url, WARM_UP).await;
                let mut windows = Windows::expecting(ALLOCATIONS);
                while windows.are_open() {
                    let mut ask = async |requests| get(&client, &url, requests).await;
                    windows.add(cost(Side::CLIENT, REQUESTS, &mut ask).await as f64 / REQUESTS as f64);
                }
                println!("http2 {http2}, {cookies} cookies: {:?} allocations for a request", windows.costs());
                assert!(windows.are_met(), "http2 {http2}, {cookies} cookies: {windows:?}");
            }
        }
    });
}

async fn get(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert!(response.body().chunk().await.unwrap().is_none());
    }
}
