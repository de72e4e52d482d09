//! Requests of the crate http: names and values by constants, as its users write them.

use alula_testkit::lists::Pair;
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

/// What the client measurements ask for.
pub(crate) const PATH: &str = "/static/app";

pub(crate) fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}
