//! Link walking: follows the links of an object, step by step, to other objects.
//!
//! A step is a segment `BUCKET,TAG,KEEP` behind the key; `_` in place of a bucket or a tag takes any. A step
//! that keeps its objects (1), as the last one always does, is a part of the response, which is itself a
//! multipart with a part for each object.

mod bounds;
pub(in crate::http) mod links;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use alula::{BodyWriter, Exchange, KnownName, Scratch, Status};
use tokio::time::Instant;

use super::answer::fail::{Fail, Outcome};
use super::checks::authorization::Reader;
use super::checks::options::Options;
use super::object::random::random;
use super::object::{put_boundary, put_head};
use super::target::{DEFAULT_TYPE, Form, Target};
use super::{
    answer::stand_ins,
    checks::{peer, query},
    object::loading,
};
use crate::budget::{Peer, Share};
use crate::engine::{BucketName, Engine, EngineError, ObjectName, ReadTerms};
use crate::model::{Attribute, Damaged, Record, Vtag};
use crate::statistics::Counted;
use crate::store::{Shared, Store};
use bounds::Bounds;

/// The steps of a walk.
const STEPS_MAX: usize = 100;
/// The time for which a response may be kept.
const EXPIRES_AFTER: Duration = Duration::from_secs(600);
/// A resource of older versions below a key, which is not a step.
const PREFLIST: &[u8] = b"preflist";

/// Answers with the objects of the steps that are kept.
pub(super) async fn walk<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let state = exchange.state();
    let shared = state.shared();
    let target = Target::of(&exchange)?;
    if target.form == Form::Typed {
        let text = "Link walking is not supported for buckets with a type\n";
        return Err(Fail::text(Status::FORBIDDEN, text));
    }
    // As they were sent: a comma within a part is percent-encoded.
    let before_steps = if target.form == Form::Old { 3 } else { 4 };
    let path = exchange.request().path_without_query().to_owned();
    let steps = segments(&path).skip(before_steps);
    if steps.clone().eq([PREFLIST]) {
        return Err(Fail::Page(Status::NOT_FOUND));
    }
    // One more is read, to be refused.
    let steps = Step::all(steps.take(STEPS_MAX + 1));
    let steps = steps.ok_or(Fail::bad_request("Steps of a walk are of the form BUCKET,TAG,KEEP\n"))?;
    if steps.len() > STEPS_MAX {
        return Err(Fail::bad_request(format!("A walk has {STEPS_MAX} steps at most\n")));
    }
    let properties = target.properties(&shared.properties)?;
    let terms = Options::read(exchange.request())?.read_terms(&properties, &shared.config)?;
    shared.statistics.count(Counted::LinkWalk);
    let (login, peer) = (Reader::begin(&exchange)?, peer::of(&exchange, &state));
    let reader = Reader::finish(login).await?;
    let reached = reached(shared, &peer, &target, &steps, &terms, &reader).await?;
    // One that was seen in another response would let those who write objects end a part of this one.
    let boundary = Boundary(Vtag::from_bits(u128::from_ne_bytes(random()?)));
    let expires = httpdate::fmt_http_date(SystemTime::now() + EXPIRES_AFTER);
    let reply = exchange.respond(Status::OK).header("expires", expires);
    let reply = reply.header(KnownName::CONTENT_TYPE, boundary.media_type(0));
    let mut writer = Writer { body: reply.stream().await?, form: target.form, boundary, peer };
    writer.write_all(shared, &reached, &terms).await?;
    Ok(writer.body.finish().await?)
}

fn segments(path: &str) -> impl Iterator<Item = &[u8]> + Clone {
    path.as_bytes().split(|byte| *byte == b'/').filter(|segment| !segment.is_empty())
}

/// A step of a walk.
struct Step<'a> {
    bucket: Option<Cow<'a, [u8]>>,
    tag: Option<Cow<'a, [u8]>>,
    keeps: bool,
}

impl<'a> Step<'a> {
    fn all(steps: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Self>> {
        let mut all = steps.map(Self::of).collect::<Option<Vec<_>>>()?;
        all.last_mut()?.keeps = true;
        Some(all)
    }

    fn of(segment: &'a [u8]) -> Option<Self> {
        let mut parts = segment.split(|byte| *byte == b',');
        let (bucket, tag, keep) = (parts.next()?, parts.next()?, parts.next()?);
        // Riak takes anything else for the default, and its Java client writes 2 for no.
        let keeps = keep == b"1";
        let any = |part: &'a [u8]| (part != b"_").then(|| query::decoded(part));
        let bucket = any(bucket).map(stand_ins::decoded);
        parts.next().is_none().then(|| Self { bucket, tag: any(tag), keeps })
    }

    fn takes(&self, bucket: &[u8], tag: &[u8]) -> bool {
        let is_taken = |wanted: &Option<Cow<'_, [u8]>>, part: &[u8]| {
            wanted.as_ref().is_none_or(|wanted| **wanted == *part)
        };
        is_taken(&self.bucket, bucket) && is_taken(&self.tag, tag)
    }
}

/// Returns the number of steps in the path behind a key, or `None` if they are refused.
#[cfg(feature = "fuzzing")]
pub(super) fn steps_of(path: &[u8]) -> Option<usize> {
    let steps = path.split(|byte| *byte == b'/').filter(|segment| !segment.is_empty());
    Step::all(steps.take(STEPS_MAX + 1)).map(|steps| steps.len()).filter(|steps| *steps <= STEPS_MAX)
}

/// The name of an object, in one piece. Clones share it.
type Name = Arc<[u8]>;

/// The overhead of a name in a list and in a set.
const NAME_BYTES: usize = 64;

/// The objects of the steps that keep them.
struct Reached {
    steps: Vec<Vec<Name>>,
    names_bytes: u64,
    share: Share,
}

/// Reads the objects of each step that keeps them, each once, in the order of the links. Their reader must be
/// allowed to read all that are reached.
async fn reached<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    target: &Target,
    steps: &[Step<'_>],
    terms: &ReadTerms,
    reader: &Reader,
) -> Result<Reached, Fail> {
    let start = target.object();
    let mut bounds = Bounds::new(&shared.budget, peer);
    let mut from = Names::default();
    from.add(start, 0)?;
    if load(shared, peer, start, terms).await?.0.is_none() {
        return Err(Fail::not_found());
    }
    let (mut all, mut kept, mut kept_bytes) = (Vec::new(), 0, 0);
    for step in steps {
        let (mut next, held) = (Names::default(), kept_bytes + from.bytes);
        for name in &from.list {
            if Instant::now() >= terms.deadline {
                return Err(EngineError::TimedOut.into());
            }
            bounds.count_read()?;
            let (Some(bytes), _share) = load(shared, peer, object_of(name)?, terms).await? else { continue };
            bounds.count_bytes(bytes.as_ref().len())?;
            let record = Record::read(bytes.as_ref()).map_err(EngineError::from)?;
            next.add_links(&record, step, reader, held, &mut bounds)?;
            bounds.hold(held + next.bytes)?;
        }
        from = next;
        if step.keeps {
            kept += from.list.len();
            kept_bytes += from.bytes;
            bounds::check_objects(kept)?;
            all.push(from.list.clone());
        }
    }
    Ok(Reached { steps: all, names_bytes: kept_bytes, share: bounds.into_share() })
}

/// The names of the objects that a step has reached so far.
#[derive(Default)]
struct Names {
    list: Vec<Name>,
    seen: HashSet<Name>,
    bytes: u64,
}

impl Names {
    /// Adds the objects that the links of a record lead to, for links that the step accepts.
    fn add_links(
        &mut self,
        record: &Record<'_>,
        step: &Step<'_>,
        reader: &Reader,
        held_bytes: u64,
        bounds: &mut Bounds<'_>,
    ) -> Result<(), Fail> {
        for attribute in record.contents().flat_map(|content| content.attributes()).flatten() {
            let Attribute::Link { bucket, key, tag } = attribute else { continue };
            bounds.count_link()?;
            let name = BucketName { bucket_type: DEFAULT_TYPE, bucket }.object(key);
            // An object is checked once, however many links lead to it.
            if step.takes(bucket, tag) && self.add(name, held_bytes)? {
                reader.check(name.bucket)?;
            }
        }
        Ok(())
    }

    /// Adds a name, and returns false if it is there already.
    fn add(&mut self, name: ObjectName<'_>, held_bytes: u64) -> Result<bool, Fail> {
        let mut whole = Scratch::lend();
        name.write(&mut whole);
        if self.seen.contains(&whole[..]) {
            return Ok(false);
        }
        self.bytes += (whole.len() + NAME_BYTES) as u64;
        bounds::check_names(held_bytes + self.bytes)?;
        bounds::check_objects(self.list.len() + 1)?;
        let name = Name::from(&whole[..]);
        self.list.push(Arc::clone(&name));
        Ok(self.seen.insert(name))
    }
}

fn object_of(name: &Name) -> Result<ObjectName<'_>, Fail> {
    Ok(ObjectName::read(name).ok_or(Damaged).map_err(EngineError::from)?)
}

/// Reads the record of an object, if it is there, with its share.
async fn load<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
) -> Result<(Option<E::Bytes>, Share), Fail> {
    // Engines answer at once from memory; others on this thread have their turn.
    tokio::task::consume_budget().await;
    let (bytes, share) = loading::load(shared, peer, name, terms).await?;
    let is_there = |bytes: &E::Bytes| Record::read(bytes.as_ref()).is_ok_and(|record| !record.is_deleted());
    Ok((bytes.filter(is_there), share))
}

/// The boundaries of the response and of the multiparts in it, which clients cannot know before.
struct Boundary(Vtag);

impl Boundary {
    /// Returns the text of a boundary: number 0 is that of the response, and the number of a step, from 1,
    /// that of its part.
    fn text(&self, number: usize) -> crate::model::VtagText {
        Vtag::of_siblings([self.0, Vtag::from_bits(number as u128)]).text()
    }

    fn media_type(&self, number: usize) -> Vec<u8> {
        [&b"multipart/mixed; boundary="[..], self.text(number).as_bytes()].concat()
    }
}

/// The response while it is written.
struct Writer {
    body: BodyWriter,
    form: Form,
    boundary: Boundary,
    peer: Peer,
}

impl Writer {
    async fn write_all<E: Engine>(
        &mut self,
        shared: &Shared<E>,
        reached: &Reached,
        terms: &ReadTerms,
    ) -> Result<(), Fail> {
        for (number, names) in (1..).zip(&reached.steps) {
            let mut head = Scratch::lend();
            put_boundary(self.boundary.text(0).as_bytes(), b"\r\n", &mut head);
            head.extend_from_slice(b"Content-Type: ");
            head.extend_from_slice(&self.boundary.media_type(number));
            head.extend_from_slice(b"\r\n\r\n");
            self.body.write(&head).await?;
            for name in names {
                let name = object_of(name)?;
                if let (Some(bytes), share) = load(shared, &self.peer, name, terms).await? {
                    let bytes = bytes.as_ref();
                    let written = self.write_object(number, name, bytes);
                    // The names are held meanwhile, too.
                    let has_room = share.has_room() || reached.share.has_room();
                    let bytes = bytes.len() as u64 + reached.names_bytes;
                    shared.budget.paced(has_room, bytes, written).await??;
                }
            }
            self.end(number).await?;
        }
        self.end(0).await
    }

    async fn end(&mut self, number: usize) -> Result<(), Fail> {
        let mut end = Scratch::lend();
        put_boundary(self.boundary.text(number).as_bytes(), b"--\r\n", &mut end);
        Ok(self.body.write(&end).await?)
    }

    /// Writes the first content of an object. Where it has siblings, their vtags are told.
    async fn write_object(
        &mut self,
        number: usize,
        object: ObjectName<'_>,
        bytes: &[u8],
    ) -> Result<(), Fail> {
        let record = Record::read(bytes).map_err(EngineError::from)?;
        let Some(content) = record.contents().find(|content| !content.is_deleted()) else { return Ok(()) };
        let mut head = Scratch::lend();
        put_boundary(self.boundary.text(number).as_bytes(), b"\r\n", &mut head);
        head.extend_from_slice(b"X-Riak-Vclock: ");
        record.context(&mut Scratch::lend()).write_text(&mut head);
        head.extend_from_slice(b"\r\n");
        self.put_location(object, &record, content.vtag(), &mut head);
        put_head(&content, object.bucket, self.form, &mut head);
        self.body.write(&head).await?;
        Ok(self.body.write(content.value()).await?)
    }

    fn put_location(&self, object: ObjectName<'_>, record: &Record<'_>, vtag: Vtag, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.form == Form::Old {
            b"Location: /riak/"
        } else {
            b"Location: /buckets/"
        });
        links::write_name(object.bucket.bucket, out);
        out.extend_from_slice(if self.form == Form::Old { b"/" } else { b"/keys/" });
        links::write_name(object.key, out);
        if record.single().is_none() {
            out.extend_from_slice(b"?vtag=");
            out.extend_from_slice(vtag.text().as_bytes());
            out.extend_from_slice(b"\r\nX-Riak-Sibling-VTags: ");
            for (place, content) in record.contents().enumerate() {
                out.extend_from_slice(if place > 0 { b", " } else { b"" });
                out.extend_from_slice(content.vtag().text().as_bytes());
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_three_parts() {
        for (steps, keeps) in [
            ("b,t,1", Some(&[true][..])),
            ("_,_,_", Some(&[true])),
            ("b,t,0/b,t,0", Some(&[false, true])),
            ("b,t,1//b,t,_/", Some(&[true, true])),
            ("b,t", None),
            ("b,t,2/b,t,1", Some(&[false, true])),
            ("b,t,1,1", None),
            ("", None),
        ] {
            let all = Step::all(segments(steps));
            let all = all.map(|all| all.iter().map(|step| step.keeps).collect::<Vec<_>>());
            assert_eq!(all.as_deref(), keeps, "{steps}");
        }
        let step = Step::of(b"a%2Cb,_,1").expect("a step");
        assert!(step.takes(b"a,b", b"any") && !step.takes(b"a", b"any"));
    }
}
