//! Counters, gauges and histograms. Every label is one of a few words, so that their keys are constants.

use std::{sync::OnceLock, time::Instant};

use metrics::{counter, gauge, histogram};

use super::{event::ExchangeEvent, observer::Observer, words::word_of};
use crate::pool::opening::Outcome;

/// A request under way. It was given up when it is dropped without an end.
pub(crate) struct Request {
    began: Instant,
    outcome: OnceLock<&'static str>,
}

impl Request {
    pub(crate) fn begin() -> Self {
        gauge!("http.client.active_requests").increment(1.0);
        Self { began: Instant::now(), outcome: OnceLock::new() }
    }
}

impl Observer for Request {
    fn event(&self, event: &ExchangeEvent<'_>) {
        let outcome = match event {
            ExchangeEvent::Answered(response) => class(response.status().as_u16()),
            ExchangeEvent::Failed(error) => word_of(error.phase()),
            _ => return,
        };
        // A call ends once.
        let _ = self.outcome.set(outcome);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        gauge!("http.client.active_requests").decrement(1.0);
        count(self.outcome.get().unwrap_or(&"given_up"), self.began.elapsed().as_secs_f64());
    }
}

fn class(status: u16) -> &'static str {
    match status / 100 {
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        5 => "5xx",
        _ => "other",
    }
}

macro_rules! count {
    ($outcome:ident, $seconds:ident: $($word:literal)*) => {
        match $outcome {
            $($word => {
                counter!("http.client.requests", "outcome" => $word).increment(1);
                histogram!("http.client.request.duration", "outcome" => $word).record($seconds);
            })*
            _ => {}
        }
    };
}

fn count(outcome: &str, seconds: f64) {
    count!(outcome, seconds: "2xx" "3xx" "4xx" "5xx" "other" "given_up"
        "build" "queue" "resolve" "connect" "proxy" "handshake" "send" "head" "content");
}

pub(crate) fn opened(outcome: &Outcome) {
    match outcome {
        Ok(_) => {
            counter!("http.client.connections.opened").increment(1);
            gauge!("http.client.open_connections").increment(1.0);
        }
        Err(_) => counter!("http.client.connections.failed").increment(1),
    }
}

pub(crate) fn closed() {
    counter!("http.client.connections.closed").increment(1);
    gauge!("http.client.open_connections").decrement(1.0);
}
