//! Handlers that hold up the other requests of their connection of HTTP/2 are told of by `tracing`, with
//! their route and the cure.
//!
//! This is a program of its own: `tracing` keeps for the whole process who listens to which event, and a test
//! beside it that nobody listens to may be the first to ask.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Client, Exchange, Handler as _, Router, Status, routing::get, testing::TestServer};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

/// The warnings that were told, one line each.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.target() == "alula" && *about.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Answers after its turn took 11 ms by the paused clock.
async fn hold_up(exchange: Exchange) -> Result<alula::Sent, alula::Error> {
    tokio::time::advance(Duration::from_millis(11)).await;
    exchange.respond(Status::OK).send("").await
}

/// The handlers of one connection of HTTP/2 take turns in its task, which nobody noticed but by its effects.
#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn handlers_that_hold_up_their_connection_are_told_of_once() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(lines.clone());
    let routes = Router::new().route("/items/{id}", get(hold_up)).route("/own", get(hold_up).spawned());
    let routes = routes.route("/quick", get(|exchange: Exchange| exchange.respond(Status::OK).send("")));
    let routes = routes.build().unwrap();
    let told = || lines.0.lock().unwrap().clone();
    let ask = async |client: &Client, path: &str, times: usize| {
        for _ in 0..times {
            client.get(&format!("http://test{path}")).send().await.unwrap().bytes().await.unwrap();
        }
    };
    let clients = [TestServer::new(routes.clone()).client(), TestServer::new(routes).http2().client()];
    for (client, expected) in clients.iter().zip([0, 1]) {
        ask(client, "/items/1", 2).await;
        ask(client, "/quick", 10).await;
        assert_eq!(told(), [""; 0], "it may have been chance");
        ask(client, "/items/2", 1).await;
        assert_eq!(told().len(), expected, "over HTTP/1.1 no other request waits");
        ask(client, "/items/3", 10).await;
        ask(client, "/own", 10).await;
        assert_eq!(told().len(), expected, "{:?}", told());
    }
    assert!(told()[0].contains("http.route=\"/items/{id}\" turn.duration_ms=11"), "{:?}", told());
    assert!(told()[0].contains("Route::spawned"));

    let plain = TestServer::new(hold_up).http2().client();
    ask(&plain, "/", 5).await;
    assert!(told().len() == 2 && told()[1].contains("Handler::spawned"), "{:?}", told());
    ask(&TestServer::new(hold_up.spawned()).http2().client(), "/", 5).await;
    assert_eq!(told().len(), 2);
}
