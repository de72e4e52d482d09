//! The answers that layers, filters, hooks and fallbacks of a router cover: all of its own, whichever router
//! it stands in.
//!
//! A layer around a router let requests through to the routers of hosts without a look at them, and what a
//! nested router answers of its own (404, 405, redirects, refusals) passed by its layers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::routing::{get, post};
use alula::{
    Answer, BearerAuth, Begun, Client, Encoder, Ended, Exchange, FieldSection, Filter, Hook, Next, Outgoing,
    Router, Segments, Sent, Server, Status, TrailingSlash,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{client, listen};

/// Keeps who saw a request, in the order in which they did.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<(&'static str, &'static str)>>>);

impl Journal {
    fn note(&self, what: &'static str, who: &'static str) {
        self.0.lock().unwrap().push((what, who));
    }

    /// Waits until the outermost hook has seen a request end, which the others do in the same turn.
    async fn has_ended(&self) {
        let seen = async {
            while self.of("end").is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), seen).await.expect("the request ends");
    }

    /// Returns who did this, one after the other.
    fn of(&self, what: &str) -> String {
        self.0.lock().unwrap().iter().filter(|(own, _)| *own == what).map(|(_, who)| *who).collect()
    }

    /// Returns all of one request in a line, and forgets it.
    fn take(&self) -> String {
        let [wrap, filter, begin, head, end] =
            ["wrap", "filter", "begin", "head", "end"].map(|it| self.of(it));
        let (fallback, method) = (self.of("fallback"), self.of("method"));
        self.0.lock().unwrap().clear();
        format!(
            "layers {wrap:4} filters {filter:4} hooks {begin:3} {head:3} {end:3} fallback {fallback}{method}"
        )
    }
}

/// A hook or a filter that notes what it sees.
struct Sees(&'static str, Journal);

impl Hook for Sees {
    fn begin(&self, _: &mut Begun<'_>) -> Option<Answer> {
        self.1.note("begin", self.0);
        None
    }

    fn head(&self, _: Status, _: &mut FieldSection) {
        self.1.note("head", self.0);
    }

    fn end(&self, _: &Ended<'_>) {
        self.1.note("end", self.0);
    }
}

impl Filter for Sees {
    fn begin(&self, _: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        self.1.note("filter", self.0);
        None
    }
}

async fn says(exchange: Exchange) -> Result<Sent, Answer> {
    Ok(exchange.respond(Status::OK).send("").await?)
}

/// A layer that notes the requests that it sees.
macro_rules! layer {
    ($who:expr, $journal:expr) => {{
        let (who, journal) = ($who, $journal.clone());
        move |exchange: Exchange, next: Next| {
            journal.note("wrap", who);
            next.run(exchange)
        }
    }};
}

/// Which fallbacks the routers have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fallbacks {
    None,
    /// The outermost router alone has some.
    Outermost,
    All,
}

/// A router with one of everything around its routes; the routes have `*` around them.
fn level(who: &'static str, journal: &Journal, fallbacks: Fallbacks) -> Router {
    let own = |handler| get(handler).wrap(layer!("*", journal)).filter(Sees("*", journal.clone()));
    let reads = |mut exchange: Exchange| async move {
        exchange.body().bytes().await?;
        says(exchange).await
    };
    let takes = || post(reads).wrap(layer!("*", journal)).filter(Sees("*", journal.clone()));
    let router = Router::new()
        .segments(Segments::STRICT.trailing_slash(TrailingSlash::Redirect))
        .route("/a", own(says))
        .route("/small", takes().content_max(3))
        .route("/coded", takes().decompress())
        .hook(Sees(who, journal.clone()))
        .filter(Sees(who, journal.clone()))
        .wrap(layer!(who, journal));
    if fallbacks == Fallbacks::All || (fallbacks, who) == (Fallbacks::Outermost, "r") {
        let answers = |what: &'static str| {
            let journal = journal.clone();
            move |exchange: Exchange| {
                journal.note(what, who);
                says(exchange)
            }
        };
        return router.fallback(answers("fallback")).method_fallback(answers("method"));
    }
    router
}

/// Routers in one another: `r` around all, `n` nested in it, `m` in that; `h` of a host, `i` nested in that.
fn application(journal: &Journal, fallbacks: Fallbacks) -> Router {
    let level = |who| level(who, journal, fallbacks);
    let (inner, other) = (level("n").nest("/m", level("m")), level("h").nest("/i", level("i")));
    level("r").nest("/n/{t}", inner).host("h.example", other)
}

/// The routers by host and prefix, with those that they stand in: the outermost first.
const LEVELS: &[(&str, &str, &str)] = &[
    ("r.example", "", "r"),
    ("r.example", "/n/x", "rn"),
    ("r.example", "/n/x/m", "rnm"),
    ("h.example", "", "rh"),
    ("h.example", "/i", "rhi"),
];

/// The one who answers.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// A handler of a route, whose answer filters see.
    Route,
    /// The router itself, in place of a handler: the layers of the route are around it, and filters do not
    /// see the answer, as that to any error.
    Refusal,
    /// The router itself: the layers of routes are around handlers alone.
    Router,
    /// The fallback for unknown paths, else the router.
    Fallback,
    /// The fallback for unknown methods, else the router.
    Method,
}

type Request = (&'static str, &'static str, &'static [(&'static str, &'static str)], u16, By);

/// Requests below each prefix: the method, the path, fields, the status without fallbacks, and who answers.
const REQUESTS: &[Request] = &[
    ("GET", "/a", &[], 200, By::Route),
    ("HEAD", "/a", &[], 200, By::Route),
    ("GET", "/a?b", &[], 200, By::Route),
    ("POST", "/small", &[], 200, By::Route),
    ("GET", "/none", &[], 404, By::Fallback),
    ("HEAD", "/none", &[], 404, By::Fallback),
    ("OPTIONS", "/none", &[], 404, By::Fallback),
    ("GET", "/a/none", &[], 404, By::Fallback),
    ("GET", "/", &[], 404, By::Fallback),
    ("DELETE", "/a", &[], 405, By::Method),
    ("OPTIONS", "/a", &[], 405, By::Method),
    ("BREW", "/a", &[], 501, By::Router),
    ("BREW", "/none", &[], 501, By::Router),
    ("GET", "/a/", &[], 308, By::Router),
    ("POST", "/small/?c", &[], 308, By::Router),
    ("GET", "/a//b", &[], 400, By::Router),
    ("GET", "/%2e%2e/a", &[], 400, By::Router),
    ("POST", "/small", &[("content-length", "4")], 413, By::Refusal),
    ("POST", "/coded", &[("content-encoding", "x-unknown"), ("content-length", "4")], 415, By::Refusal),
];

/// Returns what is seen of a request to the innermost of `routers`, and its status.
fn expected(routers: &str, by: By, status: u16, fallbacks: Fallbacks) -> (u16, String) {
    let innermost = &routers[routers.len() - 1..];
    let fallback = match fallbacks {
        Fallbacks::All => Some(innermost),
        // A host is a site of its own: what stands in for unknown paths of others is none of it.
        Fallbacks::Outermost => (!routers.contains('h')).then_some("r"),
        Fallbacks::None => None,
    };
    let fallback = fallback.filter(|_| matches!(by, By::Fallback | By::Method));
    let status = if fallback.is_some() { 200 } else { status };
    let of_route = if matches!(by, By::Route | By::Refusal) { "*" } else { "" };
    let layers = format!("{routers}{of_route}");
    let is_filtered = by == By::Route || fallback.is_some();
    let filters: String = if is_filtered { layers.chars().rev().collect() } else { String::new() };
    let fallback = fallback.unwrap_or_default();
    (
        status,
        format!(
            "layers {layers:4} filters {filters:4} hooks {routers:3} {routers:3} {routers:3} fallback {fallback}"
        ),
    )
}

async fn serve(router: Router) -> String {
    listen(Server::builder().on_error(|_| {}), router.build().unwrap()).await.to_string()
}

#[tokio::test]
async fn all_answers_of_a_router_are_within_what_is_around_it() {
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for fallbacks in [Fallbacks::None, Fallbacks::Outermost, Fallbacks::All] {
        let journal = Journal::default();
        let address = serve(application(&journal, fallbacks)).await;
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).redirects(0).build().unwrap();
            for ((host, prefix, routers), (method, path, fields, status, by)) in
                LEVELS.iter().flat_map(|level| REQUESTS.iter().map(move |request| (level, request)))
            {
                let mut call =
                    client.request(*method, format!("http://{address}{prefix}{path}")).header("host", host);
                let content = if fields.is_empty() { "" } else { "1234" };
                for (name, value) in fields.iter().filter(|(name, _)| *name != "content-length") {
                    call = call.header(*name, *value);
                }
                let response = call.send_body(content).await.unwrap();
                journal.has_ended().await;
                let seen = (response.status().as_u16(), journal.take());
                rows += 1;
                if seen != expected(routers, *by, *status, fallbacks) {
                    let (code, expected) = expected(routers, *by, *status, fallbacks);
                    wrong.push(format!(
                        "{method} {host}{prefix}{path}, {fallbacks:?}\n  {} {}\n  {code} {expected}",
                        seen.0, seen.1
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} are not covered, first as it is:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A program of an operator: credentials around all, and an administration for a host of its own.
#[tokio::test]
async fn a_host_is_behind_the_credentials_of_all() {
    let says = |text| get(move |exchange: Exchange| exchange.respond(Status::OK).text(text));
    let auth = BearerAuth::new("example").user("ann", "s3cret");
    let admin = Router::new().route("/", says("the administration"));
    let address =
        serve(Router::new().route("/", says("for all")).wrap(auth.layer()).host("admin.example", admin))
            .await;
    for http2 in [false, true] {
        let client = client(http2);
        for (host, token, path, status, text) in [
            ("admin.example", "", "/", 401, ""),
            ("admin.example", "", "/none", 401, ""),
            ("admin.example", "Bearer s3cret", "/", 200, "the administration"),
            ("admin.example", "Bearer s3cret", "/none", 404, "404 Not Found\n"),
            ("other.example", "", "/", 401, ""),
            ("other.example", "Bearer s3cret", "/", 200, "for all"),
        ] {
            let call = client.get(format!("http://{address}{path}")).header("host", host);
            let mut response = call.header("authorization", token).send().await.unwrap();
            assert_eq!(response.status(), status, "{host}{path} with {token:?}");
            let content = response.text().await.unwrap();
            assert!(status == 401 || content.trim() == text.trim(), "{host}{path} with {token:?}: {content}");
        }
    }
}

/// A layer, a hook or a filter covers what is added to its router before and after it.
#[tokio::test]
async fn the_order_of_writing_is_that_of_layers_alone() {
    let journal = Journal::default();
    let inner = |who| {
        let inner = Router::new().wrap(layer!(who, journal)).hook(Sees(who, journal.clone()));
        inner.filter(Sees(who, journal.clone())).route("/a", get(says))
    };
    let router = Router::new()
        .nest("/b", inner("b"))
        .host("c.example", inner("c"))
        .wrap(layer!("1", journal))
        .hook(Sees("1", journal.clone()))
        .filter(Sees("1", journal.clone()))
        .nest("/d", inner("d"))
        .host("e.example", inner("e"))
        .wrap(layer!("2", journal))
        .hook(Sees("2", journal.clone()))
        .filter(Sees("2", journal.clone()));
    let client = alula::testing::client(router.build().unwrap());
    for (host, path, who) in
        [("o", "/b/a", "b"), ("o", "/d/a", "d"), ("c.example", "/a", "c"), ("e.example", "/a", "e")]
    {
        let response = client.get(format!("http://{host}{path}")).send().await.unwrap();
        assert_eq!(response.status(), 200);
        journal.has_ended().await;
        let (chain, back) = (format!("12{who}"), format!("{who}21"));
        let all = format!("layers {chain:4} filters {back:4} hooks {chain:3} {chain:3} {chain:3} fallback ");
        assert_eq!(journal.take(), all, "{host}{path}");
    }
}

/// The routes of a router that is merged have its layers around them, and paths that neither has are those of
/// the other.
#[tokio::test]
async fn a_merged_router_covers_its_routes() {
    let journal = Journal::default();
    let other = level("m", &journal, Fallbacks::All).host("h.example", level("h", &journal, Fallbacks::None));
    let outer = |own: Router| own.wrap(layer!("r", journal)).hook(Sees("r", journal.clone()));
    let own = Router::new().route("/own", get(says)).route("/a", post(says));
    let client = alula::testing::client(outer(own).merge(other).build().unwrap());
    for (method, url, status, layers, hooks, fallback) in [
        ("GET", "http://o/own", 200, "r", "r", ""),
        ("DELETE", "http://o/own", 405, "r", "r", ""),
        ("GET", "http://o/a", 200, "rm*", "rm", ""),
        ("POST", "http://o/a", 200, "r", "r", ""),
        // Methods of a path that both have are of neither alone.
        ("DELETE", "http://o/a", 405, "r", "r", ""),
        ("DELETE", "http://o/small", 200, "rm", "rm", "m"),
        ("GET", "http://o/a//b", 400, "r", "r", ""),
        // The router has no fallback of its own, but that which was merged into it.
        ("GET", "http://o/none", 200, "rm", "rm", "m"),
        ("GET", "http://h.example/a", 200, "rmh*", "rmh", ""),
        ("GET", "http://h.example/none", 404, "rmh", "rmh", ""),
        ("GET", "http://h.example/own", 404, "rmh", "rmh", ""),
    ] {
        let response = client.request(method, url).send().await.unwrap();
        journal.has_ended().await;
        let [wrap, begin, end] = ["wrap", "begin", "end"].map(|it| journal.of(it));
        let by = journal.of("fallback") + &journal.of("method");
        journal.take();
        let seen = (response.status().as_u16(), &*wrap, &*begin, &*end, &*by);
        assert_eq!(seen, (status, layers, hooks, hooks, fallback), "{method} {url}");
    }
}

/// Layers of a nested router, and its fallback, find the captures of its prefix, whatever the path comes to.
#[tokio::test]
async fn captures_of_a_prefix_are_there_for_what_no_route_has() {
    let tells = |exchange: Exchange, next: Next| async move {
        let (tenant, route) = (exchange.param("tenant")?.into_owned(), exchange.route().map(str::to_owned));
        match next.run(exchange).await {
            Ok(sent) => Ok(sent),
            Err(answer) => {
                Err(answer.header("x-tenant", &tenant).header("x-route", route.unwrap_or_default()))
            }
        }
    };
    let fails = |_: Exchange| async { Err::<Sent, _>(Status::CONFLICT) };
    let inner =
        || Router::new().wrap(tells).segments(Segments::STRICT.trailing_slash(TrailingSlash::Redirect));
    let tenant = inner().route("/a", post(fails).content_max(3)).route("/b/{tenant_of_b}", get(fails));
    let other = inner().fallback(|it: Exchange| async move {
        Err::<Sent, _>(Answer::new(Status::GONE).header("x-by", &*it.param("tenant")?))
    });
    let router = Router::new().nest("/t/{tenant}", tenant).nest("/of/{tenant}/more", other);
    let address = serve(router).await;
    let client = Client::builder().redirects(0).build().unwrap();
    for (method, path, status, route) in [
        ("POST", "/t/a%20b/a", 413, "/t/{tenant}/a"),
        ("GET", "/t/a%20b/b/c", 409, "/t/{tenant}/b/{tenant_of_b}"),
        ("DELETE", "/t/a%20b/a", 405, "/t/{tenant}/a"),
        ("BREW", "/t/a%20b/a", 501, ""),
        ("GET", "/t/a%20b/a/", 308, ""),
        ("GET", "/t/a%20b", 404, ""),
        ("GET", "/t/a%20b/", 404, ""),
        ("GET", "/t/a%20b/none/none", 404, ""),
        ("GET", "/t/a%20b//a", 400, ""),
        ("GET", "/t/a%20b/b/%2e", 400, ""),
        ("GET", "/of/a%20b/more/or/less", 410, ""),
    ] {
        let call = client.request(method, format!("http://{address}{path}"));
        let response = call.send_body(if method == "POST" { "1234" } else { "" }).await;
        let response = response.unwrap();
        let headers = response.headers();
        let seen = (response.status().as_u16(), headers.text("x-tenant"), headers.text("x-route"));
        assert_eq!(seen, (status, Some("a b"), Some(route)), "{method} {path}");
    }
    let none = client.get(format!("http://{address}/of/x")).send().await.unwrap();
    assert_eq!((none.status().as_u16(), none.headers().contains("x-tenant")), (404, false));
}

/// The most specific prefix has an unknown path, and one that two routers share is of neither.
#[tokio::test]
async fn an_unknown_path_is_of_the_router_with_the_longest_prefix() {
    let journal = Journal::default();
    let of = |who| Router::new().hook(Sees(who, journal.clone()));
    let router = of("r")
        .nest("/a", of("1").route("/x", get(says)))
        .nest("/a/b", of("2").route("/x", get(says)))
        .nest("/{any}", of("3").route("/x/y", get(says)))
        .nest("/{any}/c", of("4").route("/x", get(says)))
        .nest("/s", of("5").route("/x", get(says)))
        .nest("/s", of("6").route("/y", get(says)))
        .nest("/e", of("7"));
    let client = alula::testing::client(router.build().unwrap());
    for (path, who) in [
        ("/a/x", "r1"),
        ("/a", "r1"),
        ("/a/", "r1"),
        ("/a/none", "r1"),
        ("/a/bb", "r1"),
        ("/a/b", "r2"),
        ("/a/b/none", "r2"),
        ("/z/none", "r3"),
        ("/z/c/none", "r4"),
        ("/a/c/none", "r4"),
        ("/aa", "r3"),
        ("/s/x", "r5"),
        ("/s/y", "r6"),
        ("/s/none", "r"),
        ("/e/none", "r7"),
        ("/", "r"),
        ("//a", "r"),
    ] {
        client.get(format!("http://o{path}")).send().await.unwrap();
        journal.has_ended().await;
        assert_eq!(journal.of("begin"), who, "{path}");
        journal.take();
    }
}

/// A host cannot stand below a prefix: its routes were left out without a word.
#[test]
fn a_host_below_a_prefix_is_refused() {
    let host = || Router::new().host("a.example", Router::new().route("/", get(says)));
    let error = Router::<()>::new().nest("/api", host()).build().err().expect("it is refused").to_string();
    assert_eq!(
        error,
        "route `/api`, byte 0: a router with hosts, as that of `a.example`, cannot be nested below a prefix"
    );
    assert!(Router::<()>::new().nest("/", host()).merge(host()).build().is_ok());
}

/// With 256 layers around it, a handler was called without any: requests count them in a byte.
#[test]
fn more_layers_than_can_be_counted_are_refused() {
    let passes = |exchange: Exchange, next: Next| next.run(exchange);
    let around = |count| (0..count).fold(get(says), |route, _| route.wrap(passes));
    let built = |count| {
        Router::new().wrap(passes).route("/a", around(count)).build().err().map(|error| error.to_string())
    };
    assert_eq!(built(254), None);
    assert_eq!(built(255).as_deref(), Some("route `/a`, byte 0: a route has at most 255 layers around it"));
}

/// Requests that are broken before they have a route: the connection answers them, and no router sees them.
#[tokio::test]
async fn what_the_connection_refuses_is_of_no_router() {
    let journal = Journal::default();
    let address = serve(application(&journal, Fallbacks::All)).await;
    let long = "a".repeat(64 << 10);
    for (request, status) in [
        ("GET /a HTTP/1.1\r\nhost: r.example\r\nhost: h.example\r\n\r\n".to_owned(), "400"),
        ("GET /a HTTP/1.1\r\n\r\n".to_owned(), "400"),
        (format!("GET /{long} HTTP/1.1\r\nhost: r.example\r\n\r\n"), "414"),
        (format!("GET /a HTTP/1.1\r\nhost: r.example\r\nx: {long}\r\n\r\n"), "431"),
    ] {
        let answer = answer_to(&address, &request).await;
        assert_eq!(answer.get(9..12), Some(status), "{answer}");
        assert_eq!(journal.take(), Journal::default().take(), "{status}");
    }
    // These have no path for a table of routes, so they are of the outermost router.
    for (request, status) in [
        ("OPTIONS * HTTP/1.1\r\nhost: r.example\r\n\r\n", "200"),
        ("CONNECT r.example:443 HTTP/1.1\r\nhost: r.example:443\r\n\r\n", "404"),
    ] {
        let journal = Journal::default();
        let fallbacks = if status == "200" { Fallbacks::All } else { Fallbacks::None };
        let address = serve(application(&journal, fallbacks)).await;
        let answer = answer_to(&address, request).await;
        assert_eq!(answer.get(9..12), Some(status), "{answer}");
        assert_eq!((&*journal.of("wrap"), &*journal.of("begin")), ("r", "r"), "{request}");
    }
}

/// Returns the start of what a server answers to these bytes.
async fn answer_to(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has refused the start of it may not read the rest.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = [0; 1000];
    let bytes = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..bytes]).into_owned()
}
