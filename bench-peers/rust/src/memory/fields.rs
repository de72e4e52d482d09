//! Fields added to what holds them, and methods, without a connection.

use std::hint::black_box;

use alula_testkit::lists::{METHODS, ODD, Pair, SAME};
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

use crate::measure::Run;

/// `odd` or `same`.
fn list(name: &str) -> [Pair; 4] {
    match name {
        "odd" => ODD,
        "same" => SAME,
        _ => panic!("no list {name}"),
    }
}

/// Into a map of their own each time, as requests have them.
pub(crate) fn new_map(name: &str) -> Run {
    let list = list(name);
    Box::new(move |count| {
        for _ in 0..count {
            let mut map = HeaderMap::new();
            append(&mut map, black_box(&list));
            black_box(&map);
        }
    })
}

/// Names by constants, and values by text, into one map that is cleared.
pub(crate) fn known() -> Run {
    let names = [CONTENT_TYPE, ACCEPT_ENCODING, HeaderName::from_static("x-request-id"), USER_AGENT];
    let mut map = HeaderMap::new();
    Box::new(move |count| {
        for _ in 0..count {
            map.clear();
            for (name, (_, value)) in black_box(&names).iter().zip(black_box(&ODD)) {
                map.append(name.clone(), HeaderValue::from_str(value).expect("a valid value"));
            }
            black_box(&map);
        }
    })
}

/// Into one map that is cleared, as Alula's section is.
pub(crate) fn same_map(name: &str) -> Run {
    let (list, mut map) = (list(name), HeaderMap::new());
    Box::new(move |count| {
        for _ in 0..count {
            map.clear();
            append(&mut map, black_box(&list));
            black_box(&map);
        }
    })
}

fn append(map: &mut HeaderMap, list: &[Pair]) {
    for (name, value) in list {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a valid name");
        map.append(name, HeaderValue::from_str(value).expect("a valid value"));
    }
}

/// By the builder that hyper's users have; so with the rest of a request.
pub(crate) fn builder(name: &str) -> Run {
    let list = list(name);
    Box::new(move |count| {
        for _ in 0..count {
            let add = |request: http::request::Builder, (name, value): &Pair| request.header(*name, *value);
            let request = black_box(&list).iter().fold(Request::builder(), add);
            black_box(request.body(()).expect("valid fields"));
        }
    })
}

/// Made a method and compared, as hyper does with what it reads. Case is not folded, so that one of the three
/// is CONNECT.
pub(crate) fn connect() -> Run {
    let is_connect =
        |text: &str| Method::from_bytes(text.as_bytes()).is_ok_and(|method| method == Method::CONNECT);
    Box::new(move |count| {
        for _ in 0..count {
            let methods = black_box(&METHODS).iter();
            assert_eq!(methods.filter(|text| is_connect(text)).count(), 1);
        }
    })
}
