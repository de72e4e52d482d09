//! Servers at the works of `cargo xtask bench --servers`: 1 KiB from memory, JSON by one of 40 routes, a
//! file.
//!
//! hyper has no router and no files: its service finds the route by matchit, as axum does, and reads the file
//! with tokio. Files of axum are those of tower-http.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use alula_testkit::routes::SMALL;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::{Listener, ListenerExt};
use axum::{Json, Router};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tower_http::services::ServeDir;

use crate::measure::one_thread;
use crate::servers::listening::{Listening, Speaks};

/// The words that follow `works`.
pub(crate) struct Works {
    pub(crate) work: String,
    pub(crate) site: PathBuf,
    pub(crate) listening: Listening,
}

/// The route of the 40 that is asked for.
pub(crate) const ITEM: &str = "/lists/{list}/items/{item}";

/// As many as paths that vary name.
const ITEMS: u64 = 1000;

/// An item, as it is kept.
struct Item {
    title: String,
    done: bool,
}

/// An item, as it is told.
#[derive(Serialize)]
struct Shown<'a> {
    list: &'a str,
    id: u64,
    title: &'a str,
    done: bool,
}

type Items = HashMap<u64, Item>;

fn items() -> Items {
    (0..ITEMS)
        .map(|id| (id, Item { title: format!("What is to be done, part {id}"), done: id % 2 == 0 }))
        .collect()
}

fn shown<'a>(items: &'a Items, list: &'a str, id: u64) -> Option<Shown<'a>> {
    items.get(&id).map(|item| Shown { list, id, title: &item.title, done: item.done })
}

/// 1 KiB.
fn content() -> Bytes {
    Bytes::from(vec![b'a'; 1024])
}

impl Works {
    pub(crate) fn hyper(self) {
        one_thread().block_on(async {
            match &*self.work {
                "memory" => self.serve_memory().await,
                "json" => self.serve_json().await,
                _ => self.serve_file().await,
            }
        });
    }

    async fn serve_memory(self) {
        let content = content();
        let service = move |_: Request<Incoming>| {
            let answer = answer(StatusCode::OK, "text/plain", content.clone());
            async { answer }
        };
        self.listening.hyper(hyper::service::service_fn(service)).await;
    }

    async fn serve_json(self) {
        let (items, routes) = (Arc::new(items()), Arc::new(routes()));
        let service = move |request: Request<Incoming>| {
            let (items, routes) = (Arc::clone(&items), Arc::clone(&routes));
            async move { item(&items, &routes, request.uri().path()) }
        };
        self.listening.hyper(hyper::service::service_fn(service)).await;
    }

    async fn serve_file(self) {
        let file = Arc::new(self.site.join("kib.txt"));
        let service = move |_: Request<Incoming>| {
            let file = Arc::clone(&file);
            async move {
                match tokio::fs::read(&*file).await {
                    Ok(content) => answer(StatusCode::OK, "text/plain", content.into()),
                    Err(_) => answer(StatusCode::NOT_FOUND, "text/plain", Bytes::new()),
                }
            }
        };
        self.listening.hyper(hyper::service::service_fn(service)).await;
    }

    /// In clear text by `axum::serve`; over TLS, which that has not, by hyper-util, as axum's examples do.
    pub(crate) fn axum(self) {
        let app = match &*self.work {
            "memory" => {
                let content = content();
                Router::new().route("/memory", get(async move || ([(CONTENT_TYPE, "text/plain")], content)))
            }
            "json" => {
                let small = SMALL.iter().filter(|pattern| **pattern != ITEM);
                let small = small
                    .fold(Router::new(), |app, pattern| app.route(pattern, get(async || "Hello, World!")));
                small.route(ITEM, get(shown_item)).with_state(Arc::new(items()))
            }
            _ => Router::new().fallback_service(ServeDir::new(&self.site)),
        };
        one_thread().block_on(async {
            if self.listening.is_secure() {
                self.listening.automatic(TowerToHyperService::new(app)).await;
            } else {
                axum::serve(without_delay(self.listening.listener().await), app).await.expect("it serves");
            }
        });
    }
}

/// A head and content behind it are two writes of axum's files: without this each waits for an
/// acknowledgement.
fn without_delay(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr: std::fmt::Debug> {
    listener.tap_io(|socket| socket.set_nodelay(true).expect("a TCP socket"))
}

/// `works WORK h1|h2 SITE [CERTIFICATE KEY]`
pub(crate) fn parse(args: &[&str]) -> Option<Works> {
    let (work, version, site, tls) = match *args {
        [work, version, site] => (work, version, site, None),
        [work, version, site, certificate, key] => (work, version, site, Some((certificate, key))),
        _ => return None,
    };
    let speaks = if version == "h1" { Speaks::Http1 } else { Speaks::Http2 };
    Some(Works { work: work.to_owned(), site: site.into(), listening: Listening::new(speaks, tls) })
}

type Answer = Result<Response<Full<Bytes>>, Infallible>;

/// A service of hyper.
pub(crate) trait Serves:
    Service<Request<Incoming>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> Serves for S where
    S: Service<
            Request<Incoming>,
            Response = Response<Full<Bytes>>,
            Error = Infallible,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

fn answer(status: StatusCode, content_type: &'static str, content: Bytes) -> Answer {
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}

/// The 40, by their patterns.
fn routes() -> matchit::Router<&'static str> {
    let mut routes = matchit::Router::new();
    for pattern in SMALL {
        routes.insert(pattern, pattern).expect("a good pattern");
    }
    routes
}

/// hyper's answer with an item.
fn item(items: &Items, routes: &matchit::Router<&'static str>, path: &str) -> Answer {
    let found = routes.at(path).ok().filter(|found| *found.value == ITEM);
    let shown = found.as_ref().and_then(|found| {
        let id = found.params.get("item")?.parse().ok()?;
        shown(items, found.params.get("list")?, id)
    });
    match shown {
        Some(shown) => {
            let content = serde_json::to_vec(&shown).expect("it has no maps");
            answer(StatusCode::OK, "application/json", content.into())
        }
        None => answer(StatusCode::NOT_FOUND, "text/plain", Bytes::new()),
    }
}

/// axum's.
async fn shown_item(
    State(items): State<Arc<Items>>,
    Path((list, id)): Path<(String, u64)>,
) -> impl IntoResponse {
    match shown(&items, &list, id) {
        Some(shown) => Json(shown).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
