//! Data types: counters, sets, maps and counts of different elements, which their clients change by operations.
//!
//! The state of a data type is the value of the one content of its object. A change is decided under the engine's order of writes, so
//! that changes at once lose nothing.

mod json;
mod kept;
mod operation;
mod path;
mod update;

use alula::{Answer, Exchange, KnownName, Scratch, Status};

use super::fail::{Fail, Outcome};
use super::loading::load;
use super::new_key::new_key;
use super::options::Options;
use super::target::{DEFAULT_TYPE, Target};
use super::{json_content, negotiation};
use crate::engine::{Engine, EngineError};
use crate::model::types::{Kind, Precision, State};
use crate::model::{Damaged, Record};
use crate::properties::Properties;
use crate::statistics::Counted;
use crate::store::Store;

#[cfg(feature = "fuzzing")]
pub(crate) use json::put_value;
pub(super) use kept::Reader;
pub(super) use operation::Asked;
#[cfg(feature = "fuzzing")]
pub(crate) use operation::parse;
pub(super) use update::Update;

/// The longest operation. It is held as JSON, which takes many times its octets.
const OPERATION_OCTETS_MAX: usize = 1024 * 1024;

const JSON: &str = "application/json";

/// The value that an object keeps, in JSON, or `None` if it is deleted or one of its contents is no state.
pub(super) fn json_of_value(record: Record<'_>) -> Option<Scratch> {
    let kind = kept::kind_of(&record.contents().find(|content| !content.is_deleted())?)?;
    let kept = Reader::typed(kind, Precision::default()).read(Some(record)).ok()?;
    let mut json = Scratch::lend();
    json::put_value(kept.state()?.value(), &mut json);
    Some(json)
}

pub(super) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let (target, store) = (Target::of(&exchange)?, exchange.state());
    let options = Options::read(exchange.request())?;
    if is_counter(&target) {
        return moved(exchange, &target).await;
    }
    let properties = properties_of(&store, &target)?;
    let reader = reader_of(&properties)?;
    let (terms, with_context) = (options.read_terms(&properties)?, options.include_context);
    count(&store, Counted::read(reader.kind()));
    let (octets, _share) = load(store.shared(), target.object(), &terms).await?;
    let record = octets.as_ref().map(|octets| Record::read(octets.as_ref())).transpose().map_err(damaged)?;
    let kept = reader.read(record).map_err(damaged)?;
    let state = kept.state().ok_or_else(|| missing(reader.kind(), record.is_some()))?;
    negotiation::check(exchange.request(), JSON)?;
    let octets = octets.as_ref().map_or(0, |octets| octets.as_ref().len() as u64);
    let shown = show(exchange, Status::OK, None, state, with_context);
    store.shared().budget.paced(octets, shown).await?
}

pub(super) async fn change<E: Engine>(mut exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    if is_counter(&target) {
        Options::read(exchange.request())?;
        return moved(exchange, &target).await;
    }
    let (wish, state) = carry_out(&mut exchange, &target).await?;
    match wish.returnbody {
        true => show(exchange, Status::OK, None, &state, wish.with_context).await,
        false => done(exchange, Status::NO_CONTENT, None).await,
    }
}

pub(super) async fn create<E: Engine>(mut exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?.with_key(&new_key()?);
    let (wish, state) = carry_out(&mut exchange, &target).await?;
    let location = path::of_datatype(target.object());
    match wish.returnbody {
        true => show(exchange, Status::CREATED, Some(&location), &state, wish.with_context).await,
        false => done(exchange, Status::CREATED, Some(&location)).await,
    }
}

/// Riak has no route for GET here.
pub(super) async fn no_key<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::Page(Status::NOT_FOUND))
}

/// The content of the answer to a change.
#[derive(Clone, Copy)]
struct Wish {
    returnbody: bool,
    with_context: bool,
}

/// Carries out the operation of a request, and returns the state after it.
async fn carry_out<E: Engine>(
    exchange: &mut Exchange<Store<E>>,
    target: &Target,
) -> Result<(Wish, State), Fail> {
    let store = exchange.state();
    let options = Options::read(exchange.request())?;
    let wish = Wish { returnbody: options.returnbody, with_context: options.include_context };
    let properties = properties_of(&store, target)?;
    let reader = reader_of(&properties)?;
    let config = &store.shared().config;
    let terms = options.write_terms(&properties, config)?;
    drop(options);
    check_types(exchange)?;
    let content = json_content::read(exchange, OPERATION_OCTETS_MAX).await?;
    let asked =
        operation::parse(reader.kind(), &content).map_err(|error| Fail::bad_request(format!("{error}\n")))?;
    drop(content);
    count(&store, Counted::write(reader.kind()));
    let written = store.engine().write(target.object(), Update::new(reader, asked, config), &terms).await?;
    Ok((wish, written.decide.into_state()?))
}

fn count<E: Engine>(store: &Store<E>, counted: Option<Counted>) {
    if let Some(counted) = counted {
        store.shared().statistics.count(counted);
    }
}

/// Checks that the client takes JSON and sends it. For other content Riak answers 406 and not 415.
fn check_types<S>(exchange: &Exchange<S>) -> Result<(), Fail> {
    negotiation::check(exchange.request(), JSON)?;
    match json_content::is_json(exchange.request()) {
        true => Ok(()),
        false => Err(Fail::Page(Status::NOT_ACCEPTABLE)),
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

async fn show<S>(
    exchange: Exchange<S>,
    status: Status,
    location: Option<&[u8]>,
    state: &State,
    with_context: bool,
) -> Outcome {
    let mut answer = Scratch::lend();
    json::put_answer(state, with_context, &mut answer);
    send(exchange, status, location, &answer).await
}

async fn done<S>(exchange: Exchange<S>, status: Status, location: Option<&[u8]>) -> Outcome {
    send(exchange, status, location, b"").await
}

async fn send<S>(exchange: Exchange<S>, status: Status, location: Option<&[u8]>, content: &[u8]) -> Outcome {
    let reply = exchange.respond(status).header(KnownName::CONTENT_TYPE, JSON);
    let reply = match location {
        Some(location) => reply.header(KnownName::LOCATION, location),
        None => reply,
    };
    Ok(reply.send(content).await?)
}
