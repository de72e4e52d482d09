//! The paths of older clients, `/riak` and `/riak/B` (Riak §10.4).

use alula::{Exchange, Request, Status};

use super::answer::fail::{Fail, Outcome};
use super::list::{self, Asked, Before, Form, Listed};
use super::{checks::query, props};
use crate::engine::Engine;
use crate::store::Store;

/// Lists the buckets.
pub(super) async fn list_buckets<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    list::list_buckets(exchange).await
}

/// Lists the keys of a bucket after its properties, or shows these alone.
pub(super) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let asked = Asked::read(exchange.request(), Listed::Keys)?;
    match asked.form() {
        Some(form) => list_keys(exchange, &asked, form).await,
        None if shows_properties(exchange.request()) => props::read(exchange).await,
        None => Err(Fail::Page(Status::NOT_FOUND)),
    }
}

/// Changes the properties of a bucket.
pub(super) async fn write<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    match shows_properties(exchange.request()) {
        true => props::write(exchange).await,
        false => Err(Fail::Page(Status::NOT_FOUND)),
    }
}

/// Returns true if properties are a part of the answer.
pub(super) fn shows_properties(request: &Request) -> bool {
    query::value(request, "props").is_none_or(|value| *value != *b"false")
}

async fn list_keys<E: Engine>(exchange: Exchange<Store<E>>, asked: &Asked, form: Form) -> Outcome {
    let target = asked.target(&exchange)?;
    let properties = shows_properties(exchange.request())
        .then(|| exchange.state().shared().properties.bucket_list(target.bucket()))
        .flatten();
    let before = match properties {
        Some(properties) => {
            Before::Properties(serde_json::Value::Object(properties).to_string().into_bytes())
        }
        None if form == Form::Streamed => Before::EmptyObject,
        None => Before::Nothing,
    };
    list::send(exchange, &target, asked, form, before).await
}
