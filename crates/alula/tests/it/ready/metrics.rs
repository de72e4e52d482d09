//! Metrics: what is counted under which labels, that peers make no labels, and the rules of the text format.

use std::{collections::HashMap, time::Duration};

use alula::{Answer, Begun, Error, Exchange, Hook, Metrics, Router, Sent, Status, routing::get};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::{clients, serve_routes};

/// Answers what asks for it.
struct Refuses;

impl Hook for Refuses {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        begun.request().headers().contains("x-refused").then(|| Answer::new(Status::FORBIDDEN))
    }
}

fn routes(metrics: &Metrics) -> Router {
    let echo = |mut exchange: Exchange| async move {
        let content = exchange.body().bytes().await?;
        exchange.respond(Status::OK).send(content).await
    };
    let waits = |_: Exchange| std::future::pending::<Result<Sent, Error>>();
    Router::new()
        .hook(Refuses)
        .hook(metrics.clone())
        .route("/metrics", get(metrics.handler()))
        .route("/lists/{list}", get(echo).post(echo))
        .route("/waits", get(waits))
}

#[tokio::test]
async fn requests_are_counted_by_route_method_and_status() {
    let metrics = Metrics::new();
    let origin = serve_routes(routes(&metrics)).await;
    for client in clients() {
        for number in 0..5 {
            let call = client.post(format!("{origin}/lists/{number}"));
            assert_eq!(call.send_body("hello").await.unwrap().bytes().await.unwrap(), &b"hello"[..]);
        }
        // Labels of no peer's making.
        for number in 0..20 {
            let method = format!("BREW{number}");
            let call = client.request(&*method, format!("{origin}/\"{number}\\n"));
            assert_eq!(call.send().await.unwrap().status(), 501);
            assert_eq!(client.get(format!("{origin}/none/{number}")).send().await.unwrap().status(), 404);
        }
        let refused = client.get(format!("{origin}/lists/1")).header("x-refused", "").send().await.unwrap();
        assert_eq!(refused.status(), 403);
    }
    give_up(&origin, &metrics).await;
    let [client, _] = clients();
    let mut samples = HashMap::new();
    for _ in 0..500 {
        let mut response = client.get(format!("{origin}/metrics")).send().await.unwrap();
        let media_type = "text/plain; version=0.0.4; charset=utf-8";
        assert_eq!(response.headers().text("content-type"), Some(media_type));
        samples = check(&response.text().await.unwrap());
        if samples["http_requests_in_flight"] == 1.0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("{}", metrics.text());
    for (name, value) in [
        (r#"http_requests_total{route="/lists/{list}",method="POST",status="2xx"}"#, 10.0),
        (r#"http_requests_total{route="/lists/{list}",method="GET",status="4xx"}"#, 2.0),
        (r#"http_requests_total{route="other",method="other",status="5xx"}"#, 40.0),
        (r#"http_requests_total{route="other",method="GET",status="4xx"}"#, 40.0),
        (r#"http_requests_total{route="/waits",method="GET",status="none"}"#, 2.0),
        (r#"http_request_duration_seconds_count{route="/lists/{list}",method="POST"}"#, 10.0),
        (r#"http_request_content_bytes_total{route="/lists/{list}",method="POST"}"#, 50.0),
        (r#"http_response_content_bytes_total{route="/lists/{list}",method="POST"}"#, 50.0),
        // The scrape itself.
        ("http_requests_in_flight", 1.0),
    ] {
        assert_eq!(samples.get(name), Some(&value), "{name}");
    }
}

/// Two requests whose peers do not wait for the answer: one resets its connection, one its stream.
async fn give_up(origin: &str, metrics: &Metrics) {
    under_way(metrics, 0).await;
    let [_, client] = clients();
    tokio::select! {
        _ = client.get(format!("{origin}/waits")).send() => panic!("it is answered"),
        () = under_way(metrics, 1) => {}
    }
    under_way(metrics, 0).await;
    let mut socket = TcpStream::connect(origin.trim_start_matches("http://")).await.unwrap();
    socket.write_all(b"GET /waits HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    under_way(metrics, 1).await;
    socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Waits until so many requests are under way.
async fn under_way(metrics: &Metrics, count: usize) {
    let line = format!("\nhttp_requests_in_flight {count}\n");
    let so_many = async {
        while !metrics.text().contains(&line) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), so_many).await.expect("so many are under way");
}

/// Holds a text against the rules of the format 0.0.4, and hands out its samples.
fn check(text: &str) -> HashMap<String, f64> {
    let (mut samples, mut kinds, mut helped) = (HashMap::new(), HashMap::new(), None);
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(!help.is_empty());
            helped = Some(name);
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(helped, Some(name), "help goes before the type");
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            // Names of counters, and of nothing else, end in `_total`; units are base units.
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            assert!(kinds.insert(name, kind).is_none(), "{name} has two types");
        } else {
            let (labelled, value) = line.rsplit_once(' ').unwrap();
            let name = labelled.split('{').next().unwrap();
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let base = base.filter(|base| kinds.get(base) == Some(&"histogram")).unwrap_or(name);
            assert_eq!(helped, Some(base), "samples of a metric stand together");
            assert!(
                samples.insert(labelled.to_owned(), value.parse().unwrap()).is_none(),
                "{labelled} twice"
            );
        }
    }
    check_histograms(text, &samples);
    samples
}

/// Buckets of a histogram grow, and the last holds all.
fn check_histograms(text: &str, samples: &HashMap<String, f64>) {
    let mut last = 0.0;
    for line in text.lines().filter(|line| line.contains("_bucket{")) {
        let (labelled, value) = line.rsplit_once(' ').unwrap();
        let (labels, bound) = labelled.split_once(",le=\"").unwrap();
        let value: f64 = value.parse().unwrap();
        assert!(value >= last, "{line}");
        last = value;
        if bound == "+Inf\"}" {
            let count = labels.replace("_bucket{", "_count{") + "}";
            assert_eq!(samples[&count], value);
            assert!(samples.contains_key(&count.replace("_count{", "_sum{")));
            last = 0.0;
        }
    }
}
