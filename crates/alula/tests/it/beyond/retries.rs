//! What is tried again, how often, and when it is not.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use alula::{Retries, Status};

use super::site::{Answer, Seen, Site, clients, post, send};

/// `/503-2?5` answers with 503 and `retry-after: 5` twice, then all is well.
fn failing() -> impl Fn(&Seen) -> Answer + Send + Sync + 'static {
    let asked = AtomicUsize::new(0);
    move |seen| {
        let path = seen.line.split(' ').nth(1).unwrap();
        let (route, after) = path.split_once('?').unwrap_or((path, ""));
        let (status, times) = route[1..].split_once('-').unwrap();
        if asked.fetch_add(1, Relaxed) >= times.parse().unwrap() {
            asked.store(0, Relaxed);
            return Answer::new(200);
        }
        let answer = Answer::new(status.parse().unwrap());
        if after.is_empty() { answer } else { answer.header("retry-after", after.replace('+', " ")) }
    }
}

/// As often, and as good as without waiting.
fn tries(max: u32) -> Retries {
    Retries::new(max).backoff(Duration::from_micros(10), Duration::from_millis(1))
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for (row, method, path, rules, outcome, requests) in [
        ("no rules", "GET", "/503-1", None, 503, 1),
        ("one failure", "GET", "/503-1", Some(tries(3)), 200, 2),
        ("two failures", "PUT", "/503-2", Some(tries(3)), 200, 3),
        ("more than tries", "GET", "/503-9", Some(tries(3)), 503, 3),
        ("one try", "GET", "/503-1", Some(tries(1)), 503, 1),
        ("408", "GET", "/408-1", Some(tries(2)), 200, 2),
        ("429", "DELETE", "/429-1", Some(tries(2)), 200, 2),
        ("502", "GET", "/502-1", Some(tries(2)), 200, 2),
        ("504", "GET", "/504-1", Some(tries(2)), 200, 2),
        ("500", "GET", "/500-1", Some(tries(2)), 500, 1),
        ("404", "GET", "/404-1", Some(tries(2)), 404, 1),
        ("own statuses", "GET", "/404-1", Some(tries(2).statuses([Status::NOT_FOUND])), 200, 2),
        ("others then not", "GET", "/503-1", Some(tries(2).statuses([])), 503, 1),
        ("not idempotent", "POST", "/503-1", Some(tries(3)), 503, 1),
        ("not known", "FROB", "/503-1", Some(tries(3)), 503, 1),
        ("told to come at once", "GET", "/503-1?0", Some(tries(3)), 200, 2),
        ("told to come back long ago", "GET", "/503-1?Sun,+06+Nov+1994+08:49:37+GMT", Some(tries(3)), 200, 2),
        ("told to come too late", "GET", "/503-1?61", Some(tries(3)), 503, 1),
        ("told to come far too late", "GET", "/503-1?Fri,+31+Dec+9999+23:59:59+GMT", Some(tries(3)), 503, 1),
        ("told to come late", "GET", "/503-1?1", Some(tries(3).retry_after_max(Duration::ZERO)), 503, 1),
        ("told nonsense", "GET", "/503-1?soon", Some(tries(3)), 200, 2),
    ] {
        for of_call in [false, true] {
            let site = Site::start(failing()).await;
            let settings = |builder: alula::ClientBuilder| match &rules {
                Some(rules) if !of_call => builder.retries(rules.clone()),
                _ if of_call => builder.retries(tries(9)),
                _ => builder,
            };
            for client in clients(settings) {
                let url = site.url(path);
                let mut call = client.request(method, &url);
                if of_call {
                    call = call.retries(rules.clone().unwrap_or(Retries::new(0)));
                }
                let content: &[u8] = if method == "PUT" { b"abc" } else { b"" };
                let response = post(call, content).await.unwrap();
                let seen = site.take_seen();
                assert_eq!((response.status().as_u16(), seen.len()), (outcome, requests), "{row}");
                assert!(seen.iter().all(|seen| seen.content == content), "{row}");
                // The next version begins anew.
                if outcome != 200 {
                    send(client.get(&url).retries(tries(10))).await.unwrap();
                    site.take_seen();
                }
            }
        }
    }
}

#[tokio::test]
async fn a_failing_origin_gets_no_storm() {
    let site = Site::start(|_| Answer::new(503)).await;
    let url = site.url("/");
    for client in clients(|builder| builder.retries(tries(2))) {
        for _ in 0..30 {
            assert_eq!(send(client.get(&url)).await.unwrap().status().as_u16(), 503);
        }
        // Eleven calls until the ten retries that may be made at once are spent, with the one that the calls
        // bring; then every tenth call has one.
        assert_eq!(site.take_lines().len(), 30 + 11 + 1);
    }
}

#[tokio::test]
async fn a_wait_that_would_reach_the_deadline_is_not_begun() {
    let site = Site::start(failing()).await;
    let long = Duration::from_secs(3600);
    for client in clients(|builder| builder.retries(Retries::new(5).backoff(long, long))) {
        let url = site.url("/503-1");
        let response = send(client.get(&url).timeout(Duration::from_secs(30))).await.unwrap();
        assert_eq!(response.status().as_u16(), 503);
        assert_eq!(site.take_lines().len(), 1);
        send(client.get(&url)).await.unwrap();
        site.take_lines();
    }
}

#[tokio::test]
async fn what_is_streamed_is_tried_once() {
    let site = Site::start(failing()).await;
    for client in clients(|builder| builder.retries(tries(5))) {
        let (writer, pending) = client.put(&site.url("/503-1")).open().await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(pending.response().await.unwrap().status().as_u16(), 503);
        send(client.get(&site.url("/503-1"))).await.unwrap();
        assert_eq!(site.take_lines().len(), 2);
    }
}

#[tokio::test]
async fn prepared_requests_are_tried_again_and_redirects_followed_meanwhile() {
    let site = Site::start(|seen| match &*seen.line {
        "GET /a" => Answer::new(302).header("location", "/b"),
        _ => Answer::new(503),
    })
    .await;
    for client in clients(|builder| builder.retries(tries(4))) {
        let prepared = client.prepare(alula::Method::Get, &site.url("/a")).unwrap().build().unwrap();
        let response = send(client.call(&prepared)).await.unwrap();
        assert_eq!((response.status().as_u16(), response.redirects()), (503, 1));
        assert_eq!(site.take_lines(), ["GET /a", "GET /b", "GET /b", "GET /b", "GET /b"]);
    }
}
