//! The steps of an exchange while it goes on: `-v` and `--trace` show them at once, and `-w` asks for them in
//! the end.

use std::{sync::Arc, time::Duration};

use alula::{ExchangeEvent, Observer, Setback};

use super::{seen::Facts, trace::Trace, verbose::Verbose};
use crate::{failure::sentence, fetch::send::tries};

/// Shows the steps of all exchanges as the flags say.
#[derive(Clone)]
pub(in crate::fetch) struct Watch {
    /// The way in which steps are shown, if they are.
    verbose: Option<Verbose>,
    trace: Option<Arc<Trace>>,
    /// Requests that --retry has sent again are told of.
    tells_retries: bool,
}

/// Observes one exchange.
struct Watched {
    watch: Watch,
    facts: Facts,
}

impl Watch {
    pub(in crate::fetch) const fn new(
        verbose: Option<Verbose>,
        trace: Option<Arc<Trace>>,
        tells_retries: bool,
    ) -> Self {
        Self { verbose, trace, tells_retries }
    }

    /// Returns the observer of an exchange, which keeps its facts there.
    pub(in crate::fetch) fn of(&self, facts: &Facts) -> impl Observer + use<> {
        Watched { watch: self.clone(), facts: facts.clone() }
    }

    /// The trace that is written, if one is.
    pub(in crate::fetch) fn trace(&self) -> Option<Arc<Trace>> {
        self.trace.clone()
    }
}

impl Observer for Watched {
    /// Notes a step, and shows it.
    fn event(&self, event: &ExchangeEvent<'_>) {
        let Watch { verbose, trace, tells_retries } = &self.watch;
        self.facts.note(event);
        if let Some(verbose) = verbose {
            verbose.print(event);
        }
        if let Some(trace) = trace {
            trace.see(event);
        }
        if let ExchangeEvent::Retrying(setback, wait) = event
            && *tells_retries
            && !wait.is_zero()
        {
            tell_retry(&self.facts.asked(), *setback, *wait);
        }
    }
}

/// Says that --retry sends the request of an exchange again.
fn tell_retry(asked: &str, setback: Setback<'_>, wait: Duration) {
    let happened = match setback {
        Setback::Answered(status) => {
            let reason = status.reason().map(|reason| format!(" {reason}"));
            setback.to_string() + &reason.unwrap_or_default()
        }
        Setback::Failed(error) => sentence::of(error),
        other => other.to_string(),
    };
    // Most failures are named after this only.
    let sentence = if happened.starts_with(asked) { happened } else { format!("{asked}: {happened}") };
    tries::tell(&sentence, wait);
}
