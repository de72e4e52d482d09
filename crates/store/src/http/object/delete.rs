//! DELETE of an object: a mark of deletion replaces its contents, and is removed some time later.

use alula::{Exchange, KnownName, Request, Scratch, Status};

use super::put::{Refusal, rules};
use super::read::missing;
use crate::engine::{Decide, Engine, Mark, Verdict, WriteTerms};
use crate::http::answer::fail::{Fail, Outcome};
use crate::http::checks::conditions::Conditions;
use crate::http::checks::options::Options;
use crate::http::object::vclock::{self, VCLOCK};
use crate::http::target::Target;
use crate::model::{self, Context, NewContent, Record, Rules};
use crate::store::{Shared, Store};

/// Marks as deleted what the client's context covers, or everything without a context.
pub(in crate::http) async fn delete<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let state = exchange.state();
    let shared = state.shared();
    let target = Target::of(&exchange)?;
    let (delete, terms) = Delete::of(exchange.request(), &target, shared)?;
    let written = shared.engine.write(target.object(), delete, &terms).await?;
    match written.decide.outcome {
        Outcomes::Deleted => {
            shared.reaper.wake();
            let reply = exchange.respond(Status::NO_CONTENT).header(KnownName::CONTENT_TYPE, "text/html");
            Ok(reply.send("").await?)
        }
        Outcomes::Missing(context) => {
            let context = context.as_deref().and_then(|bytes| Context::read(bytes).ok());
            missing(exchange, context).await
        }
        Outcomes::Refused(refusal) => Err(refusal.into()),
    }
}

/// The write of a deletion.
struct Delete {
    /// The context of the client, if it sent one.
    context: Option<Scratch>,
    conditions: Conditions,
    rules: Rules,
    /// True if the object is removed at once, provided that no content is left.
    is_removed_at_once: bool,
    outcome: Outcomes,
}

/// The outcome of a deletion.
enum Outcomes {
    Deleted,
    /// The object was missing, and the client sent no context; with the context of the last deletion, if it
    /// is known.
    Missing(Option<Scratch>),
    Refused(Refusal),
}

impl Delete {
    fn of<E: Engine>(
        request: &Request,
        target: &Target,
        shared: &Shared<E>,
    ) -> Result<(Self, WriteTerms), Fail> {
        let options = Options::read(request)?;
        let conditions = Conditions::of_write(request.headers())?;
        let context = vclock::read(request.headers(), VCLOCK)?;
        let properties = target.properties(&shared.properties)?;
        let terms = options.delete_terms(&properties, &shared.config)?;
        let delete = Self {
            context,
            conditions,
            rules: rules(&properties, shared),
            is_removed_at_once: shared.config.reap_after.is_some_and(|after| after.is_zero()),
            outcome: Outcomes::Deleted,
        };
        Ok((delete, terms))
    }
}

impl Decide for Delete {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        if let Err(status) = self.conditions.check_write(stored.as_ref()) {
            self.outcome = Outcomes::Refused(Refusal::Condition(status));
            return Verdict::Keep;
        }
        let mut whole = Scratch::lend();
        let context = match (&self.context, stored) {
            (Some(context), _) => Context::read(context).unwrap_or(Context::EMPTY),
            // Without a context the client deletes all that is there at this moment.
            (None, Some(record)) if !record.is_deleted() => record.context(&mut whole),
            (None, deleted) => {
                let context = deleted.map(|record| {
                    record.context(&mut whole);
                    whole
                });
                self.outcome = Outcomes::Missing(context);
                return Verdict::Keep;
            }
        };
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: true,
            attributes: b"",
            value: b"",
        };
        if let Err(refused) = model::write(stored, context, &new, &self.rules, out) {
            self.outcome = Outcomes::Refused(Refusal::Model(refused));
            return Verdict::Keep;
        }
        self.outcome = Outcomes::Deleted;
        let is_deleted = Record::read(out).is_ok_and(|record| record.is_deleted());
        // Siblings that the client was not given stay, and the object with them.
        if self.is_removed_at_once && is_deleted { Verdict::Remove } else { Verdict::Write }
    }
}
