//! Counters of buckets without a type.

use alula::{Answer, Exchange, KnownName, Status};
use tokio::time::Instant;

use super::{Asked, Reader, Shows, carry_out_small, load_state};
use crate::budget::Peer;
use crate::engine::{Engine, EngineError, ObjectName, ReadTerms};
use crate::http::answer::fail::{Fail, Outcome};
use crate::http::answer::json_content::{self, Bounds};
use crate::http::checks::options::Options;
use crate::http::checks::{negotiation, peer};
use crate::http::target::Target;
use crate::model::Record;
use crate::model::types::{Operation, State, Value};
use crate::statistics::Counted;
use crate::store::{Shared, Store};

/// The longest content: a number has 20 bytes, and zeros may lead it.
const CONTENT_BYTES_MAX: u64 = 4 * 1024;

const TEXT: &str = "text/plain";

pub(in crate::http) async fn read<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    // A route for GET answers HEAD as well, which Riak has not for counters.
    if exchange.request().method() == "HEAD" {
        return Err(Fail::Answer(
            Answer::new(Status::METHOD_NOT_ALLOWED).header(KnownName::ALLOW, "GET, POST"),
        ));
    }
    let (target, store) = (Target::of(&exchange)?, exchange.state());
    let options = Options::read(exchange.request())?;
    let bucket = target.bucket();
    let properties =
        store.shared().properties.of(bucket).ok_or_else(|| Fail::unknown_type(bucket.bucket_type))?;
    let terms = options.read_terms(&properties, &store.shared().config)?;
    store.shared().statistics.count(Counted::CounterRead);
    let number = number_in(store.shared(), &peer::of(&exchange, &store), target.object(), &terms).await?;
    negotiation::check(exchange.request(), TEXT)?;
    let reply = exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, TEXT);
    Ok(reply.send(number.to_string()).await?)
}

pub(in crate::http) async fn change<E: Engine>(mut exchange: Exchange<Store<E>>) -> Outcome {
    let (target, store) = (Target::of(&exchange)?, exchange.state());
    let (bucket, config) = (target.bucket(), &store.shared().config);
    let options = Options::read(exchange.request())?;
    let properties =
        store.shared().properties.of(bucket).ok_or_else(|| Fail::unknown_type(bucket.bucket_type))?;
    let (terms, returnvalue) = (options.write_terms(&properties, config)?, options.returnvalue);
    drop(options);
    let time = terms.deadline - Instant::now();
    let bounds = Bounds { bytes_max: CONTENT_BYTES_MAX, times: 1, beside: 0, time };
    let (content, _share) = json_content::read(&mut exchange, bounds).await?;
    let number = parse(&content).ok_or_else(|| {
        Fail::bad_request(
            "Counters are changed by a whole number of 64 bits in decimal digits, with a sign or without\n",
        )
    })?;
    negotiation::check(exchange.request(), TEXT)?;
    if !properties.allow_mult {
        return Err(Fail::text(Status::CONFLICT, "Counters require bucket property 'allow_mult=true'"));
    }
    let asked = Asked { operation: Operation::add(number), context: None };
    let shows = if returnvalue { Shows::Number } else { Shows::Nothing };
    store.shared().statistics.count(Counted::CounterWrite);
    let change = (Reader::untyped_counter(), shows);
    let answered =
        carry_out_small(store.shared(), &peer::of(&exchange, &store), target.object(), change, asked, &terms)
            .await?;
    let status = if returnvalue { Status::OK } else { Status::NO_CONTENT };
    let reply = exchange.respond(status).header(KnownName::CONTENT_TYPE, TEXT);
    Ok(reply.send(answered.content).await?)
}

/// Reads the number of a counter.
async fn number_in<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
) -> Result<i128, Fail> {
    // Others than counters may lie beside it, and what says that it is one may be of any length.
    let (bytes, _share) = load_state(shared, peer, name, terms).await?;
    let record =
        bytes.as_ref().map(|bytes| Record::read(bytes.as_ref())).transpose().map_err(EngineError::from)?;
    let kept = Reader::untyped_counter().read(record).map_err(EngineError::from)?;
    kept.state().map(number_of).ok_or_else(Fail::not_found)
}

/// Parses a content that is a number as a whole.
fn parse(content: &[u8]) -> Option<i64> {
    std::str::from_utf8(content).ok()?.parse().ok()
}

fn number_of(state: &State<'_>) -> i128 {
    match state.value() {
        Value::Counter(counter) => counter.value(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_whole_content() {
        for (content, number) in [
            ("1", 1),
            ("+12", 12),
            ("-3", -3),
            ("007", 7),
            ("-9223372036854775808", i64::MIN),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(parse(content.as_bytes()), Some(number), "{content}");
        }
        for content in
            ["", "+", "-", " 1", "1 ", "1\n", "1.0", "1e3", "--1", "+-1", "0x1", "9223372036854775808", "١"]
        {
            assert_eq!(parse(content.as_bytes()), None, "{content}");
        }
        assert_eq!(parse(b"\xff"), None);
    }
}
