//! The resources about the store as a whole: `/`, `/ping`, `/stats`, and `/mapred`, which it does not do.

use alula::{Exchange, KnownName, Request, Status};
use serde_json::{Map, Value, json};

use super::answer::fail::{Fail, Outcome};
use super::checks::negotiation::{self, IDENTITY};
use crate::engine::Engine;
use crate::statistics::{Counted, Operation, Statistics};
use crate::store::Store;

/// The release of Riak whose API this is: clients tell by it what they may ask for.
const RIAK_VERSION: &str = "3.0.16";

/// The name of the store in its ring, of which it is the only member.
const NODE_NAME: &str = "alula@127.0.0.1";

/// The names by which clients find resources, and the beginnings of their paths.
const RESOURCES: [(&str, &str); 12] = [
    ("riak_kv_wm_buckets", "/buckets"),
    ("riak_kv_wm_bucket_type", "/types"),
    ("riak_kv_wm_object", "/buckets"),
    ("riak_kv_wm_props", "/buckets"),
    ("riak_kv_wm_keylist", "/buckets"),
    ("riak_kv_wm_index", "/buckets"),
    ("riak_kv_wm_counter", "/buckets"),
    ("riak_kv_wm_crdt", "/types"),
    ("riak_kv_wm_link_walker", "/buckets"),
    ("riak_kv_wm_mapred", "/mapred"),
    ("riak_kv_wm_ping", "/ping"),
    ("riak_kv_wm_stats", "/stats"),
];

const HTML: &str = "text/html";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

const MAP_REDUCE_USAGE: &str = "MapReduce takes POST: a JSON object with \"inputs\" and \"query\".\n";
const MAP_REDUCE_DISABLED: &str = "Operation '{riak_kv,map_reduce}' is not enabled";

/// Answers with the resources, as a page or by name in JSON.
pub(super) async fn root<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let media_type = negotiated(exchange.request(), [HTML, JSON])?;
    let content = if media_type == JSON { resources_in_json() } else { resources_page() };
    let reply = exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, media_type);
    let reply = reply.header(KnownName::VARY, "Accept").header(KnownName::LINK, resource_links());
    Ok(reply.send(content).await?)
}

/// Answers that the store is up.
pub(super) async fn ping<S>(exchange: Exchange<S>) -> Outcome {
    let media_type = negotiated(exchange.request(), [HTML])?;
    Ok(exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, media_type).send("OK").await?)
}

/// Figures of the store and of its process.
pub(super) async fn stats<E: Engine>(exchange: Exchange<Store<E>>) -> Outcome {
    let media_type = negotiated(exchange.request(), [JSON, TEXT])?;
    let store = exchange.state();
    let figures = figures(store.engine().label(), &store.shared().statistics);
    let content = if media_type == JSON { figures.to_string() } else { format!("{figures:#}\n") };
    let reply = exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, media_type);
    Ok(reply.header(KnownName::VARY, "Accept").send(content).await?)
}

/// Answers 400 with the form of a request for MapReduce.
pub(super) async fn map_reduce_usage<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::bad_request(MAP_REDUCE_USAGE))
}

/// Answers a request for MapReduce as a Riak does that has it switched off.
pub(super) async fn map_reduce<E: Engine>(_: Exchange<Store<E>>) -> Outcome {
    Err(Fail::text(Status::FORBIDDEN, MAP_REDUCE_DISABLED))
}

fn resources_in_json() -> String {
    let resources: Map<_, _> =
        RESOURCES.into_iter().map(|(name, path)| (name.to_owned(), path.into())).collect();
    Value::from(resources).to_string()
}

fn resources_page() -> String {
    let items = RESOURCES.map(|(name, path)| format!("<li><a href=\"{path}\">{name}</a></li>"));
    format!("<html><body><ul>{}</ul></body></html>", items.concat())
}

fn resource_links() -> String {
    RESOURCES.map(|(name, path)| format!("<{path}>; rel=\"{name}\"")).join(",")
}

fn figures(engine: &str, statistics: &Statistics) -> Value {
    let mut figures = json!({
        "riak_kv_version": RIAK_VERSION,
        "alula_version": env!("CARGO_PKG_VERSION"),
        "nodename": NODE_NAME,
        "ring_members": [NODE_NAME],
        "connected_nodes": [],
        "ring_num_partitions": 1,
        "read_repairs": 0,
        "read_repairs_total": 0,
        "storage_backend": engine,
        "uptime_seconds": statistics.uptime().as_secs(),
    });
    let into = &mut figures;
    add_operation(into, "get", statistics, Operation::Get);
    add_operation(into, "put", statistics, Operation::Put);
    add_counts(into, statistics);
    add_process(into);
    figures
}

/// Adds the number of an operation, in the last minute and since the start, and its times in microseconds.
fn add_operation(figures: &mut Value, name: &str, statistics: &Statistics, operation: Operation) {
    let summary = statistics.summary(operation);
    figures[format!("node_{name}s")] = summary.count.into();
    figures[format!("node_{name}s_total")] = summary.total.into();
    for (figure, micros) in [
        ("mean", summary.mean),
        ("median", summary.median),
        ("95", summary.p95),
        ("99", summary.p99),
        ("100", summary.max),
    ] {
        figures[format!("node_{name}_fsm_time_{figure}")] = micros.into();
    }
}

/// Adds the numbers of the operations that are not measured, in the last minute and since the start.
fn add_counts(figures: &mut Value, statistics: &Statistics) {
    for (counted, recent_name, total_name) in Counted::FIGURES {
        let (recent, total) = statistics.counts(counted);
        figures[recent_name] = recent.into();
        if let Some(name) = total_name {
            figures[name] = total.into();
        }
    }
}

/// Adds the threads and the memory of the process, where the system has a file that tells them.
fn add_process(figures: &mut Value) {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = |name: &str| value(name)?.split_whitespace().next()?.parse::<u64>().ok();
    for (figure, number) in
        [("sys_process_count", number("Threads")), ("memory_total", number("VmRSS").map(|kib| kib * 1024))]
    {
        if let Some(number) = number {
            figures[figure] = number.into();
        }
    }
}

/// Returns the one of these media types that `accept` asks for (Riak §1.7).
///
/// # Errors
/// 406 if it asks for none of them.
fn negotiated<const COUNT: usize>(
    request: &Request,
    offers: [&'static str; COUNT],
) -> Result<&'static str, Fail> {
    let chosen = negotiation::choose(request.headers(), &offers.map(str::as_bytes), IDENTITY);
    chosen.map(|chosen| offers[chosen])
}
