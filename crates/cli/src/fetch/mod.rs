//! `alula get` and the other request commands: send a request, and write its response as it comes.
//!
//! The plan is worked out first (`plan`), so that a slip in the arguments costs no connection. Content goes
//! out and comes in at the same time, so a peer that answers while it still reads stalls nothing. Memory
//! holds a window's worth of content, whatever its length, but for JSON that is laid out for the eye.

mod content;
mod output;
mod plan;
pub(crate) mod send;
mod show;
pub(crate) mod tell;
pub(crate) mod tls;
mod write_out;

use std::cell::Cell;
#[cfg(unix)]
use std::path::Path;

use crate::{
    args::{ColorWhen, Options},
    failure::exit::{Failure, Outcome},
    terminal::{self, Painted},
};
pub(crate) use plan::Plan;
use send::exchange::Session;
pub(crate) use write_out::described as variables;

/// Sends the request to each of its targets in turn.
pub(crate) fn run(plan: Result<Plan, Failure>, options: &Options) -> Outcome {
    let is_quiet = options.output.silent && !options.output.show_error;
    #[cfg(unix)]
    let plan = match options.transfer.stderr.as_deref().map(redirect_stderr) {
        Some(Err(failure)) => Err(failure),
        _ => plan,
    };
    colour(options.output.color);
    let outcome = plan.and_then(|plan| run_plan(&plan, options, is_quiet));
    let outcome = outcome.map_err(|failure| failure.with(options.output.exit_codes));
    outcome.map_err(|failure| if is_quiet { failure.hushed() } else { failure })
}

fn run_plan(plan: &Plan, options: &Options, is_quiet: bool) -> Outcome {
    if options.output.print_curl {
        let mut lines = Painted::new(true, false);
        plan.targets.iter().for_each(|target| lines.own(&(plan::curl::line(plan, target, options) + "\n")));
        return output::Output::stdout().show(lines);
    }
    if options.httpie.offline {
        return plan::offline::run(plan, options);
    }
    let session = Session::new(plan, options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
    let outcome = runtime.block_on(async {
        let outcome = all(&session, options, is_quiet).await;
        let outcome = outcome.and(session.keep());
        drop(session);
        let_tasks_run().await;
        outcome
    });
    // Connections that are left write their last bytes with this. A thread that still waits for stdin is not
    // waited for.
    runtime.shutdown_background();
    outcome
}

/// Lets the connections' tasks read and answer received frames, and write their endings. No time passes: what
/// servers have to say to that is not waited for.
async fn let_tasks_run() {
    for _ in 0..2 {
        tokio::task::yield_now().await;
    }
}

/// Fetches all targets, one after the other or several at once. The first failure decides the exit code, but
/// does not keep the others from being tried.
///
/// With --fail-early it does: none is begun after it.
async fn all(session: &Session<'_>, options: &Options, is_quiet: bool) -> Outcome {
    let output = &options.output;
    let at_once = if output.parallel { output.parallel_max.into() } else { 1 };
    let mut outcome = Ok(());
    let is_over = Cell::new(false);
    let exchanges =
        (0..session.targets()).take_while(|_| !is_over.get()).map(|place| session.exchange(place));
    let work = send::together::run(exchanges, at_once, |next| {
        is_over.set(is_over.get() || options.transfer.fail_early && next.is_err());
        // It is said when it happens: the others may take long.
        let next = next.map_err(|failure: Failure| if is_quiet { failure } else { failure.said() });
        if outcome.is_ok() {
            outcome = next;
        }
    });
    session.progress().during(work).await;
    outcome
}

/// Applies `--stderr`: messages go to a file, or to stdout.
#[cfg(unix)]
fn redirect_stderr(path: &Path) -> Outcome {
    terminal::redirect_stderr(path).map_err(|error| Failure::local(path.display(), &error))
}

/// Sets the use of colours for stdout and stderr.
fn colour(when: ColorWhen) {
    match when {
        ColorWhen::Auto => {}
        ColorWhen::Always => anstream::ColorChoice::AlwaysAnsi.write_global(),
        ColorWhen::Never => anstream::ColorChoice::Never.write_global(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock stands still until the runtime has nothing but timers to wait for.
    #[test]
    fn no_time_passes_once_the_exchange_is_over() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().start_paused(true).build().unwrap().block_on(async {
            drop(tokio::spawn(std::future::pending::<()>()));
            let before = tokio::time::Instant::now();
            let_tasks_run().await;
            assert!(before.elapsed().is_zero());
        });
    }
}
