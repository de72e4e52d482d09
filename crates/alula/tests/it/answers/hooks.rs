//! Hooks: what they see of requests, what they add, and that an answer of theirs is sent in place of a
//! handler's.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::routing::{get, post};
use alula::{Answer, Begun, Client, Ended, Error, Exchange, FieldSection, Hook, Router, Sent, Status};
use tokio::sync::Notify;

use crate::support::serve;

/// Writes down what it sees.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Waits until so many requests have ended: their answers may arrive before.
    async fn wait_for(&self, count: usize) {
        let all_there = async {
            while self.0.lock().unwrap().len() < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all_there).await.expect("every request ends");
    }
}

impl Hook for Notes {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let forbidden = begun.request().headers().contains("x-forbidden");
        begun.add_header("x-request-id", "7").unwrap();
        forbidden.then(|| Answer::new(Status::FORBIDDEN).detail("not you"))
    }

    fn head(&self, status: Status, headers: &mut FieldSection) {
        headers.set("x-status", format!("{status}")).unwrap();
    }

    fn end(&self, ended: &Ended<'_>) {
        assert!(ended.until_head().is_none_or(|head| head <= ended.duration()));
        assert!(ended.duration() < Duration::from_secs(10));
        self.0.lock().unwrap().push(format!(
            "{} {} {} {} in {} out {} {} {} {}",
            ended.method(),
            ended.target(),
            ended.route().unwrap_or("-"),
            ended.status().map_or(0, Status::as_u16),
            ended.received(),
            ended.sent(),
            ended.user_agent(),
            ended.referer(),
            if ended.failure().is_some() { "failed" } else { "well" },
        ));
    }
}

async fn echo(mut exchange: Exchange) -> Result<Sent, Error> {
    let content = exchange.body().bytes().await?;
    exchange.respond(Status::OK).send(content).await
}

async fn streams(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::ACCEPTED).stream().await?;
    for _ in 0..10 {
        writer.write("0123456789").await?;
    }
    writer.finish().await
}

/// Told when a request is there that is not answered.
static WAITS: Notify = Notify::const_new();

/// Answers never.
async fn waits(_exchange: Exchange) -> Result<Sent, Error> {
    WAITS.notify_one();
    std::future::pending().await
}

fn routes(notes: Notes) -> Router {
    Router::new()
        .hook(notes)
        .route("/echo/{name}", post(echo))
        .route("/stream", get(streams))
        .route("/spawned", get(streams).spawned())
        .route(
            "/panic",
            get(|it: Exchange| async move {
                if it.request().method() == "GET" { panic!("as asked") } else { Err(Status::OK) }
            }),
        )
        .route("/waits", get(waits))
}

#[tokio::test]
async fn each_request_is_seen_to_its_end() {
    for http2 in [false, true] {
        let notes = Notes::default();
        let origin = serve(routes(notes.clone()).build().unwrap()).await;
        let client = Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap();
        let call =
            client.post(format!("{origin}/echo/a?token=secret")).header("referer", "http://r.example/?k=s");
        let rows = [
            (call.send_body("hello").await, 200),
            (client.get(format!("{origin}/stream")).send().await, 202),
            (client.get(format!("{origin}/spawned")).send().await, 202),
            (client.get(format!("{origin}/stream")).header("x-forbidden", "").send().await, 403),
            (client.get(format!("{origin}/none")).send().await, 404),
            (client.get(format!("{origin}/panic")).send().await, 500),
        ];
        for (response, status) in rows {
            let mut response = response.unwrap();
            assert_eq!(response.status(), status);
            assert_eq!(response.headers().text("x-request-id"), Some("7"));
            assert_eq!(response.headers().text("x-status"), Some(&*status.to_string()));
            while response.body().chunk().await.unwrap().is_some() {}
        }
        if http2 {
            tokio::select! {
                answer = client.get(format!("{origin}/waits")).send() => panic!("{answer:?}"),
                () = WAITS.notified() => {}
            }
        }
        let mut expected = vec![
            "POST /echo/a?token=… /echo/{name} 200 in 5 out 5 u/1 http://r.example/?k=… well",
            "GET /stream /stream 202 in 0 out 100 u/1  well",
            "GET /spawned /spawned 202 in 0 out 100 u/1  well",
            "GET /stream /stream 403 in 0 out 8 u/1  well",
            "GET /none - 404 in 0 out 14 u/1  well",
            "GET /panic /panic 500 in 0 out 0 u/1  well",
        ];
        expected.extend(http2.then_some("GET /waits /waits 0 in 0 out 0 u/1  failed"));
        notes.wait_for(expected.len()).await;
        assert_eq!(*notes.0.lock().unwrap(), expected, "HTTP/2 {http2}");
    }
}

/// Panics in each of its places, for the paths that say so.
struct Panics;

impl Hook for Panics {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        assert_ne!(begun.request().path(), "/begin", "as asked");
        None
    }

    fn head(&self, _: Status, headers: &mut FieldSection) {
        assert!(!headers.contains("x-panic"), "as asked");
    }

    fn end(&self, ended: &Ended<'_>) {
        assert_ne!(ended.target(), "/end", "as asked");
    }
}

#[tokio::test]
async fn a_hook_that_panics_ends_its_request_alone() {
    let answers = |panics: bool| {
        move |exchange: Exchange| async move {
            let reply = exchange.respond(Status::OK);
            if panics { reply.header("x-panic", "").send("").await } else { reply.send("").await }
        }
    };
    let router = Router::new()
        .hook(Panics)
        .route("/{any}", get(answers(false)))
        .route("/head", get(answers(true)))
        .route(
            "/error",
            get(|_: Exchange| async { Err(Answer::new(Status::CONFLICT).header("x-panic", "")) }),
        );
    let origin = serve(router.build().unwrap()).await;
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).connections_max(1).build().unwrap();
        for (path, status) in
            [("/well", 200), ("/begin", 500), ("/head", 500), ("/error", 409), ("/end", 200), ("/well", 200)]
        {
            let mut response = client.get(format!("{origin}{path}")).send().await.unwrap();
            assert_eq!(response.status(), status, "HTTP/2 {http2}, {path}");
            while response.body().chunk().await.unwrap().is_some() {}
        }
    }
}
