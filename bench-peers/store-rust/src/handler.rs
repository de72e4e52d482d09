//! The resources: objects of untyped buckets and of types, and queries of indexes. Every bucket keeps
//! siblings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, LINK};
use axum::http::{Response, StatusCode};
use axum::response::{IntoResponse, Json};
use axum::routing::{get, put};
use axum::{Router, response};

use crate::engine::{Change, Engine};
use crate::record::{Content, INDEX, Record, index_key, terms_of};
use crate::vector::{Dot, Vector, put_counted};

const OBJECT_MAX: usize = 50 << 20;
const META: &str = "x-riak-meta-";
const VCLOCK: HeaderName = HeaderName::from_static("x-riak-vclock");

#[derive(Clone)]
struct Shared {
    engine: Arc<Engine>,
    actor: u64,
}

type Names = HashMap<String, String>;

pub(crate) fn router(engine: Arc<Engine>) -> Router {
    let mut router = Router::new();
    for under in ["", "/types/{type}"] {
        router = router
            .route(&format!("{under}/buckets/{{bucket}}/keys/{{key}}"), get(read).put(write))
            .route(&format!("{under}/buckets/{{bucket}}/index/{{index}}/{{low}}/{{high}}"), get(query))
            .route(&format!("{under}/buckets/{{bucket}}/props"), put(async || StatusCode::NO_CONTENT));
    }
    router.layer(DefaultBodyLimit::max(OBJECT_MAX)).with_state(Shared { engine, actor: rand::random() })
}

fn bucket_of(names: &Names) -> Vec<u8> {
    let bucket_type = names.get("type").map_or("default", String::as_str);
    [bucket_type, "\0", &names["bucket"]].concat().into_bytes()
}

fn name_of(bucket: &[u8], key: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(bucket.len() + key.len() + 2);
    put_counted(bucket, &mut name);
    name.extend_from_slice(key.as_bytes());
    name
}

async fn read(State(shared): State<Shared>, Path(names): Path<Names>) -> response::Response {
    let Ok(stored) = shared.engine.get(&name_of(&bucket_of(&names), &names["key"])) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let Some(stored) = stored else { return (StatusCode::NOT_FOUND, "not found\n").into_response() };
    let bytes = Bytes::from_owner(stored);
    let record = Record::read(&bytes);
    let shown = record.and_then(|record| show(&bytes, &record, &names["bucket"]));
    shown.unwrap_or_else(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The value is sent from where it was read.
fn show(bytes: &Bytes, record: &Record<'_>, bucket: &str) -> Option<response::Response> {
    let vclock = HeaderValue::try_from(record.vector.text()).ok()?;
    let [content] = &record.contents[..] else { return siblings(record, vclock) };
    let mut response = Response::new(Body::from(bytes.slice_ref(content.value)));
    let headers = response.headers_mut();
    headers.reserve(content.fields.len() + 6);
    headers.insert(VCLOCK, vclock);
    headers.insert(CONTENT_TYPE, value_of(bytes, content.media_type)?);
    let tag = [b"\"", content.vtag, b"\""].concat();
    headers.insert(ETAG, HeaderValue::try_from(tag).ok()?);
    let modified = UNIX_EPOCH + Duration::from_micros(content.modified);
    headers.insert(LAST_MODIFIED, HeaderValue::try_from(httpdate::fmt_http_date(modified)).ok()?);
    for (name, value) in &content.fields {
        headers.append(HeaderName::from_bytes(name).ok()?, value_of(bytes, value)?);
    }
    headers.append(LINK, HeaderValue::try_from(format!("</buckets/{bucket}>; rel=\"up\"")).ok()?);
    Some(response)
}

fn value_of(bytes: &Bytes, value: &[u8]) -> Option<HeaderValue> {
    HeaderValue::from_maybe_shared(bytes.slice_ref(value)).ok()
}

fn siblings(record: &Record<'_>, vclock: HeaderValue) -> Option<response::Response> {
    let mut text = b"Siblings:\n".to_vec();
    for content in &record.contents {
        text.extend_from_slice(content.vtag);
        text.push(b'\n');
    }
    let fields = [(VCLOCK, vclock), (CONTENT_TYPE, HeaderValue::from_static("text/plain"))];
    Some((StatusCode::MULTIPLE_CHOICES, fields, text).into_response())
}

async fn write(
    State(shared): State<Shared>,
    Path(names): Path<Names>,
    headers: HeaderMap,
    value: Bytes,
) -> response::Response {
    if !headers.contains_key(CONTENT_TYPE) {
        return (StatusCode::BAD_REQUEST, "Missing Content-Type request header\n").into_response();
    }
    let context = match headers.get(VCLOCK) {
        None => Some(Vector::default()),
        Some(text) => Vector::parse(text.as_bytes()),
    };
    let Some(context) = context else {
        return (StatusCode::BAD_REQUEST, "the context is damaged\n").into_response();
    };
    let (bucket, actor) = (bucket_of(&names), shared.actor);
    let name = name_of(&bucket, &names["key"]);
    // All that needs no record is done before the one thread that writes has it.
    let (vtag, fields) = (vtag(), fields_of(&headers));
    let decide = move |stored: Option<&[u8]>| {
        let before = stored.map_or(Some(Record::default()), Record::read)?;
        let content = Content {
            dot: Dot { actor, count: 0 },
            vtag: &vtag,
            modified: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64,
            media_type: headers[CONTENT_TYPE].as_bytes(),
            fields: fields.iter().map(|(name, value)| (&name[..], &value[..])).collect(),
            value: &value,
        };
        Some(changed(before, &context, content, actor, &bucket, names["key"].as_bytes()))
    };
    match shared.engine.write(name, Box::new(decide)).await {
        true => StatusCode::NO_CONTENT.into_response(),
        false => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn changed<'a>(
    before: Record<'a>,
    context: &Vector,
    content: Content<'a>,
    actor: u64,
    bucket: &[u8],
    key: &[u8],
) -> Change {
    let gone = before.entries(bucket, key);
    let after = before.put(context, content, actor);
    let come = after.entries(bucket, key);
    Change {
        record: after.write(),
        gone: gone.difference(&come).cloned().collect(),
        come: come.difference(&gone).cloned().collect(),
    }
}

/// The fields that are stored beside a value: those of one name are one, in which each term of an index is
/// there once.
fn fields_of(headers: &HeaderMap) -> Vec<(Vec<u8>, Vec<u8>)> {
    let is_stored = |name: &HeaderName| {
        name.as_str().starts_with(META) || name.as_str().starts_with(INDEX) || *name == LINK
    };
    let names = headers.keys().filter(|name| is_stored(name));
    names.map(|name| (name.as_str().as_bytes().to_vec(), joined(headers, name))).collect()
}

fn joined(headers: &HeaderMap, name: &HeaderName) -> Vec<u8> {
    let values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    if !name.as_str().starts_with(INDEX) {
        return values.collect::<Vec<_>>().join(&b", "[..]);
    }
    let mut terms: Vec<&[u8]> = Vec::new();
    for term in values.flat_map(terms_of) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms.join(&b", "[..])
}

/// 22 letters and digits.
fn vtag() -> [u8; 22] {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut bits: u128 = rand::random();
    std::array::from_fn(|_| {
        let letter = LETTERS[(bits % 62) as usize];
        bits /= 62;
        letter
    })
}

/// The keys of the objects whose terms lie in the range.
async fn query(State(shared): State<Shared>, Path(names): Path<Names>) -> response::Response {
    let prefix = index_key(&bucket_of(&names), names["index"].as_bytes());
    let low = [&prefix[..], names["low"].as_bytes()].concat();
    let high = [&prefix[..], names["high"].as_bytes(), b"\x01"].concat();
    let Ok(entries) = shared.engine.entries(&low, &high) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let key = |entry: &[u8]| {
        let rest = &entry[prefix.len()..];
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or_default();
        String::from_utf8_lossy(&rest[end + 1..]).into_owned()
    };
    let keys: Vec<String> = entries.iter().map(|entry| key(entry)).collect();
    Json(serde_json::json!({ "keys": keys })).into_response()
}
