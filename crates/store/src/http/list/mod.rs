//! Lists of keys and of buckets (Riak §10.1, §10.2).
//!
//! Rule 1: a list is read page by page and sent as it is read, so that its length costs no memory.
//! Rule 2: a list whose time has run out ends with `{"error":"timeout"}`. After part of one object was sent,
//! that object stays open, so that no client takes what there is for the whole.

pub(super) mod json;
mod output;
pub(super) mod pages;
pub(super) mod results;
pub(super) mod time;

use std::time::Duration;

use alula::{Error, Exchange, KnownName, Request, Status};
use tokio::time::Instant;

use self::pages::{Pages, Selection};
use self::results::{Framing, Results};
use super::answer::fail::{Fail, Outcome};
use super::checks::{negotiation, peer, query};
use super::target::Target;
use crate::budget::Share;
use crate::engine::{Engine, EngineError, Page};
use crate::statistics::Counted;
use crate::store::{Shared, Store};

/// The time that a list has unless its request names another.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The things that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    Keys,
    Buckets,
}

/// A list as a request asks for it.
#[derive(Debug)]
pub(super) struct Asked {
    listed: Listed,
    /// The form, if the list itself is asked for.
    form: Option<Form>,
    timeout: Duration,
}

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A single JSON object.
    Whole,
    /// A run of JSON objects.
    Streamed,
}

/// The part of an answer that comes before the keys, on the paths of older clients.
#[derive(Debug)]
pub(super) enum Before {
    /// The properties are no part of the answer.
    Nothing,
    /// An empty object before a streamed list.
    EmptyObject,
    /// Properties in JSON.
    Properties(Vec<u8>),
}

/// Lists the keys of a bucket.
pub(super) async fn list_keys<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let asked = Asked::read(exchange.request(), Listed::Keys)?;
    let target = asked.target(&exchange)?;
    match asked.form {
        Some(form) => send(exchange, &target, &asked, form, Before::Nothing).await,
        None => Ok(json(exchange, "{}").await?),
    }
}

/// Lists the buckets of a type that hold a key.
pub(super) async fn list_buckets<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let asked = Asked::read(exchange.request(), Listed::Buckets)?;
    let target = asked.target(&exchange)?;
    match asked.form {
        Some(form) => send(exchange, &target, &asked, form, Before::Nothing).await,
        None => Ok(json(exchange, r#"{"buckets":[]}"#).await?),
    }
}

impl Asked {
    /// Reads the query of a request.
    ///
    /// # Errors
    /// 400 if the timeout is no number.
    pub(super) fn read(request: &Request, listed: Listed) -> Result<Self, Fail> {
        let timeout = time::timeout(request)?.unwrap_or(TIMEOUT);
        let form = query::value(request, listed.name()).and_then(|value| Form::of(&value));
        Ok(Self { listed, form, timeout })
    }

    /// Returns the form, if the list itself is asked for.
    pub(super) const fn form(&self) -> Option<Form> {
        self.form
    }

    /// Returns the bucket or the type, after the checks that come before any read.
    ///
    /// # Errors
    /// 403 if lists are not answered, 406, or 404 if there is no such type.
    pub(super) fn target<E: Engine>(&self, exchange: &Exchange<Store<E>>) -> Result<Target, Fail> {
        let target = Target::of(exchange)?;
        let store = exchange.state();
        if let Some(form) = self.form.filter(|_| !store.shared().config.lists) {
            return Err(disabled(self.listed.operation(form)));
        }
        negotiation::check(exchange.request(), "application/json")?;
        match store.shared().properties.of(target.bucket()) {
            Some(_) => Ok(target),
            None => Err(Fail::unknown_type(target.bucket().bucket_type)),
        }
    }
}

impl Listed {
    /// Returns the name of the parameter, and of the array in the answer.
    const fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Buckets => "buckets",
        }
    }

    /// Returns Riak's name for the operation.
    const fn operation(self, form: Form) -> &'static str {
        match (self, form) {
            (Self::Keys, Form::Whole) => "list_keys",
            (Self::Keys, Form::Streamed) => "stream_list_keys",
            (Self::Buckets, Form::Whole) => "list_buckets",
            (Self::Buckets, Form::Streamed) => "stream_list_buckets",
        }
    }
}

impl Form {
    fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"true" => Some(Self::Whole),
            b"stream" => Some(Self::Streamed),
            _ => None,
        }
    }
}

/// Refuses an operation that the configuration rules out (Riak §10.3).
fn disabled(operation: &str) -> Fail {
    Fail::text(Status::FORBIDDEN, format!("Operation '{{riak_kv,{operation}}}' is not enabled"))
}

async fn json<S>(exchange: Exchange<S>, text: &'static str) -> Result<alula::Sent, alula::Error> {
    exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, "application/json").send(text).await
}

/// Sends a list.
pub(super) async fn send<E: Engine>(
    exchange: Exchange<Store<E>>,
    target: &Target,
    asked: &Asked,
    form: Form,
    before: Before,
) -> Outcome {
    let store = exchange.state();
    let deadline = time::deadline(asked.timeout, &store.shared().config);
    let peer = peer::of(&exchange, &store);
    let reply = exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, "application/json");
    let framing = match form {
        Form::Whole => Framing::Object,
        Form::Streamed => Framing::Objects,
    };
    let mut results = Results::new(reply, framing, asked.listed.name());
    store.shared().statistics.count(Counted::List);
    let selection = match asked.listed {
        Listed::Keys => Selection::Keys { bucket: target.bucket(), low: b"", high: None },
        Listed::Buckets => Selection::Buckets(target.bucket().bucket_type),
    };
    let mut share = Share::of(&peer);
    match put_all(store.shared(), (selection, &mut share), deadline, before, &mut results).await {
        Ok(()) => Ok(results.finish_on(&store.shared().budget, &mut share, None).await?),
        Err(Fail::Engine(error)) => fail(results, error).await,
        Err(fail) => Err(fail),
    }
}

/// Reads and sends the whole selection without ending the answer.
async fn put_all<E: Engine>(
    shared: &Shared<E>,
    (selection, share): (Selection<'_>, &mut Share),
    deadline: Instant,
    before: Before,
    results: &mut Results,
) -> Result<(), Fail> {
    let mut pages = Pages::begin(shared, (share, 0), selection, None, deadline).await?;
    let mut has_page = pages.next().await?;
    match before {
        Before::Nothing => {}
        Before::EmptyObject => results.put_properties(None).await?,
        Before::Properties(properties) => results.put_properties(Some(&properties)).await?,
    }
    while has_page {
        pages.paced(put(pages.page(), results)).await??;
        has_page = !results.is_muted() && pages.next().await?;
    }
    Ok(())
}

/// Sends the items of a page.
async fn put(page: &Page, results: &mut Results) -> Result<(), Error> {
    for item in page.items() {
        results.add(item.key).await?;
    }
    results.end_batch().await
}

/// Ends a list that could not be read on. That its time has run out is part of an answer of 200; another
/// failure has a status of its own as long as none was sent.
async fn fail(results: Results, error: EngineError) -> Outcome {
    match error {
        EngineError::TimedOut => Ok(results.fail("timeout").await?),
        error if results.is_begun() => {
            results.fail(&error.to_string()).await?;
            Err(error.into())
        }
        error => Err(error.into()),
    }
}
