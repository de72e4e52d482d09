//! Queries of secondary indexes (Riak §11).
//!
//! Rule 1: results are in order of their terms and then of their keys, and are sent as they are read.
//! Rule 2: a pattern is applied before results are counted, and a full page always has a continuation.
//! Rule 3: a query that fails has a status of its own as long as none was sent. Afterwards a streamed one
//! ends with a part that says why, and another one breaks off.

pub(super) mod continuation;
pub(super) mod parameters;
mod pattern;
pub(super) mod range;
mod searched;

use alula::{Exchange, KnownName, Reply, Scratch, Status};
use tokio::time::Instant;

use self::continuation::Continuation;
use self::parameters::Parameters;
use self::range::Range;
use super::answer::fail::{Fail, Outcome};
use super::list::pages::Pages;
use super::list::results::{Framing, Results};
use super::list::time;
use super::target::Target;
use super::{
    answer::stand_ins,
    checks::{negotiation, peer, query},
};
use crate::budget::Share;
use crate::engine::{BucketName, Engine, EngineError, Item, Page};
use crate::model::{Vtag, VtagText};
use crate::searches::Searches;
use crate::statistics::Counted;
use crate::store::{Shared, Store};

/// Answers with the keys whose terms are in a range.
pub(super) async fn query<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let target = Target::of(&exchange)?;
    let (range, parameters) = asked(&exchange)?;
    negotiation::check(exchange.request(), media_type(&parameters))?;
    let store = exchange.state();
    if store.shared().properties.of(target.bucket()).is_none() {
        return Err(Fail::unknown_type(target.bucket().bucket_type));
    }
    store.shared().statistics.count(Counted::IndexQuery);
    let deadline = time::deadline(parameters.timeout(), &store.shared().config);
    let peer = peer::of(&exchange, &store);
    let query = Query { bucket: target.bucket(), range, parameters, deadline };
    let mut results = query.results(exchange.respond(Status::OK));
    let mut share = Share::of(&peer);
    match query.put_all(store.shared(), &mut share, &mut results).await {
        Ok(continuation) => {
            let continuation = continuation.as_deref().map(str::as_bytes);
            Ok(results.finish_on(&store.shared().budget, &mut share, continuation).await?)
        }
        Err(Fail::Engine(error)) if query.parameters.is_streamed() && results.is_begun() => {
            fail(results, error).await
        }
        Err(fail) => Err(fail),
    }
}

/// Refuses a path with more than two terms.
pub(super) async fn refuse_more_terms<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::bad_request("Invalid index query. A path has one term, or the least and the greatest one\n"))
}

/// The bytes that a query with a pattern holds while its results are sent: about those of the compiled
/// pattern.
const PATTERN_BYTES: u64 = 256 * 1024;

/// The capacity of a lent buffer for a term as it is shown, which is held while results wait for their peer.
const TERM_BYTES: usize = 1024;

/// A query of a bucket.
struct Query<'a> {
    bucket: BucketName<'a>,
    range: Range,
    parameters: Parameters,
    deadline: Instant,
}

impl Query<'_> {
    fn shows_terms(&self) -> bool {
        self.parameters.returns_terms() && self.range.has_terms_to_show()
    }

    /// Returns results without any yet.
    fn results(&self, reply: Reply) -> Results {
        let name = if self.shows_terms() { "results" } else { "keys" };
        if !self.parameters.is_streamed() {
            let reply = reply.header(KnownName::CONTENT_TYPE, "application/json");
            return Results::new(reply, Framing::Object, name);
        }
        let boundary = boundary();
        let mut media_type = Scratch::lend();
        media_type.extend_from_slice(b"multipart/mixed;boundary=");
        media_type.extend_from_slice(boundary.as_bytes());
        let reply = reply.header(KnownName::CONTENT_TYPE, &*media_type);
        Results::new(reply, Framing::Parts(boundary), name)
    }

    /// Reads and sends the results without ending them; returns the continuation.
    async fn put_all<E: Engine>(
        &self,
        shared: &Shared<E>,
        share: &mut Share,
        results: &mut Results,
    ) -> Result<Option<String>, Fail> {
        let mut pages = self.pages(shared, share).await?;
        let mut left = self.parameters.results_max().unwrap_or(u64::MAX);
        while pages.next().await? {
            let page = pages.page();
            let matches = self.matches(&shared.searches, page).await?;
            if let Some(last) = pages.paced(self.put(page, matches, &mut left, results)).await?? {
                return Ok(Some(Continuation::text(last)));
            }
            // The answer to HEAD has no content to go on with.
            if results.is_muted() {
                break;
            }
        }
        Ok(None)
    }

    async fn pages<'s, E: Engine>(
        &'s self,
        shared: &'s Shared<E>,
        share: &'s mut Share,
    ) -> Result<Pages<'s, E::Snapshot>, Fail> {
        let beside = if self.parameters.pattern().is_some() { PATTERN_BYTES } else { 0 };
        // A pattern may leave out most of a page: more items are read than results are wanted.
        let results_max = self.parameters.results_max().filter(|_| self.parameters.pattern().is_none());
        let selection = self.range.selection(self.bucket);
        let mut pages = Pages::begin(shared, (share, beside), selection, results_max, self.deadline).await?;
        if let Some(last) = self.parameters.continuation() {
            pages.start_after(last.item());
        }
        Ok(pages)
    }

    /// Returns which items of a page the pattern matches; `None` if there is none.
    async fn matches(&self, searches: &Searches, page: &Page) -> Result<Option<Vec<bool>>, EngineError> {
        let Some(pattern) = self.parameters.pattern() else { return Ok(None) };
        searched::matches(searches, pattern, &self.range, page, self.deadline).await.map(Some)
    }

    /// Sends the wanted results of a page, and returns the last one if that completes the answer.
    async fn put<'p>(
        &self,
        page: &'p Page,
        matches: Option<Vec<bool>>,
        left: &mut u64,
        results: &mut Results,
    ) -> Result<Option<Item<'p>>, Fail> {
        let mut term = Scratch::lend_within(TERM_BYTES);
        let is_taken = |place: usize| matches.as_ref().is_none_or(|matches| matches[place]);
        for (_, item) in page.items().enumerate().filter(|(place, _)| is_taken(*place)) {
            match self.shows_terms() {
                true => results.add_pair(self.range.shown(item, &mut term), item.key).await?,
                false => results.add(item.key).await?,
            }
            *left -= 1;
            if *left == 0 {
                return Ok(Some(item));
            }
        }
        results.end_batch().await?;
        Ok(None)
    }
}

fn asked<S>(exchange: &Exchange<S>) -> Result<(Range, Parameters), Fail> {
    let has_high = exchange.route().is_some_and(|route| route.ends_with("{high}"));
    let high = has_high.then(|| exchange.param_bytes("high")).transpose()?;
    let (field, low) = (exchange.param_bytes("field")?, exchange.param_bytes("low")?);
    let (low, high) = (stand_ins::decoded(low), high.map(stand_ins::decoded));
    let range = Range::read(&field, &low, high.as_deref())?;
    let parameters = Parameters::read(query::pairs(exchange.request()))?;
    parameters.check(&range)?;
    Ok((range, parameters))
}

const fn media_type(parameters: &Parameters) -> &'static str {
    if parameters.is_streamed() { "multipart/mixed" } else { "application/json" }
}

/// Returns letters and digits of 128 random bits. Parts are JSON without line breaks, in which no line begins
/// with a boundary; random bits only tell one answer from another, so that none will do as well.
fn boundary() -> VtagText {
    let mut bits = [0; 16];
    let _ = getrandom::fill(&mut bits);
    Vtag::from_bits(u128::from_ne_bytes(bits)).text()
}

/// Ends a streamed answer with a part that says why there are no more results.
async fn fail(results: Results, error: EngineError) -> Outcome {
    match error {
        // The end of the time is told to the client, and is no failure of the store.
        EngineError::TimedOut => Ok(results.fail("timeout").await?),
        error => {
            results.fail(&error.to_string()).await?;
            Err(error.into())
        }
    }
}
