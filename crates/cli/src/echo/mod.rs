//! `alula echo`: a debugging server. Its answers cost no allocation once it is warm: contents, descriptions
//! and whatever is copied on the way lie in buffers that are lent and given back.

mod describe;
mod paths;
mod scratch;
mod terms;

use std::{fmt, io::Write as _, sync::Arc};

use alula::{Error, Exchange, KnownName, Ledger, Method, Router, Routes, Sent, Status};

use crate::{
    args::EchoArgs,
    failure::exit::{Failure, Outcome},
    hooks::{self, Lines, LogHead, LogLine},
    listening::{self, Bound, ListenOptions, Service},
};
use scratch::{Pool, Scratch};
use terms::{RETRY_AFTER, Terms};

/// The methods of every target (RFC 9110 §10.2.1). CONNECT is left out, and so is TRACE, which would show
/// credentials.
const ALLOW: &str = "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS";

/// Serves until it is told to stop.
pub(crate) fn run(args: &EchoArgs) -> Outcome {
    let (mut router, mut watching) = hooks::router(&args.watch)?;
    // The writer goes last, when every request has been written down.
    let (lines, _writer) = args.log.then(Lines::to_stderr).unzip();
    if let Some(lines) = lines {
        watching.tell_in(&lines);
        router = router.hook(LogHead(lines.clone())).hook(LogLine(lines));
    }
    // `printf … | nc -N` sees every answer, also one that takes a while.
    let terms = ListenOptions { half_close: true, ..ListenOptions::usual(&watching) };
    listening::run(&args.listen, terms, async |bound: Bound| {
        Ok(Service { routes: routes(router, args, bound.ledger)?, hint: String::new() })
    })
}

/// The routes: paths with an answer of their own, and the echo for all others.
fn routes(mut router: Router, args: &EchoArgs, ledger: Arc<Ledger>) -> Result<Routes, Failure> {
    let terms = Terms::of(args);
    if !args.no_paths {
        router = paths::add(router, terms, args.max_body);
    }
    let echo = Echo { pool: Arc::new(Pool::default()), body_max: args.max_body, ledger, terms };
    hooks::handled(router, move |exchange| echo.clone().answer(exchange))
}

/// The handler of requests; clones share the buffers.
#[derive(Clone)]
struct Echo {
    pool: Arc<Pool>,
    body_max: usize,
    ledger: Arc<Ledger>,
    terms: Terms,
}

/// The way in which reading the content of a request ended.
enum Read {
    Whole,
    /// It is more than is taken; not all of it was read.
    TooMuch,
    /// The memory for it is used up now; not all of it was read.
    NoRoom,
}

impl Echo {
    async fn answer(self, exchange: Exchange) -> Result<Sent, Error> {
        let mut scratch = self.pool.lend();
        let sent = self.answer_with(exchange, &mut scratch).await;
        self.pool.give(scratch);
        sent
    }

    async fn answer_with(&self, mut exchange: Exchange, scratch: &mut Scratch) -> Result<Sent, Error> {
        match refusal(&exchange) {
            Some(Status::METHOD_NOT_ALLOWED) => {
                let reply = exchange.respond(Status::METHOD_NOT_ALLOWED).header(KnownName::ALLOW, ALLOW);
                return reply.send(&[]).await;
            }
            Some(status) => return exchange.respond(status).send(&[]).await,
            None => {}
        }
        match self.read(&mut exchange, scratch).await? {
            Read::Whole => {}
            Read::TooMuch => return self.refuse_content(exchange, scratch).await,
            Read::NoRoom => {
                let reply = exchange.respond(Status::SERVICE_UNAVAILABLE);
                return reply.header(KnownName::RETRY_AFTER, RETRY_AFTER).send(&[]).await;
            }
        }
        self.terms.wait().await;
        if scratch.content.is_empty() {
            self.describe(exchange, scratch).await
        } else {
            self.send_back(exchange, scratch).await
        }
    }

    async fn send_back(&self, exchange: Exchange, scratch: &mut Scratch) -> Result<Sent, Error> {
        let content_type = exchange.request().headers().get(KnownName::CONTENT_TYPE);
        scratch.content_type.extend_from_slice(content_type.unwrap_or(b"application/octet-stream"));
        let reply = self.terms.respond(exchange, Status::OK);
        let reply = reply.header(KnownName::CONTENT_TYPE, &scratch.content_type);
        self.terms.send(reply, &scratch.content).await
    }

    async fn describe(&self, exchange: Exchange, scratch: &mut Scratch) -> Result<Sent, Error> {
        describe::describe(exchange.request(), exchange.peer(), &mut scratch.content);
        let is_options = exchange.request().method() == "OPTIONS";
        let mut reply = self.terms.respond(exchange, Status::OK);
        reply = reply.header(KnownName::CONTENT_TYPE, "application/json");
        if is_options {
            reply = reply.header(KnownName::ALLOW, ALLOW);
        }
        self.terms.send(reply, &scratch.content).await
    }

    /// Reads the content to its end, if it is not more than is taken and there is memory for it.
    async fn read(&self, exchange: &mut Exchange, scratch: &mut Scratch) -> Result<Read, Error> {
        // Refused before anything is read: a client with `expect: 100-continue` sends nothing then.
        if stated_length(exchange).is_some_and(|length| length > self.body_max as u64) {
            return Ok(Read::TooMuch);
        }
        let body = exchange.body();
        while let Some(chunk) = body.chunk().await? {
            if scratch.content.len() + chunk.len() > self.body_max {
                return Ok(Read::TooMuch);
            }
            if !scratch.append(chunk, self.body_max, &self.ledger) {
                return Ok(Read::NoRoom);
            }
        }
        Ok(Read::Whole)
    }

    async fn refuse_content(&self, exchange: Exchange, scratch: &mut Scratch) -> Result<Sent, Error> {
        scratch.content.clear();
        write(
            &mut scratch.content,
            format_args!("more than {} bytes of content; see --max-body\n", self.body_max),
        );
        let reply = exchange.respond(Status::CONTENT_TOO_LARGE).header(KnownName::CONTENT_TYPE, "text/plain");
        reply.send(&scratch.content).await
    }
}

/// The status of a request that has no answer here.
fn refusal(exchange: &Exchange) -> Option<Status> {
    let request = exchange.request();
    match Method::parse(request.method()) {
        Ok(Method::Connect | Method::Trace) => Some(Status::METHOD_NOT_ALLOWED),
        Ok(Method::Options) => None,
        // Only OPTIONS is about the server as a whole (RFC 9110 §7.1).
        _ => (request.path() == "*").then_some(Status::BAD_REQUEST),
    }
}

fn stated_length(exchange: &Exchange) -> Option<u64> {
    let digits = exchange.request().headers().get(KnownName::CONTENT_LENGTH)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends text; a `Vec` takes all there is.
fn write(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests;
