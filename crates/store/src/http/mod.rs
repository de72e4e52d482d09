//! The resources, one file for each, over HTTP/1.1 and HTTP/2.
//!
//! Rule: a resource is straight-line code in the order of Riak's checks, which decides which of several
//! errors a client sees: method, parameters and fields, access, the read of the object, negotiation,
//! conditions, the action.

pub(crate) mod answer;
pub(crate) mod checks;
mod datatype;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod index;
mod list;
mod object;
mod old;
mod props;
mod resource;
mod service;
mod target;
mod walk;

use alula::{DotSegments, EmptySegments, EncodedSlash, PlusSign, Router, Segments, TrailingSlash};

#[cfg(feature = "fuzzing")]
pub(crate) use datatype::{parse as parse_operation, put_value};

pub use self::answer::starting::starting;
use self::resource::PATHS;
use crate::engine::Engine;
use crate::store::Store;

/// Empty segments are dropped, `%2F` and dots are data, and `+` is a space.
const SEGMENTS: Segments = Segments::OBJECT_KEYS
    .empty_segments(EmptySegments::Drop)
    .trailing_slash(TrailingSlash::Ignore)
    .encoded_slash(EncodedSlash::Keep)
    .plus_sign(PlusSign::Space)
    .dot_segments(DotSegments::Literal);

/// Builds the router of all resources. If there are users, each route first checks that its request is
/// allowed.
pub(crate) fn router<E: Engine>(store: Store<E>) -> Router<Store<E>> {
    let config = &store.shared().config;
    let (access, object_max) = (config.access.clone(), config.object_bytes_max as usize);
    let page_check = checks::page_check::PageCheck::new(&config.referers);
    let browser_fields = answer::browser_fields::BrowserFields::new(config);
    let statistics = store.shared().statistics.clone();
    let router = Router::with_state(store)
        .segments(SEGMENTS)
        .hook(answer::software::Software)
        .hook(browser_fields)
        .hook(page_check)
        .hook(statistics)
        .fallback(answer::unrouted::no_route)
        .method_fallback(answer::unrouted::other_method);
    PATHS.into_iter().fold(router, |router, (path, resource)| {
        let route = resource.route(object_max);
        router.route(
            path,
            match &access {
                Some(access) => route.wrap(checks::authorization::layer(access.clone(), resource)),
                None => route,
            },
        )
    })
}

#[cfg(feature = "fuzzing")]
pub(crate) use walk::links::field as link_field;

/// Returns the patterns of all paths.
#[cfg(feature = "fuzzing")]
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    PATHS.into_iter().map(|(path, _)| path)
}

/// Returns the attributes that a request stores.
#[cfg(feature = "fuzzing")]
pub(crate) fn attributes(headers: &alula::FieldSection, bucket: &[u8]) -> Option<Vec<u8>> {
    let name = crate::engine::BucketName { bucket_type: target::DEFAULT_TYPE, bucket }.object(b"k");
    object::attributes(headers, name).ok().map(|incoming| incoming.attributes.to_vec())
}
