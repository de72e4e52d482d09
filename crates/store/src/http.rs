//! The resources, one file for each, over HTTP/1.1 and HTTP/2.
//!
//! Rule: a resource is straight-line code in the order of Riak's checks, which decides which of several errors a client sees: method,
//! parameters and fields, access, the read of the object, negotiation, conditions, the action.

mod access;
mod conditions;
mod counter;
mod datatype;
mod fail;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod index;
mod json_content;
mod keys;
mod links;
mod loading;
mod negotiation;
mod new_key;
mod object;
mod old;
mod options;
mod props;
mod query;
mod service;
mod software;
mod target;
mod unrouted;
mod vclock;
mod walk;

use alula::{
    DotSegments, EmptySegments, EncodedSlash, PlusSign, Router, Segments, TrailingSlash, routing::get,
};

#[cfg(feature = "fuzzing")]
pub(crate) use datatype::{parse as parse_operation, put_value};

use crate::engine::Engine;
use crate::store::Store;

/// Slashes too many do no harm, `%2F` and dots are data, and `+` is a space.
const SEGMENTS: Segments = Segments::OBJECT_KEYS
    .empty_segments(EmptySegments::Drop)
    .trailing_slash(TrailingSlash::Ignore)
    .encoded_slash(EncodedSlash::Keep)
    .plus_sign(PlusSign::Space)
    .dot_segments(DotSegments::Literal);

/// All routes.
pub(crate) fn router<E: Engine>(store: Store<E>) -> Router<Store<E>> {
    let object_max = store.shared().config.object_octets_max as usize;
    let object = || {
        get(object::read).put(object::put).post(object::put).delete(object::delete).content_max(object_max)
    };
    let keys = || get(keys::list_keys).post(object::create).content_max(object_max);
    let props = || get(props::read).put(props::write).delete(props::reset);
    let page_check = access::PageCheck::new(store.shared().config.referers.clone());
    let statistics = store.shared().statistics.clone();
    Router::with_state(store)
        .segments(SEGMENTS)
        .hook(software::Software)
        .hook(page_check)
        .hook(statistics)
        .fallback(unrouted::no_route)
        .method_fallback(unrouted::other_method)
        .route("/", get(service::root))
        .route("/ping", get(service::ping))
        .route("/stats", get(service::stats))
        .route("/mapred", get(service::map_reduce_usage).post(service::map_reduce))
        .route("/buckets", get(keys::list_buckets))
        .route("/types/{type}/buckets", get(keys::list_buckets))
        .route("/types/{type}/props", get(props::read_type).put(props::write_type))
        .route("/buckets/{bucket}/props", props())
        .route("/types/{type}/buckets/{bucket}/props", props())
        .route("/buckets/{bucket}/keys", keys())
        .route("/types/{type}/buckets/{bucket}/keys", keys())
        .route("/buckets/{bucket}/keys/{key}", object())
        .route("/types/{type}/buckets/{bucket}/keys/{key}", object())
        .route("/buckets/{bucket}/keys/{key}/{*steps}", get(walk::walk).post(walk::walk))
        .route("/types/{type}/buckets/{bucket}/keys/{key}/{*steps}", get(walk::walk).post(walk::walk))
        .route("/riak/{bucket}/{key}/{*steps}", get(walk::walk).post(walk::walk))
        .route("/buckets/{bucket}/index/{field}/{low}", get(index::query))
        .route("/buckets/{bucket}/index/{field}/{low}/{high}", get(index::query))
        .route("/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}", get(index::refuse_more_terms))
        .route("/types/{type}/buckets/{bucket}/index/{field}/{low}", get(index::query))
        .route("/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}", get(index::query))
        .route(
            "/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}",
            get(index::refuse_more_terms),
        )
        .route(
            "/buckets/{bucket}/counters/{key}",
            get(counter::read).head(unrouted::other_method).post(counter::change),
        )
        .route("/types/{type}/buckets/{bucket}/datatypes", get(datatype::no_key).post(datatype::create))
        .route("/types/{type}/buckets/{bucket}/datatypes/{key}", get(datatype::read).post(datatype::change))
        .route("/riak", get(old::list_buckets))
        .route("/riak/{bucket}", get(old::read).put(old::write).post(object::create).content_max(object_max))
        .route("/riak/{bucket}/{key}", object())
}

#[cfg(feature = "fuzzing")]
pub(crate) use links::field as link_field;

/// The attributes that a request stores.
#[cfg(feature = "fuzzing")]
pub(crate) fn attributes(headers: &alula::FieldSection, bucket: &[u8]) -> Option<Vec<u8>> {
    object::attributes(headers, bucket).ok().map(|attributes| attributes.to_vec())
}
