//! Properties of buckets and of types, as JSON.

use std::sync::Arc;

use alula::{Exchange, KnownName, Request, Status};
use serde_json::Value;
use tokio::time::Instant;

use super::answer::fail::{Fail, Outcome};
use super::answer::json_content::{self, Bounds};
use super::checks::negotiation;
use super::checks::options::Options;
use super::target::Target;
use crate::budget::Share;
use crate::engine::{Engine, EngineError};
use crate::properties::{List, SetError, list_bytes, list_of_content};
use crate::store::Store;

/// The longest content: a list has some thirty properties, and those that are not known are short. Of longer
/// lists it is told what is wrong with them.
const CONTENT_BYTES_MAX: u64 = 256 * 1024;

/// The room that a list takes in memory for each byte of its JSON, at most.
const LIST_FACTOR: u64 = 12;

pub(super) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    let list = exchange.state().shared().properties.bucket_list(target.bucket());
    show(exchange, &target, list).await
}

pub(super) async fn write<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    set(exchange, Owner::Bucket).await
}

pub(super) async fn reset<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let (target, store) = (Target::of(&exchange)?, (*exchange.state()).clone());
    let deadline = Options::default().deadline(&store.shared().config);
    ended(async move {
        let shared = store.shared();
        let reset = shared.properties.reset_bucket(&shared.engine, target.bucket(), deadline).await;
        reset.map_err(|error| fail(error, &target))
    })
    .await?;
    done(exchange, "text/html").await
}

pub(super) async fn read_type<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    let list = exchange.state().shared().properties.type_list(target.bucket().bucket_type);
    show(exchange, &target, list).await
}

pub(super) async fn write_type<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    set(exchange, Owner::Type).await
}

/// The owner of a list: a type or a bucket.
#[derive(Clone, Copy)]
enum Owner {
    Bucket,
    Type,
}

async fn set<E: Engine>(mut exchange: Exchange<Store<E>>, owner: Owner) -> Outcome {
    let target = Target::of(&exchange)?;
    let deadline = Options::default().deadline(&exchange.state().shared().config);
    let (asked, share) = asked_list(&mut exchange, deadline).await?;
    let store = (*exchange.state()).clone();
    let is_known = store.shared().properties.of(target.bucket()).is_some();
    check(exchange.request(), &target, is_known)?;
    ended(async move {
        let _share = share;
        let (shared, bucket) = (store.shared(), target.bucket());
        let (properties, engine) = (&shared.properties, &shared.engine);
        let set = match owner {
            Owner::Bucket => properties.set_bucket(engine, bucket, &asked, deadline).await,
            Owner::Type => properties.set_type(engine, bucket.bucket_type, &asked, deadline).await,
        };
        set.map_err(|error| fail(error, &target))
    })
    .await?;
    done(exchange, "application/json").await
}

/// Reads the list that a request asks for, with its share of the bytes in flight.
///
/// # Errors
/// 415 for content of another type than JSON, 413 for long content, 400 for content of another form, 503 if
/// there is no room for it.
async fn asked_list<E: Engine>(
    exchange: &mut Exchange<Store<E>>,
    deadline: Instant,
) -> Result<(List, Share), Fail> {
    if !json_content::is_json(exchange.request()) {
        let text = "The content of properties must be of the type application/json\n";
        return Err(Fail::text(Status::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let time = deadline - Instant::now();
    let bounds = Bounds { bytes_max: CONTENT_BYTES_MAX, times: LIST_FACTOR, beside: 0, time };
    let (content, mut share) = json_content::read(exchange, bounds).await?;
    let bytes = list_bytes(&content);
    exchange.state().shared().budget.extend(&mut share, bytes, bytes, Instant::now() + time).await?;
    match list_of_content(&content) {
        Ok(list) => Ok((list, share)),
        Err(reason) => Err(Fail::bad_request(format!("{reason}\n"))),
    }
}

/// Carries a change out to its end, even if its client has gone: what is kept and what is in effect stay the
/// same.
async fn ended(change: impl Future<Output = Result<(), Fail>> + Send + 'static) -> Result<(), Fail> {
    tokio::spawn(change).await.map_err(|lost| EngineError::Unknown(Arc::new(lost)))?
}

fn check(request: &Request, target: &Target, is_known: bool) -> Result<(), Fail> {
    if !is_known {
        return Err(Fail::unknown_type(target.bucket().bucket_type));
    }
    negotiation::check(request, "application/json")
}

fn fail(error: SetError, target: &Target) -> Fail {
    match error {
        SetError::UnknownType => Fail::unknown_type(target.bucket().bucket_type),
        SetError::Refused(reasons) => Fail::Json(Status::BAD_REQUEST, Value::Object(reasons)),
        SetError::Full => {
            let text = "No more buckets can have properties of their own; those of a bucket type are for many buckets\n";
            Fail::text(Status::INSUFFICIENT_STORAGE, text)
        }
        SetError::Engine(error) => error.into(),
    }
}

async fn show<S>(exchange: Exchange<S>, target: &Target, list: Option<List>) -> Outcome {
    check(exchange.request(), target, list.is_some())?;
    let shown: List = [("props".to_owned(), Value::Object(list.unwrap_or_default()))].into_iter().collect();
    Ok(exchange.respond(Status::OK).json(&shown).await?)
}

async fn done<S>(exchange: Exchange<S>, media_type: &str) -> Outcome {
    let reply = exchange.respond(Status::NO_CONTENT);
    Ok(reply.header(KnownName::CONTENT_TYPE, media_type).send("").await?)
}
