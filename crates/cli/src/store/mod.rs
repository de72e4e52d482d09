//! `alula store`: objects over HTTP, kept on disk or in memory.
//!
//! The store is opened on a thread of its own, once its address is ours; requests are told meanwhile that it
//! starts (`starting.rs`). It outlives the runtime: when all tasks are gone, it is dropped last, so that its
//! engine closes its files.

mod engine;
mod hash_password;
mod hint;
mod machine;
mod paths;
mod starting;
mod users;

use std::{panic::resume_unwind, time::Duration};

use alula::{Answer, Exchange, KnownName, Limits, OriginGuard, Routes, Sent, Status, routing};
use alula_store::{
    Config, OpenError, Referers, Store,
    engine::{Engine, EngineMetrics, Measured},
};
use anstyle::Style;
use serde_json::{Map, Value};

use crate::{
    args::{ANY, BucketType, StoreArgs},
    failure::exit::{Exit, Failure, Outcome},
    hooks::{self, Lines, SlowLog, Watching},
    listening::{self, Bound, ListenOptions, Service},
    terminal,
};
use engine::StoreLocation;
use users::OpenUsers;

/// The time that unfinished tasks may take at the end.
const END_MAX: Duration = Duration::from_secs(10);

/// The bytes beyond the longest object that are read and dropped after an early answer.
const UNWANTED_MORE: u64 = 16 * 1024 * 1024;

/// Serves until it is stopped.
pub(crate) fn run(args: &StoreArgs) -> Outcome {
    if args.access.hash_password {
        return hash_password::run();
    }
    paths::check(args)?;
    match engine::place(args)? {
        StoreLocation::Memory => {
            let memory = engine::memory(args);
            serve(args, || Ok(Opened { engine: memory, is_new: true }))
        }
        StoreLocation::Folder(folder) => {
            let (folder, queued) = (folder.to_path_buf(), bytes_queued(args));
            serve(args, move || {
                let is_new = engine::make(&folder)?;
                Ok(Opened { engine: engine::open(&folder, queued)?, is_new })
            })
        }
    }
}

/// Returns the bytes of writes in the queue of an engine: all that requests may hold, and small contents
/// beside them. Whose turn it is was decided when they got their room, and is not decided again in the queue.
fn bytes_queued(args: &StoreArgs) -> usize {
    usize::try_from(args.memory.get().saturating_add(args.memory.get() / 2)).unwrap_or(usize::MAX)
}

/// An engine, with a flag for an empty one.
struct Opened<E> {
    engine: E,
    is_new: bool,
}

/// Serves the objects of an engine. For an empty one, commands to try are printed.
fn serve<E: Engine>(
    args: &StoreArgs,
    open: impl FnOnce() -> Result<Opened<E>, Failure> + Send + 'static,
) -> Outcome {
    let watching = Watching::open(&args.watch)?;
    // The writer goes last, when every request has been written down.
    let (lines, _writer) = args.slow_log.map(|_| Lines::to_stderr()).unzip();
    let users = users::open(args)?;
    let client_ca = args.access.client_ca.as_deref();
    let terms = ListenOptions {
        limits: limits(args),
        end_max: END_MAX,
        client_ca,
        ..ListenOptions::usual(&watching)
    };
    let mut config = config(args);
    config.access = users.as_ref().map(OpenUsers::access);
    let has_users = users.is_some();
    let guard = |bound: &Bound| {
        let is_judged = args.hosts.are_judged(!has_users, bound.address.ip());
        if is_judged { args.hosts.added_to(page_guard(args)) } else { page_guard(args) }
    };
    let starting = |bound: &Bound| starting::starting(&config, guard(bound), args, &watching).map(Some);
    let mut opened = None;
    let service = async |bound: Bound| {
        users.map(OpenUsers::watch).transpose().map_err(|error| Failure::local("signals", &error))?;
        let Opened { engine, is_new } = on_a_thread(open).await?;
        let store = Store::open(measured(engine, args), config.clone()).await;
        let store = opened.insert(store.map_err(|error| not_opened(args, &error))?);
        let routes = routes(store, guard(&bound), args, &watching, lines)?;
        // They are for a store that lets everybody in.
        let has_hint = is_new && !has_users;
        let hint = if has_hint { hint::hint(&args.listen, bound.address) } else { String::new() };
        Ok(Service { routes, hint })
    };
    let outcome = listening::run_starting(&args.listen, terms, starting, service);
    // The runtime has ended: no task has the store any more, and its engine can close its files.
    drop(opened);
    outcome
}

/// Runs blocking work, while the server answers.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// Returns the limits of a store, which reads more than the longest object after an early answer.
fn limits(args: &StoreArgs) -> Limits {
    let mut limits = alula_store::limits();
    let unwanted = u32::try_from(args.object_max.get().saturating_add(UNWANTED_MORE)).unwrap_or(u32::MAX);
    limits.drain_bytes = limits.drain_bytes.max(unwanted);
    limits.linger_bytes = limits.linger_bytes.max(unwanted);
    limits
}

/// Returns the engine, which is measured if metrics are on.
fn measured<E: Engine>(engine: E, args: &StoreArgs) -> Measured<E> {
    match args.watch.metrics {
        Some(_) => Measured::on(engine),
        None => Measured::off(engine),
    }
}

fn config(args: &StoreArgs) -> Config {
    let mut config = Config::default();
    config.types = types(&args.types);
    config.object_bytes_max = args.object_max.get();
    config.siblings_max = args.siblings_max.into();
    config.bytes_in_flight_max = args.memory.get();
    config.timeout_max = args.timeout_max;
    config.reap_after = args.reap_after.0;
    config.durability = args.durability.into();
    config.lists = !args.no_lists;
    config.sandbox = !args.no_sandbox;
    config.ignore_hooks = args.ignore_hooks;
    config.warn = Some(warn);
    config.referers = match &args.watch.cors {
        origins if args.no_referer_check || origins.iter().any(|origin| origin == ANY) => Referers::Any,
        origins if origins.is_empty() => Referers::Own,
        origins => Referers::OwnAnd(origins.clone()),
    };
    config
}

fn warn(sentence: &str) {
    terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes());
}

/// Returns the guard of hosts, and of pages that write while the store itself accepts all origins: `--cors`
/// without a name is for pages that read.
fn page_guard(args: &StoreArgs) -> OriginGuard {
    let is_of_store = args.no_referer_check || !args.watch.cors.iter().any(|origin| origin == ANY);
    if is_of_store {
        return OriginGuard::of_hosts();
    }
    let named = args.watch.cors.iter().filter(|origin| *origin != ANY);
    named.fold(OriginGuard::new(), OriginGuard::trust)
}

/// Returns the types by name. Of several of one name, such as one of the file and one of the command line,
/// the last counts.
fn types(made: &[BucketType]) -> Vec<(String, Map<String, Value>)> {
    let is_last = |at: usize| made[at + 1..].iter().all(|later| later.name != made[at].name);
    let last = made.iter().enumerate().filter(|(at, _)| is_last(*at));
    last.map(|(_, made)| (made.name.clone(), made.properties.clone())).collect()
}

fn not_opened(args: &StoreArgs, error: &OpenError) -> Failure {
    match error {
        OpenError::Type(error) => Failure::new(Exit::Usage, error),
        error => engine::not_opened(args.data.as_deref(), error),
    }
}

/// Returns the routes of the store, with the requested hooks and routes.
fn routes<E: Engine>(
    store: &Store<Measured<E>>,
    guard: OriginGuard,
    args: &StoreArgs,
    watching: &Watching,
    lines: Option<Lines>,
) -> Result<Routes, Failure> {
    let engine = store.engine().metrics().cloned();
    let engine = move || engine.as_ref().map(EngineMetrics::text).unwrap_or_default();
    let mut router = hooks::watched(store.router().hook(guard), &args.watch, watching, engine)?;
    if let Some((lines, at_least)) = lines.zip(args.slow_log) {
        router = router.hook(SlowLog::new(lines, at_least));
    }
    if let Some(path) = &args.ready {
        router = router.route(&**path, routing::get(ready::<Measured<E>>));
    }
    router.build().map_err(|error| Failure::new(Exit::Usage, error))
}

/// Answers probes by whether reads and writes are taken.
async fn ready<E: Engine>(exchange: Exchange<Store<E>>) -> Result<Sent, Answer> {
    let (status, text) = match exchange.state().is_ready() {
        true => (Status::OK, "ok\n"),
        false => (Status::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    Ok(exchange.respond(status).header(KnownName::CACHE_CONTROL, "no-store").text(text).await?)
}
