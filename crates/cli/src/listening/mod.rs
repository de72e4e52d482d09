//! The parts that the serving commands share: listeners, TLS identities, and the stop by a signal.

pub(crate) mod descriptors;
pub(crate) mod signals;

use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    path::Path,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use alula::{Fault, Identity, Ledger, Limits, RequestFailure, Routes, Server, Stop};
use anstyle::Style;
use tokio::time::sleep;

use crate::{
    args::ListenArgs,
    failure::exit::{Exit, Failure, Outcome},
    hooks::Watching,
    listening::signals::StopSignals,
    terminal,
};

/// The threads for blocking work, such as reading files: more than disks work on at once, and few enough that
/// no peer can make the program hold many stacks. Work that finds none free waits.
const BLOCKING_THREADS_MAX: usize = 32;

/// The time that open requests have after a signal.
const GRACE: Duration = Duration::from_secs(10);

/// The time within which a stop is not reported.
const SOON: Duration = Duration::from_millis(500);

/// The time within which a start is not reported.
const USUAL_START: Duration = Duration::from_secs(5);

/// The options of a serving command.
pub(crate) struct ListenOptions<'a> {
    pub(crate) limits: Limits,
    pub(crate) watching: &'a Watching,
    /// True if clients of HTTP/1.1 that have closed their side still get an answer.
    pub(crate) half_close: bool,
    /// The authorities of client certificates, in PEM; `None` asks for no certificate.
    pub(crate) client_ca: Option<&'a Path>,
    /// The time to wait for tasks and threads after the server has ended.
    pub(crate) end_max: Duration,
}

impl<'a> ListenOptions<'a> {
    /// Returns the options of a command without special ones.
    pub(crate) fn usual(watching: &'a Watching) -> Self {
        Self {
            limits: Limits::default(),
            watching,
            half_close: false,
            client_ca: None,
            end_max: Duration::ZERO,
        }
    }
}

/// The server for which routes are built.
#[derive(Clone)]
pub(crate) struct Bound {
    /// The ledger of its memory.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) address: SocketAddr,
}

/// The routes, and the lines that are printed at the start.
pub(crate) struct Service {
    pub(crate) routes: Routes,
    /// The lines to print after those of the addresses.
    pub(crate) hint: String,
}

/// The answers of a server while its service is being prepared.
pub(crate) struct Starting {
    pub(crate) routes: Routes,
    /// The beginning of the sentence for stderr if it takes long; the address follows.
    pub(crate) sentence: String,
}

/// The end of a server without a failure.
enum Served {
    Whole,
    /// The server was stopped while its service was being prepared: a thread may still work on that.
    BeforeReady,
}

/// Serves with these options on a runtime of its own, until it is stopped. The service is made once its
/// address is known, and before anybody is told of it.
pub(crate) fn run(
    args: &ListenArgs,
    terms: ListenOptions<'_>,
    service: impl AsyncFnOnce(Bound) -> Result<Service, Failure>,
) -> Outcome {
    run_starting(args, terms, |_| Ok(None), service)
}

/// Serves a service that takes time to prepare: other routes answer meanwhile, and a stop does not wait for
/// it.
pub(crate) fn run_starting(
    args: &ListenArgs,
    terms: ListenOptions<'_>,
    starting: impl FnOnce(&Bound) -> Result<Option<Starting>, Failure>,
    service: impl AsyncFnOnce(Bound) -> Result<Service, Failure>,
) -> Outcome {
    descriptors::raise_limit();
    let mut identity = identity(args)?;
    if let Some(file) = terms.client_ca {
        let authorities = read(file)?;
        identity =
            identity.map(|identity| identity.client_authorities_pem(&authorities)).transpose().map_err(
                |error| Failure::new(Exit::Usage, format_args!("--client-ca {}: {error}", file.display())),
            )?;
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.enable_all().max_blocking_threads(BLOCKING_THREADS_MAX).build();
    let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
    let end_max = terms.end_max;
    let served = runtime.block_on(serve(args, identity, terms, starting, service));
    match served {
        // A thread that still opens the store cannot be stopped, and is not waited for.
        Ok(Served::BeforeReady) => runtime.shutdown_background(),
        _ => runtime.shutdown_timeout(end_max),
    }
    served.map(|_| ())
}

fn identity(args: &ListenArgs) -> Result<Option<Identity>, Failure> {
    if let (Some(cert), Some(key)) = (&args.cert, &args.key) {
        return identity_of(cert, key).map(Some);
    }
    if !args.self_signed {
        return Ok(None);
    }
    Ok(Some(Identity::self_signed(["localhost", "127.0.0.1", "::1", host(&args.listen)])?))
}

/// Reads a certificate and a key from these files.
fn identity_of(cert: &Path, key: &Path) -> Result<Identity, Failure> {
    let (certificates, private) = (read(cert)?, read(key)?);
    let has = |text: &[u8], what: &str| String::from_utf8_lossy(text).contains(what);
    let [of_certificate, of_key] = ["-----BEGIN CERTIFICATE-----", "PRIVATE KEY-----"];
    let wrong = |sentence: String| Err(Failure::new(Exit::Usage, sentence));
    if !has(&certificates, of_certificate) {
        let other = if has(&certificates, of_key) { " but a private key, which --key takes" } else { "" };
        return wrong(format!("--cert {}: it holds no certificate in PEM{other}", cert.display()));
    }
    if !has(&private, of_key) {
        let other = if has(&private, of_certificate) { " but a certificate, which --cert takes" } else { "" };
        return wrong(format!("--key {}: it holds no private key in PEM{other}", key.display()));
    }
    // The library takes no encrypted keys: a server starts without somebody to type a password.
    if has(&private, "ENCRYPTED") {
        let next = "openssl pkey -in FILE -out KEY writes it without";
        return wrong(format!("--key {}: the private key has a password ({next})", key.display()));
    }
    Identity::from_pem(&certificates, &private).or_else(|error| {
        let sentence = error.to_string();
        wrong(format!("--cert {} and --key {}: {sentence}", cert.display(), key.display()))
    })
}

/// Returns the host of `HOST:PORT`, an IPv6 address without its brackets.
fn host(listen: &str) -> &str {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(path.display(), &error))
}

async fn serve(
    args: &ListenArgs,
    identity: Option<Identity>,
    terms: ListenOptions<'_>,
    starting: impl FnOnce(&Bound) -> Result<Option<Starting>, Failure>,
    service: impl AsyncFnOnce(Bound) -> Result<Service, Failure>,
) -> Result<Served, Failure> {
    let has_tls = identity.is_some();
    let limits = args.pace.limit(terms.limits);
    let builder = Server::builder().limits(limits).on_error(teller(terms.watching));
    let mut builder = builder.http1_half_close(terms.half_close);
    if let Some(identity) = identity {
        builder = builder.identity(identity);
    }
    if args.http1_1 {
        builder = builder.http1_only();
    }
    if args.http2_only {
        builder = builder.http2_only();
    }
    let failed = |error| cannot_listen(&args.listen, &error);
    let mut server = builder.bind(&*args.listen).await.map_err(failed)?;
    let address = server.address().map_err(failed)?;
    let stop = server.stop_handle();
    // Before anybody knows where to send what: a signal that nobody awaits ends the program at once.
    let no_signals = |error| Failure::local("signals", &error);
    let signals = StopSignals::new().map_err(no_signals)?;
    terms.watching.watch().map_err(no_signals)?;
    tokio::spawn(stop_when_told(stop, signals));
    let bound = Bound { ledger: server.ledger(), address };
    let broken = |error| Failure::local("the listener", &error);
    let starting = starting(&bound)?;
    let made = service(bound);
    let service = match starting {
        None => made.await?,
        Some(Starting { routes, sentence }) => {
            let made = telling_if_late(made, format!("{sentence} http://{address}"));
            match server.serve_until(routes, made).await.map_err(broken)? {
                Some(made) => made?,
                None => return Ok(Served::BeforeReady),
            }
        }
    };
    announce(address, has_tls, &service.hint).map_err(|error| Failure::local("stdout", &error))?;
    server.serve_with_grace(service.routes, GRACE).await.map_err(broken)?;
    Ok(Served::Whole)
}

/// Waits for a future, and prints a sentence on stderr if it takes long.
async fn telling_if_late<T>(made: impl Future<Output = T>, sentence: String) -> T {
    let mut made = pin!(made);
    tokio::select! {
        biased;
        made = &mut made => return made,
        () = sleep(USUAL_START) => terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes()),
    }
    made.await
}

/// Returns a function that reports all failures.
fn teller(watching: &Watching) -> impl Fn(&RequestFailure<'_>) + Send + Sync + use<> {
    let note = watching.on_refused();
    move |failure| {
        tell(failure);
        note(failure);
    }
}

/// Prints a line for a request that this program failed to answer, but not for slow or absent peers.
fn tell(failure: &RequestFailure<'_>) {
    if failure.fault() == Fault::Caller {
        // Nobody may read it.
        let _ = writeln!(io::stderr(), "alula: {failure}");
    }
}

fn cannot_listen(listen: &str, error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::AddrInUse => {
            " (another program listens there; --listen PORT takes another port, and 0 a free one)"
        }
        io::ErrorKind::AddrNotAvailable => " (it is no address of this machine; 0.0.0.0 is all of them)",
        io::ErrorKind::PermissionDenied => " (ports below 1024 may need rights; --listen 8080 needs none)",
        _ => "",
    };
    let failure = Failure::local(format_args!("cannot listen on {listen}"), error);
    Failure::new(Exit::Local, format_args!("{}{next}", failure.sentence()))
}

fn announce(address: SocketAddr, has_tls: bool, hint: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening on http://{address}")?;
    if has_tls {
        writeln!(stdout, "listening on https://{address}")?;
    }
    stdout.write_all(hint.as_bytes())?;
    stdout.flush()
}

/// Handles signals: the first lets open requests end, the second ends the program.
async fn stop_when_told(stop: Stop, mut signals: StopSignals) {
    signals.next().await;
    stop.stop();
    tokio::select! {
        () = signals.next_urgent() => {}
        () = tell_waiting(&stop) => signals.next_urgent().await,
    }
    std::process::exit(Exit::Local as i32);
}

/// Prints what a stop waits for, unless it is over soon.
async fn tell_waiting(stop: &Stop) {
    sleep(SOON).await;
    let requests = match stop.requests_left() {
        0 => return,
        1 => "1 request".to_owned(),
        several => format!("{several} requests"),
    };
    let seconds = (GRACE - SOON).as_secs_f64();
    let sentence = format!(
        "waiting for {requests} to end, {seconds:.1} s at most; a second Ctrl-C ends the program at once"
    );
    terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes());
}
