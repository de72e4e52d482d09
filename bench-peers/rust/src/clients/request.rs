//! Requests of the crate http: names and values by constants, as its users write them.

use alula_testkit::lists::Pair;
use alula_testkit::traffic::{self, Ids};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};

/// The fields of each request.
pub(crate) type Fields = Vec<(HeaderName, HeaderValue)>;

/// Checked once.
pub(crate) fn fields(list: &[Pair]) -> Fields {
    let field = |(name, value): &Pair| (HeaderName::from_static(name), HeaderValue::from_static(value));
    list.iter().map(field).collect()
}

/// A GET with all fields added one by one.
pub(crate) fn get<B>(uri: &Uri, fields: &Fields, body: B) -> Request<B> {
    let mut request = Request::new(body);
    *request.uri_mut() = uri.clone();
    let mut map = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        map.append(name.clone(), value.clone());
    }
    *request.headers_mut() = map;
    request
}

/// Requests one after another: the same again and again, or with another query and other ids each time.
#[derive(Clone)]
pub(crate) struct Requests {
    uri: Uri,
    fields: Fields,
    /// The targets and ids of requests that vary.
    varied: Vec<(String, Ids)>,
    number: usize,
}

/// After so many requests the first come again, as with Alula.
const VARIED: usize = 1024;

impl Requests {
    pub(crate) fn new(target: &str, fields: Fields, varies: bool) -> Self {
        let one = |number| {
            let ids = traffic::ids(number);
            (format!("{target}?{}", ids.query), ids)
        };
        let varied = if varies { (0..VARIED).map(one).collect() } else { Vec::new() };
        Self { uri: target.parse().expect("a valid URI"), fields, varied, number: 0 }
    }

    /// The next: what varies is parsed each time, all else was before.
    pub(crate) fn next<B>(&mut self, body: B) -> Request<B> {
        if self.varied.is_empty() {
            return get(&self.uri, &self.fields, body);
        }
        let (target, ids) = &self.varied[self.number % VARIED];
        self.number += 1;
        let uri = target.parse().expect("a valid URI");
        let mut request = get(&uri, &self.fields, body);
        for (name, value) in [("x-request-id", &ids.request), ("x-trace", &ids.trace)] {
            request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a valid value"));
        }
        request
    }
}

/// What the client measurements ask for.
pub(crate) const PATH: &str = "/static/app";

pub(crate) fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}
