//! Hooks of the servers among the commands: what they note of their requests and say in all of their answers.

mod access_log;
mod added_fields;
mod lines;
mod log_head;
mod log_line;
mod slow_log;

use alula::{Cors, Handler, Health, Metrics, RequestId, Route, Router, Routes, Segments, routing};

use self::added_fields::AddedFields;
pub(crate) use self::{
    access_log::OpenLog, lines::Lines, log_head::LogHead, log_line::LogLine, slow_log::SlowLog,
};
use crate::{
    args::{ANY, WatchArgs},
    exit::{Exit, Failure},
};

/// Fields of requests beside the safelisted that a page may send, and of answers that it may read: all of them.
const ALL: [&str; 1] = ["*"];

/// Returns a router with the hooks that were asked for, and the log that one of them writes.
///
/// # Errors
/// The log cannot be opened.
pub(crate) fn router(args: &WatchArgs) -> Result<(Router, Option<OpenLog>), Failure> {
    let log = open_log(args)?;
    // Names of files and what is echoed may have slashes and dots anywhere: the handlers judge them.
    let router = watched(Router::new().segments(Segments::OBJECT_KEYS), args, log.as_ref(), String::new)?;
    Ok((router, log))
}

/// Opens the access log that was asked for.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open_log(args: &WatchArgs) -> Result<Option<OpenLog>, Failure> {
    let open = |file: &Option<_>| OpenLog::open(file.as_deref(), args.access_log_format);
    args.access_log.as_ref().map(open).transpose()
}

/// Returns a router with the hooks and routes that were asked for, and the text of other metrics behind those of the requests.
///
/// # Errors
/// None that is known: the fields of answers were checked when they were read.
pub(crate) fn watched<S: Send + Sync + 'static>(
    mut router: Router<S>,
    args: &WatchArgs,
    log: Option<&OpenLog>,
    other_metrics: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Router<S>, Failure> {
    if let Some(log) = log {
        router = router.hook(log.hook());
    }
    if let Some(path) = &args.metrics {
        let metrics = Metrics::new();
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

/// Returns the routes of a router with one handler for all paths that have none, and for all methods.
///
/// # Errors
/// Metrics and health are at the same path.
pub(crate) fn handled(router: Router, handler: impl Handler + Clone) -> Result<Routes, Failure> {
    let all: Route = routing::any(handler.clone());
    // Targets without a slash, such as `*`, are no paths.
    let routes = router.route("/{*path}", all).fallback(handler).build();
    routes.map_err(|error| Failure::new(Exit::Usage, error))
}

/// Lets pages of these origins read what can be read without credentials.
fn cors(origins: &[String]) -> Cors {
    let is_any = origins.iter().any(|origin| origin == ANY);
    let cors = if is_any { Cors::any_origin() } else { Cors::origins(origins) };
    cors.methods(ALL).headers(ALL).expose_headers(ALL)
}
