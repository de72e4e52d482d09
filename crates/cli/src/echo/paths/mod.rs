//! Paths of `alula echo` that have an answer of their own, as httpbin has them.
//!
//! Rule 1: what a request can make this program do is bounded: bytes, redirects, seconds, memory.
//! Rule 2: an answer is a value, made of the request alone and sent in one place.

mod asked;
mod auth;
mod bytes;
mod caching;
mod codings;
mod cookies;
mod digest;
mod documents;
mod form;
mod inspection;
mod made;
mod redirects;
mod statuses;
mod twister;

use alula::{Answer, Error, Exchange, KnownName, Route, Router, Sent, Status, routing};

use self::{
    asked::{Asked, CONTENT_MAX, Held},
    made::Made,
};
use super::terms::Terms;

/// Makes the answer of a path.
type Make = fn(&Asked<'_>) -> Result<Made, Answer>;

/// The methods of paths that do not mind.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Paths that are read by GET and HEAD.
const READ: [(&str, Make); 39] = [
    ("/absolute-redirect/{count}", redirects::absolute),
    ("/base64/{text}", documents::base64),
    ("/basic-auth/{user}/{password}", auth::basic),
    ("/bearer", auth::bearer),
    ("/brotli", codings::brotli),
    ("/bytes/{bytes}", bytes::bytes),
    ("/cache", caching::cache),
    ("/cache/{seconds}", caching::cache_for),
    ("/cookies", cookies::cookies),
    ("/cookies/delete", cookies::delete),
    ("/cookies/set", cookies::set),
    ("/cookies/set/{name}/{value}", cookies::set_one),
    ("/deflate", codings::deflate),
    ("/deny", documents::deny),
    ("/drip", bytes::drip),
    ("/encoding/utf8", documents::utf8),
    ("/etag/{etag}", caching::etag),
    ("/forms/post", documents::form),
    ("/get", inspection::get),
    ("/gzip", codings::gzip),
    ("/headers", inspection::headers),
    ("/hidden-basic-auth/{user}/{password}", auth::hidden),
    ("/html", documents::html),
    ("/image", documents::image),
    ("/image/png", documents::png),
    ("/ip", inspection::ip),
    ("/json", documents::json),
    ("/links/{count}", documents::first_links),
    ("/links/{count}/{own}", documents::links),
    ("/range/{bytes}", bytes::range),
    ("/redirect/{count}", redirects::redirect),
    ("/relative-redirect/{count}", redirects::relative),
    ("/robots.txt", documents::robots),
    ("/stream-bytes/{bytes}", bytes::stream_bytes),
    ("/stream/{lines}", inspection::stream),
    ("/user-agent", inspection::user_agent),
    ("/uuid", documents::uuid),
    ("/xml", documents::xml),
    ("/zstd", codings::zstd),
];

/// Paths that are asked by any method, and described with their content.
const DESCRIBED: [(&str, Make); 3] = [
    ("/anything", inspection::anything),
    ("/anything/{*rest}", inspection::anything),
    ("/delay/{seconds}", inspection::delay),
];

/// Paths that are asked by any method, and whose answer depends on the bytes of their content.
const DIGESTED: [(&str, Make); 2] = [
    ("/digest-auth/{qop}/{user}/{password}", digest::digest),
    ("/digest-auth/{qop}/{user}/{password}/{algorithm}", digest::digest),
];

/// Paths that are asked by any method, whatever is sent.
const ANY: [(&str, Make); 2] =
    [("/redirect-to", redirects::redirect_to), ("/status/{codes}", statuses::status)];

/// Paths that are asked by one method with content.
const SENT: [(&str, &str); 4] =
    [("/post", "POST"), ("/put", "PUT"), ("/patch", "PATCH"), ("/delete", "DELETE")];

/// Adds the paths to a router. No request may have more than `bytes_max` bytes of content.
pub(super) fn add(mut router: Router, terms: Terms, bytes_max: usize) -> Router {
    let discarding = |make| Answering { terms, bytes_max, make, reading: Reading::Nothing };
    let bytes_max = bytes_max.min(CONTENT_MAX);
    let keeping = |make, reading| Answering { terms, bytes_max, make, reading };
    for (path, make) in READ {
        router = router.route(path, discarding(make).by(&["GET"]));
    }
    for (path, make) in ANY {
        router = router.route(path, discarding(make).by(&METHODS));
    }
    for (path, make) in DESCRIBED {
        router = router.route(path, keeping(make, Reading::Forms).by(&METHODS));
    }
    for (path, make) in DIGESTED {
        router = router.route(path, keeping(make, Reading::Bytes).by(&METHODS));
    }
    for (path, method) in SENT {
        router = router.route(path, keeping(inspection::sent, Reading::Forms).by(&[method]));
    }
    router.route("/response-headers", discarding(caching::response_headers).by(&["GET", "POST"]))
}

/// The way to the answers of one path.
#[derive(Clone, Copy)]
struct Answering {
    terms: Terms,
    bytes_max: usize,
    make: Make,
    reading: Reading,
}

/// The form in which the content of a request is kept.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Reading {
    Nothing,
    Bytes,
    /// A form of many parts as such, and other content as bytes.
    Forms,
}

impl Answering {
    /// A route that has these methods, and says so.
    fn by(self, methods: &[&str]) -> Route {
        let handler = move |exchange| self.answer(exchange);
        let route = routing::options(allowed).content_max(self.bytes_max);
        methods.iter().fold(route, |route, method| route.on(method, handler))
    }

    async fn answer(self, mut exchange: Exchange) -> Result<Sent, Answer> {
        let held = match self.reading {
            Reading::Bytes | Reading::Forms => {
                Some(Held::read(&mut exchange, self.reading == Reading::Forms).await?)
            }
            Reading::Nothing => {
                asked::discard(&mut exchange).await?;
                None
            }
        };
        let content = held.as_ref().map(|held| &held.content[..]).unwrap_or_default();
        let parts = held.as_ref().and_then(|held| held.parts.as_ref());
        let made = (self.make)(&Asked { exchange: &exchange, content, parts })?;
        made.send(exchange, &self.terms).await
    }
}

/// 200 with the methods of the path (RFC 9110 §9.3.7).
async fn allowed(exchange: Exchange) -> Result<Sent, Error> {
    let allow = exchange.allowed().to_owned();
    exchange.respond(Status::OK).header(KnownName::ALLOW, allow).send(&[]).await
}
