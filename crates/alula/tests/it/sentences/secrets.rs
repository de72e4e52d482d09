//! No credential is shown, wherever a URL, a field or a proxy is: in `Debug`, in errors and in what a server
//! tells.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use alula::{
    Cause, Client, ClientBuilder, Error, Exchange, FieldSection, Follow, Identity, Method, Proxy, Server,
    Status, blocking, fields::RequestHead, h1, h2, hpack, masked_field,
};

/// In user information, the query, fields, cookies and proxies; nobody may be shown it, nor what Basic makes
/// of it.
const SECRET: &str = "s3cret";
const BASIC: &str = "czNjcmV0OnMzY3JldA==";

/// What was shown, by place.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<(String, String)>>>);

impl Shown {
    fn text(&self, place: &str, text: impl Into<String>) {
        self.0.lock().unwrap().push((place.to_owned(), text.into()));
    }

    fn debug(&self, place: &str, value: impl Debug) {
        self.text(place, format!("{value:?}"));
    }

    /// An error by its sentence, its `Debug`, and what it comes from.
    fn error(&self, place: &str, error: &Error) {
        self.debug(place, error);
        let mut source: Option<&dyn std::error::Error> = Some(error);
        while let Some(error) = source {
            self.text(place, error.to_string());
            source = error.source();
        }
    }

    #[track_caller]
    fn check(&self, places_min: usize) {
        let all = self.0.lock().unwrap();
        for (place, text) in &*all {
            // Lists of bytes would show it as well.
            let is_shown = [SECRET, BASIC, "115, 51, 99, 114"].iter().any(|secret| text.contains(secret));
            assert!(!is_shown, "{place}: {text}");
        }
        assert!(all.len() >= places_min, "{} places", all.len());
    }
}

fn section() -> FieldSection {
    let mut fields = FieldSection::new();
    for (name, value) in [
        ("authorization", "Basic s3cret"),
        ("Proxy-Authorization", "s3cret"),
        ("cookie", "a=s3cret; s3cret"),
        ("set-cookie", "a=s3cret; Path=/"),
        ("location", "https://u:s3cret@a.example/?code=s3cret#s3cret"),
        ("referer", "https://a.example/?code=s3cret"),
        ("x-api-key", "s3cret"),
        ("Private-Token", "s3cret"),
    ] {
        fields.append(name, value).unwrap();
    }
    fields.append_sensitive("x-marked", SECRET).unwrap();
    fields
}

fn builder() -> ClientBuilder {
    let proxy = Proxy::http("http://s3cret:s3cret@127.0.0.1:1").unwrap().except("127.0.0.1");
    let builder = Client::builder().proxy(proxy).header("x-api-key", SECRET.as_bytes());
    let builder = builder.header("cookie", b"a=s3cret");
    builder.basic_auth("http://a.example", SECRET, SECRET).bearer_auth("http://b.example", SECRET)
}

#[test]
fn debug_of_what_a_client_holds() {
    let shown = Shown::default();
    shown.debug("ClientBuilder", builder());
    let client = builder().build().unwrap();
    shown.debug("Client", &client);
    for url in ["http://s3cret:s3cret@a.example/b?c=s3cret#s3cret", "http://s3cret@[::1]:8080/?s3cret"] {
        let call = client
            .get(url)
            .header("cookie", "a=s3cret")
            .header("x-api-key", SECRET)
            .basic_auth(SECRET, SECRET);
        shown.debug("Call", call.bearer_auth(SECRET).timeout(std::time::Duration::from_secs(1)));
        let mut prepare = client.prepare(Method::Get, url).unwrap().header("authorization", b"s3cret");
        prepare.hole("x").unwrap();
        shown.debug("Prepare", &prepare);
        let prepared = prepare.build().unwrap();
        shown.debug("Call of a Prepared", client.call(&prepared).path("/?a=s3cret"));
        shown.debug("Prepared", &prepared);
    }
    for scheme in ["http", "https", "socks5", "socks5h"] {
        let proxy = Proxy::all(&format!("{scheme}://s3cret:s3cret@a.example:1")).unwrap();
        shown.debug("Proxy", proxy.credentials(SECRET, SECRET).unwrap());
    }
    #[cfg(feature = "cookies")]
    shown.debug("Jar", jar());
    let blocking = builder().build_blocking().unwrap();
    shown.debug("blocking::Client", &blocking);
    shown.debug(
        "blocking::Call",
        blocking.get("http://s3cret:s3cret@a.example/?s3cret").header("cookie", SECRET),
    );
    shown.check(16);
}

#[cfg(feature = "cookies")]
fn jar() -> alula::Jar {
    let jar = alula::Jar::new();
    jar.add("http://a.example/", "a=s3cret").unwrap();
    jar
}

#[test]
fn debug_of_what_the_machines_hold() {
    let shown = Shown::default();
    let fields = section();
    shown.debug("FieldSection", &fields);
    let path = "/a?b=s3cret";
    let head = RequestHead {
        method: "GET",
        scheme: "http",
        authority: "a.example",
        path,
        protocol: None,
        fields: &FieldSection::from_pairs([("authorization", "Basic s3cret")]).unwrap(),
    };
    shown.debug("RequestHead", head);
    shown.debug("h1::Prepared", h1::Prepared::new(&head, &[], h1::Spelling::default()).unwrap());
    shown.debug("h2::Prepared", h2::Prepared::new(&head, &[]).unwrap());
    shown.debug("Target", alula::fields::Target::parse(Method::Get, path).unwrap());
    let refused = alula::fields::Target::parse(Method::Get, "/a?b=s3cret c").unwrap_err();
    shown.text("FieldError", format!("{refused} {refused:?} {:?}", refused.quoted()));
    let config = h1::Config { proxy_authorization: format!("Basic {BASIC}"), ..h1::Config::default() };
    shown.debug("h1::Config", config);
    shown.debug("hpack::Field", hpack::Field::new(b"authorization", b"Basic s3cret"));
    let map = http::HeaderMap::try_from(&fields).unwrap();
    shown.debug(
        "HeaderMap",
        ["authorization", "cookie", "set-cookie", "x-marked"].map(|name| map[name].clone()),
    );
    for field in &fields {
        let masked = masked_field(field.name().as_str(), field.value());
        shown.text("Field::shown", String::from_utf8_lossy(&field.shown()));
        if !field.is_sensitive() {
            shown.text("masked_field", String::from_utf8_lossy(&masked));
        }
    }
    shown.check(20);
}

#[test]
fn errors_of_what_cannot_be_sent() {
    let shown = Shown::default();
    for url in [
        "http://s3cret:s3cret@a:99999/?b=s3cret#s3cret",
        "http://s3cret:s3/cret@a:x/",
        "http://s3cret@a b/",
        "ftp://s3cret@a/?s3cret",
        "s3cret@a",
        "http://s3cret:s3cret@/",
        "http://a/?b=s3cret c d|#s3cret",
    ] {
        if let Err(error) = alula::check_url(url) {
            shown.error("check_url", &error);
        }
    }
    for url in ["http://s3cret:s3cret@a:99999", "ftp://s3cret@a", "socks5://s3cret@a", "s3cret:s3cret@"] {
        shown.error("Proxy::all", &Proxy::all(url).unwrap_err());
    }
    let long = SECRET.repeat(50);
    let socks = Proxy::all("socks5://a").unwrap();
    shown.error("Proxy::credentials", &socks.credentials(SECRET, &long).unwrap_err());
    shown.error(
        "ClientBuilder::basic_auth",
        &Client::builder().basic_auth("http://a", "s3cret:", SECRET).build().err().unwrap(),
    );
    shown.error("ClientBuilder::header", &Client::builder().header("x", b"s3cret\n").build().err().unwrap());
    shown.error("Identity", &Identity::from_pem(b"s3cret", b"s3cret").err().unwrap());
    shown.check(20);
}

/// Requests that fail in many ways, over either version, each with secrets in all places.
#[tokio::test]
async fn errors_of_requests_and_what_a_server_tells() {
    let shown = Shown::default();
    let told = shown.clone();
    let server = Server::builder().on_error(move |failure| {
        told.debug("RequestFailure", failure);
        told.text("RequestFailure", format!("{failure} {}", failure.target()));
    });
    shown.debug("ServerBuilder", server.clone().identity(Identity::self_signed(["a.example"]).unwrap()));
    let server = server.bind("127.0.0.1:0").await.unwrap();
    shown.debug("Server", &server);
    let address = server.address().unwrap();
    let seen = shown.clone();
    tokio::spawn(server.serve(move |exchange: Exchange| {
        let seen = seen.clone();
        async move {
            seen.debug("Exchange", &exchange);
            seen.debug("Request", exchange.request());
            match exchange.request().path().split('?').next().unwrap() {
                "/fails" => Err(Error::other("the disk is full")),
                "/panics" => panic!("as asked"),
                "/silent" => std::future::pending().await,
                "/missing" => exchange.respond(Status::NOT_FOUND).send(b"").await,
                "/cut" => {
                    let mut writer = exchange.respond(Status::OK).stream().await?;
                    writer.write(b"some").await?;
                    Err(Error::other("no more"))
                }
                "/redirects" => {
                    let location = "http://s3cret:s3cret@127.0.0.1:1/?a=s3cret#s3cret";
                    let reply = exchange.respond(Status::FOUND).header("location", location);
                    seen.debug("Reply", &reply);
                    reply.header("set-cookie", "a=s3cret").send(b"").await
                }
                _ => exchange.respond(Status::OK).header("set-cookie", "a=s3cret").send(b"fine").await,
            }
        }
    }));
    for http2 in [false, true] {
        let hooked = shown.clone();
        let client = builder()
            .http2_prior_knowledge(http2)
            .on_redirect(move |redirect| {
                hooked.debug("Redirect", redirect);
                Follow::Error
            })
            .build()
            .unwrap();
        for path in ["fails", "panics", "silent", "missing", "cut", "redirects", "fine"] {
            let url = format!("http://s3cret:s3cret@{address}/{path}?a=s3cret&s3cret#s3cret");
            let call = client.get(&url).header("cookie", "b=s3cret").header("x-api-key", SECRET);
            let answer = call.timeout(std::time::Duration::from_millis(300)).send().await;
            let Ok(mut response) = answer.map_err(|error| shown.error(path, &error)) else { continue };
            shown.debug("Response", &response);
            shown.debug("fields", response.headers());
            if let Err(error) = response.body().chunk().await {
                shown.error(path, &error);
            }
            if let Err(error) = response.bytes().await {
                shown.error(path, &error);
            }
            let refused = client.get(&url).send().await.and_then(|answer| Ok(answer.error_for_status()?));
            if let Err(error) = refused {
                shown.error(path, &error);
            }
        }
        for url in
            ["http://s3cret:s3cret@127.0.0.1:1/?a=s3cret", "https://s3cret:s3cret@127.0.0.1:1/?a=s3cret"]
        {
            shown.error("refused", &client.get(url).send().await.unwrap_err());
        }
        // Through the proxy that nobody serves.
        shown.error("proxy", &client.get("http://s3cret@a.example/?s3cret").send().await.unwrap_err());
    }
    shown.check(60);
}

/// A body that fails keeps what was asked out of its `io::Error` as well.
#[test]
fn errors_of_a_blocking_client() {
    let shown = Shown::default();
    let client = blocking::Client::new().unwrap();
    let error = client.get("http://s3cret:s3cret@127.0.0.1:1/?a=s3cret").send().unwrap_err();
    assert!(matches!(error.cause(), Cause::Io(..)));
    shown.error("blocking", &error);
    shown.error("blocking", &client.get("http://s3cret:s3cret@127.0.0.1:x/?a=s3cret").send().unwrap_err());
    shown.check(4);
}
