//! No error shows text from elsewhere in a way that forges a line of a log or steers a terminal, by `Display`
//! or by `Debug`.
//!
//! [`ROWS`] has a row for every public type that is an error or is shown as part of one, or names the reason for which it has no
//! text from elsewhere. The check of completeness compares it with `docs/api/alula.txt`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::{error, fmt, io};

use alula::{
    Asked, Attempt, Cause, Exchange, ExchangeEvent, FieldError, FieldSection, Method, Phase, Proxy,
    QueryError, Retry, Router, Sent, Server, Setback, Status, adapters::ExecuteError, blocking, check_url,
    masked_target, masked_url, routing, testing, testing::TestServer,
};
use serde::Deserialize;

/// Begins another line, in several ways, and has a terminal change its colour, clear its screen and turn the
/// text around.
const HOSTILE: &str =
    "x\r\n127.0.0.1 - root \u{1b}[31m\0\u{7f}\u{85}\u{9b}2J\u{200f}\u{202e}\u{2028}\u{2029}\u{2066}y\t";

/// The texts that a type shows of [`HOSTILE`], each with the place it comes from.
type Shown = Vec<(&'static str, String)>;

/// A type has texts to look at, or a reason for which it cannot have any from elsewhere.
enum Row {
    Shows(fn() -> Shown),
    Has(#[expect(dead_code, reason = "for readers")] &'static str),
}
use Row::{Has, Shows};

const WORDS: Row = Has("words and numbers of its own");
const BYTES: Row = Has("text of which every byte is checked when it is made");

/// By their names in `docs/api/alula.txt`.
const ROWS: &[(&str, Row)] = &[
    ("Asked", Shows(asked)),
    ("Cause", Shows(causes)),
    ("Destination", Has("a host that the parser of URLs let pass")),
    ("Error", Shows(errors)),
    ("Exceeded", WORDS),
    ("FieldError", Shows(field_errors)),
    ("FieldName", BYTES),
    ("KnownName", WORDS),
    ("MaskedTarget", Shows(masked)),
    ("Method", BYTES),
    ("Occupied", WORDS),
    ("Overrun", WORDS),
    ("ParamError", Shows(param_errors)),
    ("Phase", WORDS),
    ("QueryError", Shows(query_errors)),
    ("Refusal", WORDS),
    ("RequestFailure", Shows(request_failures)),
    ("Retry", WORDS),
    ("RouteError", Shows(route_errors)),
    ("Setback", Shows(setbacks)),
    ("SkippedLine", WORDS),
    ("Status", WORDS),
    ("StatusError", Shows(status_errors)),
    ("Version", WORDS),
    ("adapters::ExecuteError", Shows(execute_errors)),
    ("fields::Authority", BYTES),
    ("fields::Canonical", BYTES),
    ("fields::KnownValue", WORDS),
    ("fields::Scheme", BYTES),
    ("fields::Target", BYTES),
    ("h1::Awaited", WORDS),
    ("h1::UnknownStream", WORDS),
    ("h1::Violation", WORDS),
    ("h2::ErrorCode", WORDS),
    ("h2::FrameKind", WORDS),
    ("h2::FrameSummary", WORDS),
    ("h2::Priority", WORDS),
    ("h2::Violation", WORDS),
    ("hpack::DecodeError", WORDS),
    ("hpack::PrepareError", WORDS),
    ("machine::ConnectionError", WORDS),
    ("machine::OverBudget", WORDS),
    ("machine::SendError", WORDS),
];

#[test]
fn no_error_shows_what_a_terminal_or_a_log_obeys() {
    let mut wrong = Vec::new();
    for (name, row) in ROWS {
        let Shows(shown) = row else { continue };
        let shown = shown();
        assert!(shown.iter().any(|(_, text)| text.contains("root")), "{name} shows nothing from elsewhere");
        for (place, text) in shown.iter().filter(|(_, text)| text.contains(is_obeyed)) {
            wrong.push(format!("{name}, {place}: {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_public_error_has_a_row() {
    let api = include_str!("../../../../../docs/api/alula.txt");
    let public: BTreeSet<_> = api.lines().filter_map(shown_type).collect();
    let rows: BTreeSet<_> = ROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(rows.len(), ROWS.len(), "a type has two rows");
    assert!(public.len() > 40, "{public:?}");
    assert_eq!(public.difference(&rows).collect::<Vec<_>>(), Vec::<&&str>::new(), "no row");
    assert_eq!(rows.difference(&public).collect::<Vec<_>>(), Vec::<&&str>::new(), "no such type");
}

/// Returns the type that a line of the API gives a `Display` or makes an error.
fn shown_type(line: &str) -> Option<&str> {
    let (path, what) = line.strip_prefix("alula::")?.split_once(": ")?;
    let (traits, _) = what.strip_prefix("impl")?.split_once(" for ")?;
    let name = traits.rsplit([' ', ':']).next()?;
    matches!(name, "Display" | "Error").then_some(path)
}

/// The controls, and what ends a line or changes the direction of text elsewhere.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn show(shown: &mut Shown, place: &'static str, error: impl fmt::Display + fmt::Debug) {
    shown.push((place, error.to_string()));
    shown.push((place, format!("{error:?}")));
    // The lines of this form are its own.
    shown.push((place, format!("{error:#?}").replace('\n', " ")));
}

/// An error whose `Debug` is its text as it is, as that of some crates for errors.
struct Foreign(&'static str);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl error::Error for Foreign {}

fn foreign() -> Foreign {
    Foreign(HOSTILE)
}

fn all_causes() -> Vec<Cause> {
    let section = FieldSection::new().append(HOSTILE, "").unwrap_err();
    vec![
        Cause::Url(HOSTILE.into()),
        Cause::Field(section),
        Cause::Unreadable(HOSTILE.into()),
        Cause::Tls(Arc::new(rustls::Error::General(HOSTILE.into()))),
        Cause::Other(Arc::new(foreign())),
        Cause::Io(io::ErrorKind::Other, None),
    ]
}

fn causes() -> Shown {
    let mut shown = Shown::new();
    for cause in all_causes() {
        show(&mut shown, "a cause", cause);
    }
    shown
}

fn asked() -> Shown {
    let mut shown = Shown::new();
    show(&mut shown, "a request", Asked::new(HOSTILE, HOSTILE, HOSTILE));
    show(&mut shown, "a query", Asked::new("GET", "http://a", &format!("/{HOSTILE}?{HOSTILE}={HOSTILE}")));
    shown
}

fn errors() -> Shown {
    use alula::Error;

    let mut shown = Shown::new();
    let phases = [
        Phase::Build,
        Phase::Queue,
        Phase::Resolve,
        Phase::Connect,
        Phase::Proxy,
        Phase::Handshake,
        Phase::Send,
        Phase::Head,
        Phase::Content,
    ];
    for phase in phases {
        for cause in all_causes() {
            let error = Error::new(phase, cause, Retry::Pointless);
            show(&mut shown, "an error", error.clone());
            show(&mut shown, "a request", error.asking(|| Asked::new(HOSTILE, HOSTILE, HOSTILE)));
        }
        let failed = || Error::io(phase, io::Error::other(foreign()));
        show(&mut shown, "an error of the system", failed());
        show(&mut shown, "its place", failed().about(HOSTILE).with_work("it could not be read"));
        show(&mut shown, "its place", failed().about(HOSTILE));
        let address = "127.0.0.1:1".parse().unwrap();
        let tried = [Attempt { address, failure: io::ErrorKind::Other }];
        show(&mut shown, "what was tried", failed().about(HOSTILE).with_tried(tried));
        show(&mut shown, "an error of `io`", io::Error::from(failed()).into_inner().unwrap());
    }
    show(&mut shown, "a failure of the program", Error::other(HOSTILE));
    show(&mut shown, "a failure of the program", Error::other(foreign()));
    of_clients(&mut shown);
    shown
}

/// Adds the errors of clients over text that their callers give.
fn of_clients(shown: &mut Shown) {
    let urls = [
        HOSTILE.into(),
        format!("http://{HOSTILE}/"),
        format!("{HOSTILE}://a"),
        format!("http://a:{HOSTILE}"),
    ];
    for url in &urls {
        show(shown, "check_url", check_url(url).unwrap_err());
        show(shown, "Proxy::all", Proxy::all(url).unwrap_err());
        shown.push(("masked_url", masked_url(url)));
    }
    let client = testing::client(async |exchange: Exchange| exchange.respond(Status::OK).send("").await);
    block_on(async {
        for url in &urls {
            show(shown, "the URL of a call", client.get(url).send().await.unwrap_err());
        }
        for method in [HOSTILE, "GET\r\n\u{1b}[31mroot"] {
            let refused = client.request(method, "http://a.example/").send().await;
            show(shown, "the method of a call", refused.unwrap_err());
        }
        let named = client.get("http://a.example/").header(HOSTILE, HOSTILE).send().await;
        show(shown, "the field of a call", named.unwrap_err());
    });
    let told = io::Error::other(foreign());
    let event = ExchangeEvent::NotConnected(([127, 0, 0, 1], 9).into(), &told);
    shown.push(("an address that was not connected to", format!("{event:?}")));
    shown.push(("the same in lines", format!("{event:#?}").replace('\n', " ")));
    let client = blocking::Client::new().unwrap();
    show(shown, "the URL of a blocking call", client.get(urls[1].as_str()).send().unwrap_err());
    let prepared = client.prepare(HOSTILE, "http://a.example/").and_then(|it| it.build());
    show(shown, "the method of a prepared request", prepared.unwrap_err());
}

fn field_errors() -> Shown {
    let mut shown = Shown::new();
    let mut add = |error: FieldError| show(&mut shown, "a field error", error);
    let mut section = FieldSection::new();
    add(section.append(HOSTILE, "").unwrap_err());
    add(section.append(&*format!(":{HOSTILE}"), "").unwrap_err());
    add(section.append("x", HOSTILE).unwrap_err());
    add(Method::parse(HOSTILE).unwrap_err());
    add(alula::fields::Scheme::parse(HOSTILE).unwrap_err());
    add(alula::fields::Authority::parse(HOSTILE).unwrap_err());
    add(alula::fields::Target::parse(Method::Get, HOSTILE).unwrap_err());
    add(Status::parse(HOSTILE.as_bytes()).unwrap_err());
    shown
}

fn masked() -> Shown {
    let mut shown = Shown::new();
    show(&mut shown, "a path", masked_target(HOSTILE));
    let query = format!("/{HOSTILE}?{HOSTILE}={HOSTILE}&{HOSTILE}");
    show(&mut shown, "a query", masked_target(&query));
    shown.push(("a URL", masked_url(&format!("http://{HOSTILE}@{HOSTILE}/{HOSTILE}?{HOSTILE}={HOSTILE}"))));
    shown
}

fn execute_errors() -> Shown {
    let mut shown = Shown::new();
    show(&mut shown, "the content", ExecuteError::Content(Box::new(foreign())));
    show(&mut shown, "the call", ExecuteError::Http(alula::Error::other(HOSTILE)));
    show(&mut shown, "a field", ExecuteError::from(FieldSection::new().append(HOSTILE, "").unwrap_err()));
    shown
}

fn setbacks() -> Shown {
    let mut shown = Shown::new();
    show(&mut shown, "a failure", Setback::Failed(&alula::Error::other(foreign())));
    shown
}

fn route_errors() -> Shown {
    async fn none(exchange: Exchange) -> Result<Sent, alula::Error> {
        exchange.respond(Status::OK).send("").await
    }

    let mut shown = Shown::new();
    let patterns = [
        HOSTILE.to_owned(),
        format!("/{HOSTILE}"),
        format!("/{{{HOSTILE}}}"),
        format!("/{{a}}/{{a}}{HOSTILE}"),
    ];
    for pattern in patterns {
        if let Err(refused) = Router::new().route(&*pattern, routing::get(none)).build() {
            show(&mut shown, "a pattern", refused);
        }
    }
    shown
}

/// Returns the texts that a server shows of a request with this query.
fn served(show_it: impl Fn(&Exchange, &mut Shown) + Send + Sync + 'static) -> Shown {
    let shown = Arc::new(Mutex::new(Shown::new()));
    let seen = Arc::clone(&shown);
    let show_it = Arc::new(show_it);
    let client = testing::client(move |exchange: Exchange| {
        show_it(&exchange, &mut seen.lock().unwrap());
        exchange.respond(Status::OK).send("")
    });
    let escaped: String = HOSTILE.bytes().map(|byte| format!("%{byte:02x}")).collect();
    block_on(client.get(format!("http://a.example/?kind={escaped}")).send()).unwrap();
    drop(client);
    std::mem::take(&mut *shown.lock().unwrap())
}

fn param_errors() -> Shown {
    served(|exchange, shown| {
        show(shown, "a capture", exchange.param(HOSTILE).unwrap_err());
        show(shown, "a capture", exchange.param_as::<u8>(HOSTILE).unwrap_err());
    })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Large,
}

#[derive(Debug, Deserialize)]
struct Asks {
    #[expect(dead_code, reason = "no query is ever read as this")]
    kind: Kind,
}

fn query_errors() -> Shown {
    served(|exchange, shown| {
        let error: QueryError = exchange.request().query_as::<Asks>().unwrap_err();
        show(shown, "an unknown word", error);
    })
}

fn status_errors() -> Shown {
    let client = testing::client(async |exchange: Exchange| {
        let answer = exchange.respond(Status::NOT_FOUND).header("x-echo", "root \u{85}\u{9b}31m\u{202e}");
        answer.send("").await
    });
    let error = block_on(client.get("http://a.example/root").send()).unwrap().error_for_status().unwrap_err();
    let mut shown = Shown::new();
    show(&mut shown, "a response", error);
    shown
}

fn request_failures() -> Shown {
    let shown = Arc::new(Mutex::new(Shown::new()));
    let seen = Arc::clone(&shown);
    let settings = Server::builder().on_error(move |failure| {
        show(&mut seen.lock().unwrap(), "a failure", *failure);
    });
    let server = TestServer::with(settings, async |exchange: Exchange| -> Result<Sent, alula::Error> {
        if exchange.request().path() == "/panics" {
            // Without the hook, which would write it to stderr.
            std::panic::resume_unwind(Box::new(HOSTILE));
        }
        Err(alula::Error::other(foreign()))
    });
    block_on(async {
        for path in ["/", "/panics"] {
            // Both fail; only what is told of it counts here.
            let _ = server.client().get(format!("http://a.example{path}")).send().await;
        }
    });
    std::mem::take(&mut *shown.lock().unwrap())
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
