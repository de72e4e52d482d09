//! Data types: counters, sets, maps and counts of different elements, which their clients change by
//! operations.
//!
//! The state of a data type is the value of the one content of its object. A change is decided under the
//! engine's order of writes, so that changes at once lose nothing.

mod carry_out;
mod charge;
pub(in crate::http) mod counter;
mod json;
mod kept;
mod operation;
mod path;
mod update;

use alula::{Answer, Exchange, KnownName, Request, Status};
use tokio::time::Instant;

use super::answer::fail::{Fail, Outcome};
use super::answer::json_content::{self, Bounds};
use super::answer::sending::Paced;
use super::checks::options::Options;
use super::checks::{negotiation, peer};
use super::object::new_key::new_key;
use super::target::{DEFAULT_TYPE, Target};
use crate::budget::{Peer, SMALL_BYTES_MAX, Share};
use crate::engine::{Engine, EngineError, ObjectName, ReadTerms, WriteTerms};
use crate::model::types::{Kind, Precision};
use crate::model::{Damaged, Record};
use crate::properties::Properties;
use crate::statistics::Counted;
use crate::store::{Shared, Store};

use carry_out::Answered;
pub(super) use carry_out::carry_out_small;
#[cfg(feature = "fuzzing")]
pub(crate) use json::put_value;
pub(super) use kept::Reader;
pub(super) use operation::Asked;
#[cfg(feature = "fuzzing")]
pub(crate) use operation::parse;
pub(super) use update::Shows;

/// The longest operation.
const OPERATION_BYTES_MAX: u64 = 1024 * 1024;

const JSON: &str = "application/json";

/// Returns the value of a data type in JSON, or `None` if the object is deleted or one of its contents is no
/// state.
pub(super) fn json_of_value(record: Record<'_>) -> Option<Vec<u8>> {
    let kind = kind_of(record)?;
    let kept = Reader::typed(kind, Precision::default()).read(Some(record)).ok()?;
    let mut json = Vec::new();
    json::put_value(kept.state()?.value(), &mut json);
    Some(json)
}

/// Returns the kind of the data type that an object keeps, by its media types.
fn kind_of(record: Record<'_>) -> Option<Kind> {
    kept::kind_of(&record.contents().find(|content| !content.is_deleted())?)
}

/// Loads an object with its share; the one of a data type has room for its value in JSON. Allocates nothing
/// but what the engine does.
pub(super) async fn load_object<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
) -> Result<(Option<E::Bytes>, Share), Fail> {
    let charge = |bytes: &[u8]| {
        let record = Record::read(bytes).ok().filter(|record| kind_of(*record).is_some());
        record.map_or(0, charge::of_read)
    };
    charge::load(shared, peer, name, terms, charge).await
}

/// Loads the object of a data type with the share that reading it needs. Allocates nothing but what the
/// engine does.
pub(super) async fn load_state<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
) -> Result<(Option<E::Bytes>, Share), Fail> {
    charge::load(shared, peer, name, terms, |bytes| Record::read(bytes).map_or(0, charge::of_read)).await
}

pub(super) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let (target, store) = (Target::of(&exchange)?, exchange.state());
    let options = Options::read(exchange.request())?;
    if is_counter(&target) {
        return moved(exchange, &target).await;
    }
    let properties = properties_of(&store, &target)?;
    let reader = reader_of(&properties)?;
    let (terms, with_context) =
        (options.read_terms(&properties, &store.shared().config)?, options.include_context);
    count(&store, Counted::read(reader.kind()));
    let peer = peer::of(&exchange, &store);
    let (bytes, mut share) = load_state(store.shared(), &peer, target.object(), &terms).await?;
    let record = bytes.as_ref().map(|bytes| Record::read(bytes.as_ref())).transpose().map_err(damaged)?;
    let kept = reader.read(record).map_err(damaged)?;
    let state = kept.state().ok_or_else(|| missing(reader.kind(), record.is_some()))?;
    negotiation::check(exchange.request(), JSON)?;
    let mut answer = Vec::new();
    json::put_answer(state, with_context, &mut answer);
    // An answer may wait for its client for long: it holds nothing but itself.
    drop(kept);
    drop(bytes);
    share.shrink(answer.capacity() as u64);
    let paced = Paced { budget: &store.shared().budget, share: &share };
    send(exchange, Status::OK, None, &answer, paced).await
}

pub(super) async fn change<E: Engine>(mut exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    if is_counter(&target) {
        Options::read(exchange.request())?;
        return moved(exchange, &target).await;
    }
    let answered = carry_out(&mut exchange, &target).await?;
    let status = if answered.content.is_empty() { Status::NO_CONTENT } else { Status::OK };
    answer(exchange, status, None, &answered).await
}

pub(super) async fn create<E: Engine>(mut exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?.with_key(&new_key()?);
    let answered = carry_out(&mut exchange, &target).await?;
    answer(exchange, Status::CREATED, Some(&path::of_datatype(target.object())), &answered).await
}

/// Answers 404 to a GET without a key, for which Riak has no route.
pub(super) async fn no_key<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::Page(Status::NOT_FOUND))
}

/// Carries out the operation of a request.
async fn carry_out<E: Engine>(exchange: &mut Exchange<Store<E>>, target: &Target) -> Result<Answered, Fail> {
    let store = exchange.state();
    let options = Options::read(exchange.request())?;
    let shows = match options.returnbody {
        true => Shows::Value { with_context: options.include_context },
        false => Shows::Nothing,
    };
    let properties = properties_of(&store, target)?;
    let reader = reader_of(&properties)?;
    let terms = options.write_terms(&properties, &store.shared().config)?;
    drop(options);
    check_types(exchange)?;
    let time = terms.deadline - Instant::now();
    let beside = match may_be_long(exchange.request()) {
        true => carry_out::of_stored(store.shared(), target.object(), shows, &terms).await?,
        false => 0,
    };
    let (bytes_max, times) = (OPERATION_BYTES_MAX, charge::OPERATION_FACTOR);
    let bounds = Bounds { bytes_max, times, beside, time };
    let content = json_content::read(exchange, bounds).await?;
    // The time that the content took to arrive is not the engine's.
    let terms = WriteTerms { deadline: Instant::now() + time, ..terms };
    carry_out::carry_out(store.shared(), target.object(), (reader, shows), content, &terms).await
}

/// Returns true if an operation may be so long that it waits for all of its room, the room for the changed
/// state included. Its content then arrives as that is free: contents that are here already would keep each
/// other from it.
fn may_be_long(request: &Request) -> bool {
    let stated = request.headers().text(KnownName::CONTENT_LENGTH).and_then(|text| text.parse().ok());
    stated.is_none_or(|stated: u64| stated.saturating_mul(charge::OPERATION_FACTOR) > SMALL_BYTES_MAX)
}

/// Answers a change, whose share is held until its content is sent.
async fn answer<E: Engine>(
    exchange: Exchange<Store<E>>,
    status: Status,
    location: Option<&[u8]>,
    answered: &Answered,
) -> Outcome {
    let store = exchange.state();
    let paced = Paced { budget: &store.shared().budget, share: &answered.share };
    send(exchange, status, location, &answered.content, paced).await
}

fn count<E: Engine>(store: &Store<E>, counted: Option<Counted>) {
    if let Some(counted) = counted {
        store.shared().statistics.count(counted);
    }
}

const NOT_JSON: &str = "A change of a data type must be of the type application/json\n";

/// Checks that the client takes JSON and sends it. For other content Riak answers 406 and not 415.
fn check_types<S>(exchange: &Exchange<S>) -> Result<(), Fail> {
    negotiation::check(exchange.request(), JSON)?;
    match json_content::is_json(exchange.request()) {
        true => Ok(()),
        false => Err(Fail::text(Status::NOT_ACCEPTABLE, NOT_JSON)),
    }
}

fn properties_of<E: Engine>(store: &Store<E>, target: &Target) -> Result<Properties, Fail> {
    let bucket = target.bucket();
    store.shared().properties.of(bucket).ok_or_else(|| Fail::unknown_type(bucket.bucket_type))
}

fn reader_of(properties: &Properties) -> Result<Reader, Fail> {
    match properties.datatype {
        Some(kind) if properties.allow_mult => Ok(Reader::typed(kind, properties.hll_precision)),
        _ => Err(Fail::text(Status::FORBIDDEN, "The bucket type has no datatype and allow_mult=true\n")),
    }
}

/// Returns true for a path of the default type, whose only data types are counters.
fn is_counter(target: &Target) -> bool {
    target.bucket().bucket_type == DEFAULT_TYPE
}

async fn moved<S>(exchange: Exchange<S>, target: &Target) -> Outcome {
    let reply = exchange.respond(Status::MOVED_PERMANENTLY);
    Ok(reply.header(KnownName::LOCATION, path::of_counter(target.object())).send("").await?)
}

fn missing(kind: Kind, is_deleted: bool) -> Fail {
    let answer = Answer::new(Status::NOT_FOUND).header(KnownName::CONTENT_TYPE, JSON);
    let answer = match is_deleted {
        true => answer.header("x-riak-deleted", "true"),
        false => answer,
    };
    Fail::Answer(answer.content(format!("{{\"type\":\"{}\",\"error\":\"notfound\"}}", kind.name())))
}

fn damaged(damaged: Damaged) -> Fail {
    EngineError::from(damaged).into()
}

async fn send<S>(
    exchange: Exchange<S>,
    status: Status,
    location: Option<&[u8]>,
    content: &[u8],
    paced: Paced<'_>,
) -> Outcome {
    let reply = exchange.respond(status).header(KnownName::CONTENT_TYPE, JSON);
    let reply = match location {
        Some(location) => reply.header(KnownName::LOCATION, location),
        None => reply,
    };
    paced.send_parts(reply, &[content]).await
}
