//! Routers: which handler answers, what it sees, and what becomes of its result. One application, asked over
//! both versions.

mod attacks;
mod covered;
mod spawned;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use alula::routing::{any, get, on, post};
use alula::testing::TestServer;
use alula::{Answer, Content, Error, Exchange, Next, Route, Router, Sent, Status};
use tokio::sync::Notify;

use crate::support::clients;

/// The state that the handlers share.
#[derive(Default)]
struct App {
    finished: AtomicUsize,
}

type Asked = Exchange<App>;

/// The requests and their answers: method, path, status, content or the start of it.
const ROWS: &[(&str, &str, u16, &str)] = &[
    ("GET", "/lists", 200, "all"),
    ("HEAD", "/lists", 200, ""),
    ("POST", "/lists", 201, "made"),
    // Another method of a known path (RFC 9110 §15.5.6), one that HTTP does not know (§15.6.2), an unknown
    // path (§15.5.5).
    ("DELETE", "/lists", 405, "405 Method Not Allowed"),
    ("OPTIONS", "/lists", 405, "405 Method Not Allowed"),
    ("BREW", "/lists", 501, "501 Not Implemented"),
    ("BREW", "/none", 501, "501 Not Implemented"),
    ("GET", "/none", 404, "404 Not Found"),
    ("GET", "/lists/", 404, "404 Not Found"),
    ("GET", "/lists/a%20b", 200, "list a b of /lists/{list}"),
    ("GET", "/lists/%C3%B6?x=1", 200, "list ö of /lists/{list}"),
    ("GET", "/lists/a%2Fb", 200, "list a/b of /lists/{list}"),
    ("GET", "/lists/%zz", 400, "list in the path has a %"),
    ("GET", "/lists/%ff", 400, "list in the path is not UTF-8"),
    ("GET", "/lists/a/items/7", 200, "item 7 of a"),
    ("GET", "/lists/a/items/x", 400, "item in the path is not what is expected here"),
    ("GET", "/lists//items/7", 400, "the path has an empty segment"),
    ("GET", "/lists/%2e%2e", 400, "the path has a dot segment"),
    ("GET", "/files/a/b/c.txt", 200, "file a/b/c.txt"),
    ("GET", "/files/", 200, "file "),
    ("GET", "/files/a//b", 400, "the path has an empty segment"),
    ("PURGE", "/cache", 501, "501 Not Implemented"),
    ("GET", "/every", 200, "GET by any"),
    ("PATCH", "/every", 200, "PATCH by any"),
    ("GET", "/missing", 404, "there is no such thing"),
    ("GET", "/mistake", 500, "500 Internal Server Error"),
    ("GET", "/panic", 500, ""),
    ("GET", "/slow", 503, "the request took too long"),
    ("GET", "/computed", 200, "computed"),
    ("GET", "/computed/badly", 500, ""),
    ("GET", "/api/v1/users/5", 200, "user 5 of /api/v1/users/{user}"),
    ("GET", "/api/v1", 200, "the api"),
    ("GET", "/api/v1/none", 404, "404 Not Found"),
    ("GET", "/no-such-param", 500, "500 Internal Server Error"),
    ("GET", "/boxed/x", 400, "item in the path is not what is expected here"),
    ("GET", "/boxed/7?number=x", 400, "the query is not what is expected here"),
    ("GET", "/boxed/7", 400, "the content "),
    ("GET", "/boxed/0", 500, "500 Internal Server Error"),
    ("GET", "/page", 200, "page 1 of 10"),
    ("GET", "/page?number=3&of=5&x=y", 200, "page 3 of 5"),
    ("GET", "/page?number=x", 400, "the query is not what is expected here"),
    ("GET", "/page?number=1&number=2", 400, "the query is not what is expected here"),
];

async fn text(exchange: Asked, status: Status, text: &str) -> Result<Sent, Answer> {
    Ok(exchange.respond(status).send(text).await?)
}

async fn list(exchange: Asked) -> Result<Sent, Answer> {
    let said = format!("list {} of {}", exchange.param("list")?, exchange.route().unwrap_or_default());
    text(exchange, Status::OK, &said).await
}

async fn item(exchange: Asked) -> Result<Sent, Answer> {
    let said = format!("item {} of {}", exchange.param_as::<u32>("item")?, exchange.param("list")?);
    text(exchange, Status::OK, &said).await
}

async fn file(exchange: Asked) -> Result<Sent, Answer> {
    let said = format!("file {}", exchange.param("path")?);
    text(exchange, Status::OK, &said).await
}

async fn waits(_: Asked) -> Result<Sent, Error> {
    std::future::pending().await
}

#[derive(serde::Deserialize)]
#[serde(default)]
struct Page {
    number: u32,
    of: u32,
}

impl Default for Page {
    fn default() -> Self {
        Self { number: 1, of: 10 }
    }
}

async fn page(exchange: Asked) -> Result<Sent, Answer> {
    let Page { number, of } = exchange.request().query_as()?;
    text(exchange, Status::OK, &format!("page {number} of {of}")).await
}

type Boxed = Box<dyn std::error::Error + Send + Sync>;

/// Fails with an error in a box.
async fn boxed(mut exchange: Asked) -> Result<Sent, Boxed> {
    if exchange.param_as::<u32>("item")? == 0 {
        return Err("the disk is full".into());
    }
    let _page: Page = exchange.request().query_as()?;
    let _content: u32 = exchange.body().json().await?;
    Ok(exchange.respond(Status::OK).send("").await?)
}

/// Reads all of the content.
async fn takes(mut exchange: Asked) -> Result<Sent, Answer> {
    let bytes = exchange.body().bytes().await?.len();
    text(exchange, Status::OK, &format!("{bytes} bytes")).await
}

fn api() -> Router<App> {
    let user = |exchange: Asked| async move {
        let said = format!("user {} of {}", exchange.param("user")?, exchange.route().unwrap_or_default());
        text(exchange, Status::OK, &said).await
    };
    router().route("/", get(|it| text(it, Status::OK, "the api"))).route("/users/{user}", get(user))
}

fn router() -> Router<App> {
    Router::with_state(App::default())
}

fn misused() -> Router<App> {
    router()
        .route("/missing", get(|_: Asked| async { Err((Status::NOT_FOUND, "there is no such thing")) }))
        .route("/mistake", get(|_: Asked| async { Err(Error::other("the disk is full")) }))
        .route(
            "/panic",
            get(|it: Asked| async move {
                if it.request().method() == "GET" { panic!("as asked") } else { Err(Status::OK) }
            }),
        )
        .route("/no-such-param", get(list))
}

fn application() -> Router<App> {
    let lists = get(|it| text(it, Status::OK, "all")).post(|it| text(it, Status::CREATED, "made"));
    let computes = |it: Asked| async move {
        let _sum = std::hint::black_box((0..1_000_000_u64).fold(0, u64::wrapping_add));
        text(it, Status::OK, "computed").await
    };
    let fails = |it: Asked| async move {
        assert!(it.request().method().is_empty(), "as asked");
        Err(Status::OK)
    };
    misused()
        .nest("/api/v1", api())
        .route("/lists", lists)
        .route("/lists/{list}", get(list))
        .route("/lists/{list}/items/{item}", get(item))
        .route("/files/{*path}", get(file))
        .route("/page", get(page))
        .route("/boxed/{item}", get(boxed))
        .route("/cache", on("PURGE-ALL", list))
        .route(
            "/every",
            any(|it: Asked| async move {
                let said = format!("{} by any", it.request().method());
                text(it, Status::OK, &said).await
            }),
        )
        .route("/slow", get(waits).timeout(Duration::from_millis(20)))
        .route("/computed", get(computes).spawned())
        .route("/computed/badly", get(fails).spawned())
}

/// Serves, and hands out the address.
async fn serve(router: Router<App>) -> String {
    crate::support::serve(router.build().unwrap()).await
}

#[tokio::test]
async fn requests_are_answered_by_their_routes() {
    let origin = serve(application()).await;
    for client in clients() {
        for &(method, path, status, said) in ROWS {
            let mut response = client.request(method, format!("{origin}{path}")).send().await.unwrap();
            let content =
                response.body().chunk().await.unwrap().map(|it| String::from_utf8_lossy(it).into_owned());
            let content = content.unwrap_or_default();
            assert!(
                response.status() == status && content.starts_with(said),
                "{method} {path}: {} {content}",
                response.status()
            );
            assert!(response.headers().contains("date"), "{method} {path}");
        }
    }
}

#[test]
fn captures_as_others_write_them_are_refused() {
    for (pattern, byte) in [
        ("/users/:id", 7),
        ("/files/*path", 7),
        ("/files/*", 7),
        ("/users/{id:u32}", 10),
        ("/users/{id:[0-9]+}", 10),
        ("/files/{path...}", 12),
        ("/files/{name?}", 12),
        ("/files/{$}", 8),
    ] {
        let built = Router::new().route(pattern, get(|it: Exchange| it.respond(Status::OK).send(""))).build();
        let error = built.err().unwrap_or_else(|| panic!("{pattern} was taken")).to_string();
        let start = format!("route `{pattern}`, byte {byte}: ");
        assert!(error.starts_with(&start) && error.contains("`{id}`"), "{error}");
    }
}

/// Nested routes have the state of the router that they are nested in, not the one that they were made with.
#[tokio::test]
async fn nested_routes_have_the_state_of_the_outer_router() {
    let says = |it: Exchange<String>| async move {
        let state = it.state();
        it.respond(Status::OK).send(&**state).await
    };
    let inner = Router::with_state("inner".to_owned()).route("/", get(says));
    let routes = Router::with_state("outer".to_owned()).nest("/a", inner).build().unwrap();
    let client = alula::testing::client(routes);
    let mut response = client.get("http://localhost/a").send().await.unwrap();
    assert_eq!(response.body().chunk().await.unwrap(), Some(&b"outer"[..]));
}

/// A clone of routes is served beside them, with the same state.
#[tokio::test]
async fn clones_of_routes_share_their_state() {
    let counts = |it: Asked| async move {
        let before = it.state().finished.fetch_add(1, Ordering::SeqCst);
        let said = format!("{before} {} {}", it.request().path_without_query(), it.request().path());
        text(it, Status::OK, &said).await
    };
    let routes = router().route("/{any}", get(counts)).build().unwrap();
    let clients = [alula::testing::client(routes.clone()), alula::testing::client(routes)];
    for (client, path, said) in [
        (&clients[0], "/a", "0 /a /a"),
        (&clients[1], "/b?c=/d", "1 /b /b?c=/d"),
        (&clients[0], "/e?", "2 /e /e?"),
    ] {
        let mut response = client.get(format!("http://localhost{path}")).send().await.unwrap();
        assert_eq!(response.text_max(100).await.unwrap(), said);
    }
}

#[tokio::test]
async fn merged_routes_keep_their_layers_and_their_patterns() {
    let refuses = |_: Exchange<App>, _: Next<App>| async { Err::<Sent, _>(Status::FORBIDDEN) };
    let other = router().wrap(refuses).route("/other", post(takes));
    let origin = serve(router().route("/own", post(takes)).merge(other)).await;
    for client in clients() {
        for (path, status) in [("/own", 200), ("/other", 403), ("/none", 404)] {
            let url = format!("{origin}{path}");
            assert_eq!(client.post(&url).send_body(b"").await.unwrap().status(), status, "{path}");
        }
    }
}

#[tokio::test]
async fn content_is_bounded_by_the_route() {
    let router = router().route("/", post(takes).content_max(10)).route("/more", post(takes).content_max(20));
    bounds_content(serve(router).await).await;
}

/// With a layer around the router, the handler was called all the same: the layer led to the route, not to
/// the refusal.
#[tokio::test]
async fn content_is_bounded_by_the_route_within_layers() {
    let takes_less = post(must_not_be_called).content_max(9);
    let router = router().wrap(passes).route("/", post(takes).content_max(10));
    let router = router.route("/more", post(takes).content_max(20).wrap(passes)).route("/less", takes_less);
    let origin = serve(router).await;
    for client in clients() {
        let refused = client.post(&format!("{origin}/less")).send_body(b"0123456789").await.unwrap();
        assert_eq!(refused.status(), 413);
    }
    bounds_content(origin).await;
}

/// Reads in the way that the path names, and says how much it was.
async fn reads(mut exchange: Exchange<App>) -> Result<Sent, Answer> {
    let (way, body) = (exchange.param("way")?.into_owned(), exchange.body());
    let mut bytes = 0;
    match &*way {
        "chunk" => {
            while let Some(chunk) = body.chunk().await? {
                bytes += chunk.len() as u64;
            }
        }
        "read" => {
            let mut buffer = [0; 7];
            while let read @ 1.. = body.read(&mut buffer).await? {
                bytes += read as u64;
            }
        }
        "bytes" => bytes = body.bytes_max(1 << 20).await?.len() as u64,
        _ => bytes = body.copy_to(&mut tokio::io::sink()).await?,
    }
    Ok(exchange.respond(Status::OK).send(format!("{bytes}")).await?)
}

/// Content of no stated length that was read piece by piece had no bound but the handler's.
#[tokio::test]
async fn content_is_bounded_by_the_route_however_it_is_read() {
    let origin = serve(router().route("/{way}", post(reads).content_max(1000))).await;
    for client in clients() {
        for way in ["chunk", "read", "bytes", "copy"] {
            for (bytes, status) in [(0, 200), (1000, 200), (1001, 413), (300_000, 413)] {
                // Bytes that are not handed out are given back to the connection.
                for _ in 0..if bytes > 1001 { 10 } else { 1 } {
                    let content = Content::reader(std::io::Cursor::new(vec![b'x'; bytes]));
                    let url = format!("{origin}/{way}");
                    let mut answer = client.post(&url).content(content).send().await.unwrap();
                    assert_eq!(answer.status(), status, "{way} {bytes}");
                    let told = answer.text().await.unwrap();
                    assert!(status != 200 || told == bytes.to_string(), "{way} {bytes}: {told}");
                }
            }
        }
    }
}

async fn passes(exchange: Exchange<App>, next: Next<App>) -> Result<Sent, Answer> {
    next.run(exchange).await
}

async fn must_not_be_called(_: Exchange<App>) -> Result<Sent, Answer> {
    Err(Status::INTERNAL_SERVER_ERROR.into())
}

async fn bounds_content(origin: String) {
    for client in clients() {
        for (path, bytes, status) in [("/", 10, 200), ("/", 11, 413), ("/more", 20, 200), ("/more", 21, 413)]
        {
            let url = format!("{origin}{path}");
            let content = "c".repeat(bytes);
            assert_eq!(
                client.post(&url).send_body(&content).await.unwrap().status(),
                status,
                "{path} {bytes}"
            );
            // Without a length that is said beforehand.
            let (mut writer, pending) = client.post(&url).open().await.unwrap();
            writer.write(&content).await.unwrap();
            let _ = writer.finish().await;
            assert_eq!(pending.response().await.unwrap().status(), status, "{path} {bytes}, in pieces");
        }
    }
}

#[tokio::test]
async fn methods_that_a_path_has_are_named() {
    let origin = serve(application()).await;
    for client in clients() {
        let response = client.delete(format!("{origin}/lists")).send().await.unwrap();
        assert_eq!(response.headers().text("allow"), Some("GET, HEAD, POST"));
    }
}

#[tokio::test]
async fn errors_are_problems_in_json_for_those_who_take_it() {
    let origin = serve(application()).await;
    for client in clients() {
        let call = client.get(format!("{origin}/missing")).header("accept", "application/json");
        let mut response = call.send().await.unwrap();
        assert_eq!(response.headers().text("content-type"), Some("application/problem+json"));
        let expected = "{\"status\":404,\"title\":\"Not Found\",\"detail\":\"there is no such thing\"}\n";
        assert_eq!(response.body().chunk().await.unwrap(), Some(expected.as_bytes()));
    }
}

#[tokio::test]
async fn layers_see_a_request_in_their_order() {
    let mark = |name: &'static str| {
        move |mut exchange: Asked, next: Next<App>| async move {
            let seen = exchange.request().headers().text("x-seen").unwrap_or_default().to_owned();
            exchange.request_mut().set("x-seen", format!("{seen}{name}"))?;
            next.run(exchange).await
        }
    };
    let says = |it: Asked| async move {
        let seen = it.request().headers().text("x-seen").unwrap_or_default().to_owned();
        text(it, Status::OK, &seen).await
    };
    let inner = router().route("/c", get(says).wrap(mark("4"))).wrap(mark("3"));
    let router = router().wrap(mark("1")).nest("/b", inner).wrap(mark("2")).fallback(says);
    let origin = serve(router).await;
    for client in clients() {
        for (path, seen) in [("/b/c", "1234"), ("/none", "12")] {
            let mut response = client.get(format!("{origin}{path}")).send().await.unwrap();
            assert_eq!(response.body().chunk().await.unwrap(), Some(seen.as_bytes()), "{path}");
        }
    }
}

#[tokio::test]
async fn hosts_have_routes_of_their_own() {
    let of = |name: &'static str| router().route("/", get(move |it| text(it, Status::OK, name)));
    let router = of("others").host("a.example", of("a")).host("B.example:81", of("b"));
    let origin = serve(router).await;
    for client in clients() {
        for (host, said) in
            [("a.example", "a"), ("A.EXAMPLE:80", "a"), ("b.example:81", "b"), ("b.example", "others")]
        {
            let mut response = client.get(format!("{origin}/")).header("host", host).send().await.unwrap();
            assert_eq!(response.body().chunk().await.unwrap(), Some(said.as_bytes()), "{host}");
        }
    }
}

/// The stages of a handler that others wait for.
#[derive(Default)]
struct Stages {
    begun: Notify,
    may_go_on: Notify,
    is_finished: AtomicBool,
    dropped: Notify,
}

/// Tells that the handler is no more, whether it has finished or not.
struct TellsEnd(Arc<Stages>);

impl Drop for TellsEnd {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

#[tokio::test]
async fn handlers_that_are_detached_finish_after_a_reset() {
    for is_detached in [false, true] {
        let stages = Arc::new(Stages::default());
        let seen = stages.clone();
        let waits = get(move |exchange: Asked| {
            let stages = seen.clone();
            async move {
                stages.begun.notify_one();
                stages.may_go_on.notified().await;
                exchange.respond(Status::OK).send("late").await
            }
        });
        let seen = stages.clone();
        let router = router().wrap(move |exchange: Asked, next: Next<App>| {
            let end = (exchange.request().path() == "/").then(|| TellsEnd(seen.clone()));
            async move {
                let result = next.run(exchange).await;
                if let Some(TellsEnd(stages)) = &end {
                    stages.is_finished.store(true, Ordering::SeqCst);
                }
                result
            }
        });
        let route = if is_detached { waits.detached() } else { waits };
        let origin = serve(router.route("/", route)).await;
        // The end of a client's side of HTTP/1.1 says nothing of whether it waits for the answer.
        let [_, client] = clients();
        tokio::select! {
            _ = client.get(format!("{origin}/")).send() => panic!("it is answered"),
            () = stages.begun.notified() => {}
        }
        // The reset has been read when what came behind it is answered.
        client.get(format!("{origin}/lists")).send().await.unwrap();
        if is_detached {
            stages.may_go_on.notify_one();
        }
        tokio::time::timeout(Duration::from_secs(60), stages.dropped.notified()).await.expect("it ends");
        assert_eq!(stages.is_finished.load(Ordering::SeqCst), is_detached);
    }
}

#[tokio::test]
async fn so_many_requests_are_handled_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, top) = (now.clone(), most.clone());
    let counts = move |it: Asked| {
        let (now, most) = (counted.clone(), top.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            while most.load(Ordering::SeqCst) < 3 {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            text(it, Status::OK, "").await
        }
    };
    let origin = serve(router().route("/", get(counts).concurrency(3))).await;
    let client = &clients()[1];
    let asked: Vec<_> = (0..20)
        .map(|_| {
            tokio::spawn({
                let (client, url) = (client.clone(), format!("{origin}/"));
                async move { client.get(url).send().await.unwrap().status() }
            })
        })
        .collect();
    for one in asked {
        assert_eq!(one.await.unwrap(), 200);
    }
    assert_eq!((now.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 3));
}

/// A timeout that was written after the bound began with the turn of a request: one that waited had no
/// timeout.
#[tokio::test(start_paused = true)]
async fn a_timeout_counts_from_the_arrival_of_the_request() {
    let after = Duration::from_secs(10);
    let never = || get(|_: Asked| std::future::pending::<Result<Sent, Answer>>());
    let through = |it: Asked, next: Next<App>| next.run(it);
    for route in [
        never().timeout(after).concurrency(1),
        never().concurrency(1).timeout(after),
        never().concurrency(1).wrap(through).concurrency(2).timeout(after),
        never().timeout(after).concurrency(1).timeout(20 * after),
    ] {
        let routes = router().route("/", route).build().unwrap();
        for server in [TestServer::new(routes.clone()), TestServer::new(routes.clone()).http2()] {
            let (client, began) = (server.client(), tokio::time::Instant::now());
            let asked = [(); 3].map(|()| {
                let client = client.clone();
                tokio::spawn(async move { client.get("http://test/").send().await.unwrap().status() })
            });
            for one in asked {
                assert_eq!(one.await.unwrap(), 503);
            }
            assert_eq!(began.elapsed().as_secs(), 10, "all waited for 10 s");
        }
    }
}

#[test]
fn what_is_in_conflict_is_not_built() {
    let route = || -> Route<App> { get(list) };
    let refused = |router: Router<App>| router.build().err().map(|error| error.to_string());
    assert!(refused(router().route("/a", route()).route("/a", post(list))).is_none());
    for router in [
        router().route("/a", route()).route("/a", route()),
        router().route("/{a}", route()).route("/{b}", post(list)),
        router().route("a", route()),
        router().nest("/x", router().route("/a", route())).route("/x/a", route()),
    ] {
        assert!(refused(router).is_some());
    }
}
