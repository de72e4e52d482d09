//! Attacks on a router as a whole: what panics and peers that give up must not do to those who see requests
//! begin and end.

use std::future::Ready;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{
    Answer, Begun, Client, Ended, Error, Exchange, FieldSection, Hook, Limits, Router, Sent, Server, Status,
    routing::get,
    testing::{TestServer, Wire},
};
use tokio::task::JoinSet;

/// Writes down the ends that it sees, and counts requests under way.
#[derive(Clone, Default)]
struct Notes(Arc<(AtomicI64, Mutex<Vec<String>>)>);

impl Hook for Notes {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        begun.add_header("x-noted", "1").unwrap();
        self.0.0.fetch_add(1, Relaxed);
        None
    }

    fn end(&self, ended: &Ended<'_>) {
        self.0.0.fetch_sub(1, Relaxed);
        let status = ended.status().map_or(0, Status::as_u16);
        let route = ended.route().unwrap_or("-");
        self.0.1.lock().unwrap().push(format!("{} {route} {status} {}", ended.target(), ended.sent()));
    }
}

impl Notes {
    fn under_way(&self) -> i64 {
        self.0.0.load(Relaxed)
    }

    async fn all_have_ended(&self) {
        until(|| self.under_way() == 0).await;
    }
}

/// Waits for a condition, for a minute at most.
async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is so within a minute");
}

/// Panics where the path says so.
struct Panics;

impl Hook for Panics {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        assert_ne!(begun.request().path(), "/begin", "as asked");
        None
    }

    fn end(&self, ended: &Ended<'_>) {
        assert_ne!(ended.target(), "/end", "as asked");
    }
}

async fn answers(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).send("whole").await
}

/// Panics before there is a future.
fn panics(_: Exchange) -> Ready<Result<Sent, Error>> {
    panic!("as asked")
}

fn server(routes: Router, http2: bool) -> TestServer {
    let limits = Limits { glitch_burst: 1_000_000, reset_burst: 1_000_000, ..Limits::default() };
    let settings = Server::builder().on_error(|_| {}).limits(limits);
    let server = TestServer::with(settings, routes.build().unwrap());
    if http2 { server.http2() } else { server }
}

/// A panic before the future is made left the route of the slot's request before, and a hook that panicked
/// kept the others from seeing the beginning, or the end.
#[tokio::test]
async fn panics_hide_no_beginning_no_end_and_no_route() {
    for http2 in [false, true] {
        let notes = Notes::default();
        let routes = Router::new()
            .hook(Panics)
            .hook(notes.clone())
            .route("/first", get(answers))
            .route("/handler", get(panics))
            .route("/begin", get(answers))
            .route("/end", get(answers));
        let client = server(routes, http2).client();
        for path in ["first", "handler", "first", "begin", "first", "none", "end"] {
            let mut response = client.get(format!("http://test/{path}")).send().await.unwrap();
            response.text().await.unwrap();
        }
        notes.all_have_ended().await;
        let seen = [
            "/first /first 200 5",
            "/handler /handler 500 0",
            "/first /first 200 5",
            "/begin /begin 500 0",
            "/first /first 200 5",
            "/none - 404 14",
            "/end /end 200 5",
        ];
        assert_eq!(*notes.0.1.lock().unwrap(), seen, "HTTP/2 {http2}");
        assert_eq!(notes.0.0.load(Relaxed), 0, "HTTP/2 {http2}");
    }
}

/// Requests that were given up, before they were looked at or while a detached handler went on, left what was
/// kept of them on the connection; with 1 024 of them there, the log saw no status of any other request.
#[tokio::test]
async fn streams_that_are_reset_do_not_hide_those_that_follow() {
    const AT_ONCE: usize = 40;
    for are_begun in [false, true] {
        let notes = Notes::default();
        let (opens, open) = tokio::sync::watch::channel(false);
        let waits = move |exchange: Exchange| {
            let mut open = open.clone();
            async move {
                open.wait_for(|open| *open).await.unwrap();
                exchange.respond(Status::OK).send("late").await
            }
        };
        let routes = Router::new()
            .hook(notes.clone())
            .route("/first", get(answers))
            .route("/waits", get(waits).detached());
        let client = server(routes, true).client();
        // Each handler under way holds a receiver.
        let without = opens.receiver_count();
        let handlers = || opens.receiver_count() - without;
        for _ in 0..30 {
            client.get("http://test/first").send().await.unwrap().text().await.unwrap();
            let mut calls =
                call_in_vain(&client, AT_ONCE, if are_begun { Duration::MAX } else { Duration::ZERO });
            if are_begun {
                until(|| handlers() == AT_ONCE).await;
                calls.abort_all();
            }
            while let Some(ended) = calls.join_next().await {
                assert!(!matches!(ended, Ok(Ok(_))), "a call ends before it is given up: {ended:?}");
            }
            opens.send_replace(true);
            until(|| handlers() == 0).await;
            opens.send_replace(false);
        }
        opens.send_replace(true);
        client.get("http://test/first").send().await.unwrap().text().await.unwrap();
        notes.all_have_ended().await;
        let seen = notes.0.1.lock().unwrap();
        let firsts: Vec<_> = seen.iter().filter(|line| line.starts_with("/first")).collect();
        assert_eq!(firsts.len(), 31);
        assert!(
            firsts.iter().all(|line| *line == "/first /first 200 5"),
            "begun {are_begun}: {:?}",
            firsts.last()
        );
    }
}

/// An outcome of a call that has the patience it was given.
type Patient = Result<Result<Status, Error>, tokio::time::error::Elapsed>;

/// Sends calls that nothing answers for now.
fn call_in_vain(client: &Client, count: usize, patience: Duration) -> JoinSet<Patient> {
    let call = |client: Client| async move {
        let call = client.get("http://test/waits").send();
        tokio::time::timeout(patience, call).await.map(|outcome| outcome.map(|answer| answer.status()))
    };
    (0..count).map(|_| call(client.clone())).collect()
}

/// Panics when it is dropped.
struct PanicsAtEnd;

impl Drop for PanicsAtEnd {
    fn drop(&mut self) {
        panic!("as asked");
    }
}

/// The futures of a connection that broke were dropped together if no hook saw them end: one panic ended its
/// task, and a second one the process.
#[tokio::test]
async fn destructors_that_panic_when_a_connection_breaks_end_nothing_else() {
    let begun = Arc::new(AtomicI64::new(0));
    let counted = begun.clone();
    let waits = move |_: Exchange| {
        counted.fetch_add(1, Relaxed);
        async {
            let _guard = PanicsAtEnd;
            std::future::pending::<Result<Sent, Error>>().await
        }
    };
    let failures = Arc::new(Mutex::new(Vec::new()));
    let routes = Router::new().route("/waits", get(waits)).route("/first", get(answers)).build().unwrap();
    let told = failures.clone();
    let settings = Server::builder().on_error(move |failure| told.lock().unwrap().push(failure.to_string()));
    let server = TestServer::with(settings, routes).http2().to_server(Wire::new().reset_after(300));
    let client = server.client();
    let mut calls = JoinSet::new();
    for _ in 0..3 {
        let client = client.clone();
        calls.spawn(async move { client.get("http://test/waits").send().await });
    }
    until(|| begun.load(Relaxed) == 3).await;
    // The connection breaks within what is sent now.
    let call = client.post("http://test/first").body("x".repeat(1_000)).send();
    assert!(tokio::time::timeout(Duration::from_secs(5), call).await.unwrap().is_err());
    assert!(calls.join_all().await.iter().all(Result::is_err));
    let lines = || failures.lock().unwrap().clone();
    let panicked = || lines().iter().filter(|line| line.contains("panicked: as asked")).count();
    until(|| panicked() >= 3).await;
    assert_eq!(panicked(), 3, "{:?}", lines());
}

/// Panics about a head that says so, before it leaves.
struct PanicsAtHead;

impl Hook for PanicsAtHead {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        assert!(!headers.contains("x-panic"), "as asked");
    }
}

/// The 500 in place of a head that could not be sent had no field of a hook: they were spent on the head that
/// did not leave.
#[tokio::test]
async fn fields_of_hooks_stay_when_a_head_cannot_be_sent() {
    let with = |name: &'static str, value: &'static str| {
        get(move |exchange: Exchange| async move {
            exchange.respond(Status::OK).header(name, value).send("whole").await
        })
    };
    let routes = || {
        Router::new()
            .hook(Notes::default())
            .hook(PanicsAtHead)
            .route("/well", with("x-well", "1"))
            .route("/digits", with("content-length", "x"))
            .route("/panic", with("x-panic", "1"))
    };
    for http2 in [false, true] {
        let client = server(routes(), http2).client();
        for (path, status) in [("well", 200), ("digits", 500), ("panic", 500), ("well", 200)] {
            let mut response = client.get(format!("http://test/{path}")).send().await.unwrap();
            assert_eq!(response.status(), status, "HTTP/2 {http2}, {path}");
            let noted = response.headers().get_all("x-noted").count();
            assert_eq!(noted, 1, "HTTP/2 {http2}, {path}");
            response.text().await.unwrap();
        }
    }
}
