//! Hooks of the serving commands: notes of requests, and fields of answers.

mod access_log;
mod added_fields;
mod lines;
mod log_head;
mod log_line;
mod slow_log;
mod watching;

use alula::{Cors, Handler, Health, RequestId, Route, Router, Routes, Segments, routing};

use self::{access_log::OpenLog, added_fields::AddedFields};
pub(crate) use self::{
    lines::Lines, log_head::LogHead, log_line::LogLine, slow_log::SlowLog, watching::Watching,
};
use crate::{
    args::{ANY, WatchArgs},
    failure::exit::{Exit, Failure, Outcome},
};

/// All fields of requests that pages may send, and of answers that they may read.
const ALL: [&str; 1] = ["*"];

/// Returns a router with the requested hooks, and their notes of requests.
///
/// # Errors
/// The log cannot be opened, or metrics and health are at the same path.
pub(crate) fn router(args: &WatchArgs) -> Result<(Router, Watching), Failure> {
    check_paths(&[("metrics", &args.metrics), ("health", &args.health)])?;
    let watching = Watching::open(args)?;
    // Names of files and what is echoed may have slashes and dots anywhere: the handlers judge them.
    let router = watched(Router::new().segments(Segments::OBJECT_KEYS), args, &watching, String::new)?;
    Ok((router, watching))
}

/// Refuses two flags with the same path.
///
/// # Errors
/// There are two.
pub(crate) fn check_paths(paths: &[(&str, &Option<String>)]) -> Outcome {
    for (at, (flag, path)) in paths.iter().enumerate() {
        let same = paths[at + 1..].iter().find(|(_, other)| path.is_some() && other == path);
        if let Some(((other, _), path)) = same.zip(path.as_ref()) {
            let sentence =
                format!("--{flag} and --{other} are both at {path}: name another path for one of them");
            return Err(Failure::new(Exit::Usage, sentence));
        }
    }
    Ok(())
}

/// Returns a router with the requested hooks and routes; other metrics follow those of the requests.
///
/// # Errors
/// None that is known: the fields of answers were checked when they were read.
pub(crate) fn watched<S: Send + Sync + 'static>(
    mut router: Router<S>,
    args: &WatchArgs,
    watching: &Watching,
    other_metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Router<S>, Failure> {
    if let Some(log) = watching.log() {
        router = router.hook(log);
    }
    if let Some((path, metrics)) = args.metrics.as_ref().zip(watching.metrics()) {
        let handler = routing::get(metrics.handler_with(other_metrics));
        router = router.hook(metrics).route(&**path, handler);
    }
    if let Some(path) = &args.health {
        router = router.route(&**path, routing::get(Health::new().live()));
    }
    if args.request_id {
        router = router.hook(RequestId::new());
    }
    if !args.cors.is_empty() {
        router = router.hook(cors(&args.cors));
    }
    if !args.headers.is_empty() {
        router = router.hook(AddedFields::of(&args.headers, args.header_always)?);
    }
    Ok(router)
}

/// Returns the routes of a router with one handler for all other paths and methods.
///
/// # Errors
/// Metrics and health are at the same path.
pub(crate) fn handled(router: Router, handler: impl Handler + Clone) -> Result<Routes, Failure> {
    let all: Route = routing::any(handler.clone());
    // Targets without a slash, such as `*`, are no paths.
    let routes = router.route("/{*path}", all).fallback(handler).build();
    routes.map_err(|error| Failure::new(Exit::Usage, error))
}

/// Lets pages of these origins read answers without credentials.
fn cors(origins: &[String]) -> Cors {
    let is_any = origins.iter().any(|origin| origin == ANY);
    let cors = if is_any { Cors::any_origin() } else { Cors::origins(origins) };
    cors.methods(ALL).headers(ALL).expose_headers(ALL)
}
