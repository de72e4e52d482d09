//! PUT and POST of an object, and POST to a bucket, which makes the key.

use alula::{Exchange, FieldSection, KnownName, Scratch, Status};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use md5::{Digest as _, Md5};
use tokio::time::Instant;

use super::incoming::Incoming;
use super::shown::{Shown, charge_fields};
use super::{entries, incoming, one, siblings};
use crate::budget::{Peer, Share};
use crate::engine::{
    Decide, Engine, EngineError, Mark, ObjectName, ReadTerms, RowLength, Verdict, WriteTerms, Written,
};
use crate::http::answer::fail::{Fail, Outcome};
use crate::http::answer::sending::Paced;
use crate::http::checks::conditions::Conditions;
use crate::http::checks::negotiation::{self, IDENTITY};
use crate::http::checks::options::Options;
use crate::http::checks::peer;
use crate::http::object::arriving::{self, Room};
use crate::http::object::loading::load;
use crate::http::object::new_key::new_key;
use crate::http::object::vclock::{self, VCLOCK};
use crate::http::target::{Form, Target};
use crate::http::walk::links;
use crate::model::{self, Context, NewContent, Record, Refused, Rules};
use crate::properties::Properties;
use crate::store::{Shared, Store};

/// The bytes that the rows of the index entries of all contents of an object may take together.
const OBJECT_ROWS_MAX: u64 = 8 * entries::CONTENT_ROWS_MAX;

/// Stores the content under the key of the path.
pub(in crate::http) async fn put<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    store(exchange, target, Status::OK).await
}

/// Stores the content under a new key, which the answer names.
pub(in crate::http) async fn create<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?.with_key(&new_key()?);
    store(exchange, target, Status::CREATED).await
}

async fn store<E: Engine>(mut exchange: Exchange<Store<E>>, target: Target, made: Status) -> Outcome {
    let state = exchange.state();
    let shared = state.shared();
    let request = exchange.request();
    let Asked { fields, terms, rules, returns_content } =
        Asked::of(request.headers(), Options::read(request), &target, shared)?;
    let time = terms.deadline - Instant::now();
    let stated = arriving::stated_bytes(request.headers(), rules.bytes_max)?;
    negotiate(request.headers())?;
    let peer = peer::of(&exchange, &state);
    if fields.conditions.are_for_writes() {
        // Refused before the content is asked for; what is stored meanwhile is checked again with the write.
        check_early(shared, &peer, target.object(), &fields.conditions, &terms).await?;
    }
    let fields = fields.held();
    let room =
        Room { budget: &shared.budget, peer: &peer, bytes_max: rules.bytes_max, times: 1, beside: 0, time };
    let (value, share) = arriving::content(exchange.body(), stated, room).await?;
    let headers = exchange.request().headers();
    check_sum(headers, &value)?;
    let WrittenFields { attributes, rows, conditions, context } = match fields {
        Some(fields) => fields,
        None => WrittenFields::of(headers, &target)?,
    };
    // The time that the content took to arrive is not the engine's.
    let terms = WriteTerms { deadline: Instant::now() + time, ..terms };
    let row = RowLength::of(target.object());
    let put = Put { attributes, rows, row, context, conditions, value, share, rules, refusal: None };
    let Written { decide, record } = shared.engine.write(target.object(), put, &terms).await?;
    if let Some(refusal) = decide.refusal {
        return Err(refusal.into());
    }
    let record = match record {
        Some(bytes) if returns_content => held(shared, &peer, &target, bytes, decide.share, &terms).await?,
        _ => None,
    };
    match record {
        Some((bytes, mut share)) => {
            let record = Record::read(bytes.as_ref()).map_err(EngineError::from)?;
            let bytes_len = bytes.as_ref().len() as u64;
            if charge_fields(&shared.budget, &mut share, bytes_len, &record).is_err() {
                // The write stands, though there is no room to show its object.
                return done(exchange, &target, made).await;
            }
            let paced = Paced { budget: &shared.budget, share: &share };
            show(exchange, shared, &target, bytes.as_ref(), made, paced).await
        }
        None => done(exchange, &target, made).await,
    }
}

/// Returns the record that was written, with its share while it is sent. A record for which there is no room
/// is not kept while it waits for some.
async fn held<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    target: &Target,
    bytes: E::Bytes,
    mut share: Share,
    terms: &WriteTerms,
) -> Result<Option<(E::Bytes, Share)>, Fail> {
    if shared.budget.grow(&mut share, bytes.as_ref().len() as u64).is_ok() {
        return Ok(Some((bytes, share)));
    }
    // A share that holds room while it waits for more could wait for another one that does the same.
    drop((bytes, share));
    let (stored, share) = load(shared, peer, target.object(), &read_terms(terms)).await?;
    Ok(stored.map(|bytes| (bytes, share)))
}

/// Returns the terms of a read before or after the write: of one replica.
const fn read_terms(terms: &WriteTerms) -> ReadTerms {
    let &WriteTerms { n, deadline, .. } = terms;
    ReadTerms { n, r: 1, pr: 0, node_confirms: 0, notfound_ok: true, basic_quorum: false, deadline }
}

/// The fields of a head that a write stores or checks.
struct WrittenFields {
    attributes: Scratch,
    rows: u64,
    conditions: Conditions,
    /// The context of the client; `None` is the empty one.
    context: Option<Scratch>,
}

impl WrittenFields {
    /// Reads the fields in the order in which their errors are reported.
    fn of(headers: &FieldSection, target: &Target) -> Result<Self, Fail> {
        let Incoming { attributes, rows } = incoming::attributes(headers, target.object())?;
        let conditions = Conditions::of_write(headers)?;
        Ok(Self { attributes, rows, conditions, context: vclock::read(headers, VCLOCK)? })
    }

    /// Returns the fields unless they are large: a large head would be held twice for as long as its peer
    /// likes.
    fn held(self) -> Option<Self> {
        let context = self.context.as_ref().map_or(0, |context| context.capacity());
        let bytes = self.attributes.capacity() + self.conditions.capacity() + context;
        (bytes <= incoming::HELD_BYTES_MAX).then_some(self)
    }
}

/// The write that a request asks for.
struct Asked {
    fields: WrittenFields,
    terms: WriteTerms,
    rules: Rules,
    returns_content: bool,
}

impl Asked {
    /// Reads the fields and the query, in the order in which their errors are reported.
    fn of<E: Engine>(
        headers: &FieldSection,
        options: Result<Options<'_>, Fail>,
        target: &Target,
        shared: &Shared<E>,
    ) -> Result<Self, Fail> {
        incoming::media_type(headers)?;
        let options = options?;
        let fields = WrittenFields::of(headers, target)?;
        let properties = target.properties(&shared.properties)?;
        if properties.datatype.is_some() {
            let text = "objects of this type are data types, and changed under /datatypes\n";
            return Err(Fail::text(Status::FORBIDDEN, text));
        }
        Ok(Self {
            fields,
            terms: options.write_terms(&properties, &shared.config)?,
            rules: rules(&properties, shared),
            returns_content: options.returnbody,
        })
    }
}

/// Returns the rules of a write, by the properties of its bucket.
pub(super) fn rules<E: Engine>(properties: &Properties, shared: &Shared<E>) -> Rules {
    Rules {
        allow_mult: properties.allow_mult,
        last_write_wins: properties.last_write_wins,
        siblings_max: shared.config.siblings_max,
        bytes_max: shared.config.object_bytes_max,
    }
}

/// Checks that a write accepts its own media type in the answer.
fn negotiate(headers: &FieldSection) -> Result<(), Fail> {
    negotiation::choose(headers, &[incoming::media_type(headers)?], IDENTITY).map(drop)
}

async fn check_early<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    conditions: &Conditions,
    terms: &WriteTerms,
) -> Result<(), Fail> {
    let (stored, _share) = load(shared, peer, name, &read_terms(terms)).await?;
    let record = stored.as_ref().map(|bytes| Record::read(bytes.as_ref())).transpose();
    let record = record.map_err(EngineError::from)?;
    conditions.check_write(record.as_ref()).map_err(Fail::Page)
}

/// Checks the content against the checksum of the request.
fn check_sum(headers: &FieldSection, value: &[u8]) -> Result<(), Fail> {
    let Some(stated) = headers.get("content-md5") else { return Ok(()) };
    let sum = STANDARD.decode(stated.trim_ascii()).unwrap_or_default();
    match sum == Md5::digest(value)[..] {
        true => Ok(()),
        false => Err(Fail::bad_request("Content-MD5 header does not match request body.\n")),
    }
}

/// The write of a content.
struct Put {
    attributes: Scratch,
    /// The bytes of the rows of its index entries.
    rows: u64,
    row: RowLength,
    context: Option<Scratch>,
    conditions: Conditions,
    value: Scratch,
    /// The share of the value, given back when the write has ended, even if its client has gone.
    share: Share,
    rules: Rules,
    refusal: Option<Refusal>,
}

/// The reason for which a write is refused when it is decided.
#[derive(Debug)]
pub(super) enum Refusal {
    Condition(Status),
    Model(Refused),
    /// The rows of the index entries of all contents would take so many bytes.
    Rows(u64),
}

impl Decide for Put {
    fn bytes(&self) -> usize {
        self.attributes.len() + self.value.len()
    }

    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        self.refusal = None;
        if let Err(status) = self.conditions.check_write(stored.as_ref()) {
            self.refusal = Some(Refusal::Condition(status));
            return Verdict::Keep;
        }
        let context = self.context.as_deref().and_then(|bytes| Context::read(bytes).ok());
        let context = context.unwrap_or(Context::EMPTY);
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: false,
            attributes: &self.attributes,
            value: &self.value,
        };
        let written = model::write(stored, context, &new, &self.rules, out).map_err(Refusal::Model);
        match written.and_then(|()| self.check_rows(out)) {
            Ok(()) => Verdict::Write,
            Err(refusal) => {
                self.refusal = Some(refusal);
                Verdict::Keep
            }
        }
    }

    fn release(&mut self) {
        self.value = Scratch::default();
    }
}

impl Put {
    /// Checks the rows of all contents, unless the new content adds none: stored ones may stay.
    fn check_rows(&self, written: &[u8]) -> Result<(), Refusal> {
        if self.rows == 0 {
            return Ok(());
        }
        let bytes = Record::read(written).map_or(0, |record| match record.single() {
            Some(_) => self.rows,
            None => self.row.rows(record),
        });
        if bytes > OBJECT_ROWS_MAX { Err(Refusal::Rows(bytes)) } else { Ok(()) }
    }
}

impl From<Refusal> for Fail {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Condition(status) => Self::Page(status),
            Refusal::Rows(bytes) => Self::text(
                Status::CONTENT_TOO_LARGE,
                format!(
                    "the rows of the index entries of all siblings would take {bytes} bytes, and {OBJECT_ROWS_MAX} are allowed\n"
                ),
            ),
            Refusal::Model(refused @ Refused::Bytes { .. }) => {
                Self::text(Status::CONTENT_TOO_LARGE, format!("{refused}\n"))
            }
            Refusal::Model(refused) => {
                Self::text(Status::INTERNAL_SERVER_ERROR, format!("Error:\n{refused}\n"))
            }
        }
    }
}

/// Answers with the object as it is stored now.
async fn show<E: Engine>(
    exchange: Exchange<Store<E>>,
    shared: &Shared<E>,
    target: &Target,
    bytes: &[u8],
    made: Status,
    paced: Paced<'_>,
) -> Outcome {
    let record = Record::read(bytes).map_err(EngineError::from)?;
    let shown = Shown::of(record, None).ok_or(Fail::not_found())?;
    let Shown::One(content) = shown else {
        // The write stands, whatever form its client does not take.
        let form = shown.negotiated(exchange.request().headers()).unwrap_or(super::shown::Form::Text);
        let reply = exchange.respond(Status::MULTIPLE_CHOICES);
        return siblings::send(reply, target, &record, form, shared.secret, paced).await;
    };
    // Riak answers 204 without a field of the object, so that a client would not know its context.
    let is_empty = made == Status::OK && content.value().is_empty();
    let mut reply = exchange.respond(if is_empty { Status::NO_CONTENT } else { made });
    if made == Status::CREATED {
        reply = reply.header(KnownName::LOCATION, &location(target)[..]);
    }
    one::send(reply, target, &record, &content, paced).await
}

/// Answers without content.
async fn done<E: Engine>(exchange: Exchange<Store<E>>, target: &Target, made: Status) -> Outcome {
    let mut media_type = Scratch::lend();
    media_type.extend_from_slice(incoming::media_type(exchange.request().headers())?);
    let reply = match made {
        Status::CREATED => exchange.respond(made).header(KnownName::LOCATION, &location(target)[..]),
        _ => exchange.respond(Status::NO_CONTENT),
    };
    Ok(reply.header(KnownName::CONTENT_TYPE, &media_type[..]).send("").await?)
}

/// Returns the path of an object, in the form of the request that made it.
fn location(target: &Target) -> Scratch {
    let mut path = Scratch::lend();
    let name = target.object();
    if target.form == Form::Typed {
        path.extend_from_slice(b"/types/");
        links::write_name(name.bucket.bucket_type, &mut path);
    }
    path.extend_from_slice(if target.form == Form::Old { b"/riak/" } else { b"/buckets/" });
    links::write_name(name.bucket.bucket, &mut path);
    path.extend_from_slice(if target.form == Form::Old { b"/" } else { b"/keys/" });
    links::write_name(name.key, &mut path);
    path
}
