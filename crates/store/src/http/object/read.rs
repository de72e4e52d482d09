//! GET and HEAD of an object.

use alula::{Exchange, KnownName, Request, Scratch, Status};

use super::one::{self, DELETED};
use super::shown::{Shown, charge_fields};
use super::siblings;
use crate::engine::{Engine, EngineError, ReadTerms};
use crate::http::answer::fail::{Fail, Outcome};
use crate::http::answer::sending::Paced;
use crate::http::checks::conditions::{Conditions, Present};
use crate::http::checks::options::Options;
use crate::http::checks::peer;
use crate::http::datatype;
use crate::http::target::Target;
use crate::model::{Content, Context, Record, Vtag};
use crate::store::{Shared, Store};

/// Answers with the stored bytes, with all siblings, or with the one of `vtag`. Allocates nothing once warm
/// but what the engine does.
pub(in crate::http) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let state = exchange.state();
    let shared = state.shared();
    let target = Target::of(&exchange)?;
    let Asked { terms, vtag, conditions } = Asked::of(exchange.request(), &target, shared)?;
    let peer = peer::of(&exchange, &state);
    let (stored, mut share) = datatype::load_object(shared, &peer, target.object(), &terms).await?;
    let record = stored.as_ref().map(|bytes| Record::read(bytes.as_ref())).transpose();
    match record.map_err(EngineError::from)? {
        Some(record) if !record.is_deleted() => {
            let shown = Shown::of(record, vtag).ok_or(Fail::Page(Status::NOT_FOUND))?;
            let form = shown.negotiated(exchange.request().headers())?;
            let tag = shown.vtag().text();
            let present = Present { tag: tag.as_bytes(), modified: shown.modified() };
            if let Err(status) = conditions.check_read(present) {
                return unchanged(exchange, status, tag.as_bytes()).await;
            }
            // An object that keeps a data type shows its value.
            let value = datatype::json_of_value(record).and_then(|value| Some((value, first_kept(record)?)));
            if let Some((value, content)) = value {
                let reply = one::described(exchange.respond(Status::OK), &target, &record, &content)?;
                // The record goes before the answer is sent, which may take long.
                drop(stored);
                share.shrink(value.capacity() as u64);
                return Paced { budget: &shared.budget, share: &share }.send_parts(reply, &[&value]).await;
            }
            let bytes = stored.as_ref().map_or(0, |bytes| bytes.as_ref().len() as u64);
            charge_fields(&shared.budget, &mut share, bytes, &record)?;
            let paced = Paced { budget: &shared.budget, share: &share };
            match shown {
                Shown::One(content) => {
                    one::send(exchange.respond(Status::OK), &target, &record, &content, paced).await
                }
                Shown::Siblings(_) => {
                    let reply = exchange.respond(Status::MULTIPLE_CHOICES);
                    siblings::send(reply, &target, &record, form, shared.secret, paced).await
                }
            }
        }
        Some(deleted) => missing(exchange, Some(deleted.context(&mut Scratch::lend()))).await,
        None => missing(exchange, None).await,
    }
}

fn first_kept(record: Record<'_>) -> Option<Content<'_>> {
    record.contents().find(|content| !content.is_deleted())
}

/// The read that a request asks for.
struct Asked {
    terms: ReadTerms,
    /// The vtag of the query; `Some(None)` is one that no content has.
    vtag: Option<Option<Vtag>>,
    conditions: Conditions,
}

impl Asked {
    fn of<E: Engine>(request: &Request, target: &Target, shared: &Shared<E>) -> Result<Self, Fail> {
        let options = Options::read(request)?;
        let properties = target.properties(&shared.properties)?;
        Ok(Self {
            terms: options.read_terms(&properties, &shared.config)?,
            vtag: options.vtag.as_deref().map(Vtag::parse),
            conditions: Conditions::of_read(request.headers()),
        })
    }
}

/// Answers 404. The answer for a deleted object has its context, so that a write can replace the mark of the
/// deletion.
pub(super) async fn missing<S>(exchange: Exchange<S>, deleted: Option<Context<'_>>) -> Outcome {
    let mut reply = exchange.respond(Status::NOT_FOUND).header(KnownName::CONTENT_TYPE, "text/plain");
    if let Some(context) = deleted {
        reply = reply.header(DELETED, "true");
        one::put_context(reply.headers_mut(), context).map_err(Fail::from)?;
    }
    Ok(reply.send("not found\n").await?)
}

/// Answers 304 with the tag, or 412.
async fn unchanged<S>(exchange: Exchange<S>, status: Status, tag: &[u8]) -> Outcome {
    if status != Status::NOT_MODIFIED {
        return Err(Fail::Page(status));
    }
    let mut reply = exchange.respond(status);
    let mut text = Scratch::lend();
    one::put_tag(reply.headers_mut(), tag, &mut text).map_err(Fail::from)?;
    Ok(reply.send("").await?)
}
