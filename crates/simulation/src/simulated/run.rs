//! One run, from its seed to what is found in it.

use std::{cell::Cell, io, panic::catch_unwind, sync::Arc};

use alula::{Client, ClientBuilder, Server, Stop, Version};
use alula_net::simulation::{free_read_buffers, hold_date, install, rest};
use tokio::runtime::{Builder, Handle};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep, timeout};

use super::answer::answer;
use super::cable::Cable;
use super::call::Party;
use super::log::lock;
use super::network::Exchange;
use super::script::Answer;
use super::world::{ClientSetting, Setting, World};
use super::{panics, pool};

/// So long no run takes; simulated, as all durations here.
const FOREVER: Duration = Duration::from_secs(4 * 3_600);
/// The time that everything may rest before the books are compared.
const REST: Duration = Duration::from_secs(3);
/// How often that is waited for, while content that nobody wants any more is still on its way over a slow
/// line.
const RESTS_MAX: usize = 1_000;
/// So long nothing is heard until a client asks, if it does; and so long it waits for an answer, which may be
/// queued behind content on a slow line.
const ASKS_AFTER: Duration = Duration::from_secs(2);
const ANSWERED_WITHIN: Duration = Duration::from_secs(600);
/// How often a client sends a request at the most.
const TRIES_MAX: u32 = 3;
/// The time that tasks may take to end once nobody needs them, in seconds: a connection of HTTP/1.1 reads
/// what is left of an answer that nobody wants for as long as `Limits::idle_timeout`.
const TASKS_END: usize = 90;

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What it was decided by.
    pub seed: u64,
    /// Its clients spoke HTTP/1.1.
    pub is_http1: bool,
    /// A number that tells its course from others: the same for every run of a seed.
    pub course: u64,
    /// Calls that were answered and found right.
    pub answered: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were given up by their callers.
    pub given_up: u64,
    /// Bytes of content that were compared.
    pub bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that were cut or fell silent, and clients whose connection could not be opened.
    pub blows: u64,
    /// Connections that lived to the end, whose books were compared.
    pub at_rest: u64,
    /// The number of looks at the pools.
    pub steps: u64,
    /// How long it took on the simulated clock.
    pub simulated: Duration,
    /// What must not be; nothing, where all is well.
    pub findings: Vec<String>,
}

impl Outcome {
    /// Returns the flags that make the same run again.
    #[must_use]
    pub fn again(&self) -> String {
        format!("--seed {} --http{}", self.seed, if self.is_http1 { 1 } else { 2 })
    }
}

thread_local! {
    static IS_WARM: Cell<bool> = const { Cell::new(false) };
}

/// Makes a run, of the version that the seed decides unless one is named; `tells` prints what happens in it,
/// and leaves memory unchecked, which printing takes as well.
///
/// # Panics
/// When there is no runtime to be had.
#[must_use]
pub fn run(seed: u64, version: Option<Version>, tells: bool) -> Outcome {
    hold_date();
    if !tells && !IS_WARM.replace(true) {
        simulate(Setting::of(seed, version), false);
    }
    let panics = panics::count();
    free_read_buffers();
    let before = alula_tally::thread();
    let mut outcome = catch_unwind(|| simulate(Setting::of(seed, version), tells)).unwrap_or_else(|_| {
        install(None);
        Outcome {
            seed,
            is_http1: Setting::of(seed, version).version == Version::Http1,
            findings: vec!["the books of a connection do not agree".to_owned()],
            ..Outcome::default()
        }
    });
    let has_findings = !outcome.findings.is_empty();
    free_read_buffers();
    let (counts, panics) = (alula_tally::thread() - before, panics::count() - panics);
    if panics > 0 {
        outcome.findings.push(format!("{panics} panics"));
    }
    let kept = counts.allocations as i64 - counts.deallocations as i64;
    if !tells && !has_findings && (counts.bytes_live(), kept) != (0, 0) {
        let bytes = counts.bytes_live();
        outcome.findings.push(format!("{bytes} bytes of memory in {kept} pieces are left"));
    }
    outcome
}

fn simulate(setting: Setting, tells: bool) -> Outcome {
    let runtime =
        Builder::new_current_thread().enable_time().start_paused(true).on_thread_park(pool::check).build();
    let runtime = runtime.expect("a runtime of one thread");
    let outcome = runtime.block_on(async {
        let world = World::new(setting, tells);
        pool::watch(&world);
        install(Some(Arc::new(Exchange(world.wires.clone()))));
        let post = tokio::spawn(world.wires.post.clone().deliver());
        let began = Instant::now();
        let at_rest = play(&world).await;
        expect_nothing_left(&world).await;
        post.abort();
        sum_up(&world, at_rest, began.elapsed())
    });
    install(None);
    outcome
}

/// Everything up to the end of clients and servers. Returns how many connections lived to the end.
async fn play(world: &Arc<World>) -> u64 {
    let over = Arc::new(Semaphore::new(0));
    let hosts: Vec<_> = (0..world.setting.servers.len())
        .map(|index| tokio::spawn(host(world.clone(), index, over.clone())))
        .collect();
    let parties = parties(world);
    let callers: Vec<_> = parties.iter().flat_map(start_callers).collect();
    all_end(world, "a caller", callers).await;
    for _ in 0..RESTS_MAX {
        sleep(REST).await;
        if !world.wires.cables().iter().any(|cable| is_sending(cable)) {
            break;
        }
    }
    let at_rest = world.wires.cables().iter().filter(|cable| rests(world, cable)).count() as u64;
    drop(parties);
    over.close();
    all_end(world, "a server", hosts).await;
    check_calls(world);
    at_rest
}

async fn all_end(world: &World, who: &str, tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        let abort = task.abort_handle();
        if timeout(FOREVER, task).await.is_err() {
            world.log.find(format!("{who} has not ended"));
            abort.abort();
        }
    }
}

fn parties(world: &Arc<World>) -> Vec<Arc<Party>> {
    let party = |(index, setting): (usize, &ClientSetting)| {
        let client = builder(world.setting.version, setting).build().expect("a client needs nothing");
        Arc::new(Party { world: world.clone(), client, index: index as u32 })
    };
    world.setting.clients.iter().enumerate().map(party).collect()
}

fn builder(version: Version, setting: &ClientSetting) -> ClientBuilder {
    let pool = setting.pool;
    let builder = Client::builder()
        .limits(setting.limits.clone())
        .connections_max(pool.connections_max)
        .http2_connections_max(pool.http2_connections_max)
        .idle_max(pool.idle_max)
        .keep_idle(pool.keep_idle)
        // A call whose wake is lost is found by this, since nothing else takes so long.
        .queue_timeout(FOREVER / 2);
    match version {
        Version::Http1 => builder.http1_only(),
        _ if setting.asks => builder.http2_only().keep_alive(ASKS_AFTER, ANSWERED_WITHIN),
        _ => builder.http2_only(),
    }
}

fn start_callers(party: &Arc<Party>) -> Vec<JoinHandle<()>> {
    let callers = party.world.setting.clients[party.index as usize].callers.iter().cloned();
    let start = |numbers: std::ops::Range<u32>| {
        let party = party.clone();
        tokio::spawn(async move {
            for number in numbers {
                party.call(number).await;
            }
        })
    };
    callers.map(start).collect()
}

/// A server, and where the setting says so another in its place, until all is over.
async fn host(world: Arc<World>, index: usize, over: Arc<Semaphore>) {
    let (mut server, mut stop) = start_server(&world, index).await.expect("nobody else is there");
    if let Some(after) = world.setting.stops[index]
        && timeout(after, over.acquire()).await.is_err()
    {
        lock(&world.stopped)[index] = true;
        stop.stop();
        let next = loop {
            match start_server(&world, index).await {
                Ok(next) => break next,
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        };
        let before = server;
        (server, stop) = next;
        before.await.expect("a server does not panic");
    }
    // Nobody gives anything out: this ends when all is over.
    let _ = over.acquire().await;
    stop.stop();
    server.await.expect("a server does not panic");
}

async fn start_server(world: &Arc<World>, index: usize) -> io::Result<(JoinHandle<()>, Stop)> {
    let limits = world.setting.servers[index].clone();
    let address = format!("10.0.0.1:{}", 1_000 + index);
    let server = Server::builder().limits(limits).on_error(|_| {}).bind(address).await?;
    let stop = server.stop_handle();
    let grace = if world.setting.has_blows { Duration::from_secs(10) } else { FOREVER };
    let world = world.clone();
    let serving = tokio::spawn(async move {
        let handler = {
            let world = world.clone();
            move |exchange| answer(world.clone(), exchange)
        };
        if let Err(error) = server.serve_with_grace(handler, grace).await {
            world.log.find(format!("a server failed: {error}"));
        }
    });
    Ok((serving, stop))
}

/// Returns true if bytes are still under way on this connection or wait for room, since it is slow, or a
/// handler still thinks.
fn is_sending(cable: &Cable) -> bool {
    let users = lock(&cable.users).clone().map(|user| user.upgrade());
    let [Some(client), Some(server)] = users else { return false };
    let (client, server) = (rest(&client), rest(&server));
    !cable.is_hurt() && (cable.is_carrying() || client.unsent > 0 || server.unsent > 0 || server.is_used)
}

/// Returns true if this connection is open at both ends, which then have to agree.
fn rests(world: &World, cable: &Cable) -> bool {
    let users = lock(&cable.users).clone().map(|user| user.upgrade());
    let [Some(client), Some(server)] = users else { return false };
    let (client, server) = (rest(&client), rest(&server));
    if cable.is_hurt() || client.has_ended || server.has_ended {
        return false;
    }
    let agree = client.may_send == server.may_receive && server.may_send == client.may_receive;
    let is_idle = |end: &alula_net::simulation::Rest| {
        end.streams == 0 && !end.is_used && end.woken == 0 && end.unsent == 0
    };
    if !agree || !is_idle(&client) || !is_idle(&server) || !client.task_reads {
        let number = cable.client;
        world.log.find(format!("a connection of client {number} does not rest: {client:?}, {server:?}"));
    }
    true
}

/// No request is handled twice, but one that is idempotent of a client whose connections were hurt; and none
/// that was said not to be.
fn check_calls(world: &World) {
    for (number, call) in &*lock(&world.calls) {
        let script = world.script(*number);
        // Over HTTP/1.1 half of an answer ends the connection, which may look like one that ended before the
        // request came.
        let is_cut = world.setting.version == Version::Http1 && script.answer == Answer::Half;
        let may_repeat = script.is_idempotent() && (is_cut || world.wires.has_hurt(call.client));
        if call.handled > if may_repeat { TRIES_MAX } else { 1 } {
            world.log.find(format!("call {number} was handled {} times", call.handled));
        }
        if call.is_safe && call.handled > 0 {
            world.log.find(format!("call {number} was handled and said to be safe to send again"));
        }
    }
}

/// The task that delivers is the only one left, and no connection is.
async fn expect_nothing_left(world: &World) {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    for _ in 0..TASKS_END {
        if tasks() <= 1 {
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    if tasks() > 1 {
        world.log.find(format!("{} tasks are left", tasks() - 1));
    }
    let users = world.wires.cables().into_iter().flat_map(|cable| lock(&cable.users).clone());
    let left = users.filter(|user| user.strong_count() > 0).count();
    if left > 0 {
        world.log.find(format!("{left} connections are left"));
    }
}

fn sum_up(world: &World, at_rest: u64, simulated: Duration) -> Outcome {
    let tally = *lock(&world.tally);
    let cables = world.wires.cables();
    let hurt = cables.iter().filter(|cable| cable.is_hurt()).count();
    Outcome {
        seed: world.setting.seed,
        is_http1: world.setting.version == Version::Http1,
        course: world.log.course(),
        answered: tally.answered,
        failed: tally.failed,
        given_up: tally.given_up,
        bytes: tally.bytes,
        connections: cables.len() as u64,
        blows: (hurt + world.wires.refusals()) as u64,
        at_rest,
        steps: world.steps(),
        simulated,
        findings: world.log.take_findings(),
    }
}
