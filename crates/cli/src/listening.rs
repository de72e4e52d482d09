//! What the servers among the commands share: where they listen, who they are under TLS, and when they stop.

use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    path::Path,
};

use alula::{Handler, Identity, Server, Stop};
use tokio::signal;

use crate::{
    args::ListenArgs,
    exit::{Exit, Failure, Outcome},
};

/// Serves on a runtime of its own until it is told to stop.
pub(crate) fn run(args: &ListenArgs, handler: impl Handler) -> Outcome {
    let identity = identity(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
    let outcome = runtime.block_on(serve(args, identity, handler));
    runtime.shutdown_background();
    outcome
}

fn identity(args: &ListenArgs) -> Result<Option<Identity>, Failure> {
    if let (Some(cert), Some(key)) = (&args.cert, &args.key) {
        return Ok(Some(Identity::from_pem(&read(cert)?, &read(key)?)?));
    }
    if !args.self_signed {
        return Ok(None);
    }
    Ok(Some(Identity::self_signed(["localhost", "127.0.0.1", "::1", host(&args.listen)])?))
}

/// The host of `HOST:PORT`, an IPv6 address without its brackets.
fn host(listen: &str) -> &str {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(path.display(), &error))
}

async fn serve(args: &ListenArgs, identity: Option<Identity>, handler: impl Handler) -> Outcome {
    let has_tls = identity.is_some();
    let mut builder = Server::builder();
    if let Some(identity) = identity {
        builder = builder.identity(identity);
    }
    if args.http1_1 {
        builder = builder.http1_only();
    }
    if args.http2 {
        builder = builder.http2_only();
    }
    let failed = |error| cannot_listen(&args.listen, &error);
    let server = builder.bind(&args.listen).await.map_err(failed)?;
    let address = server.address().map_err(failed)?;
    let stop = server.stop_handle();
    tokio::spawn(async move { stop_when_told(&stop).await });
    announce(address, has_tls).map_err(|error| Failure::local("stdout", &error))?;
    let served = server.serve(handler).await;
    served.map_err(|error| Failure::local("the listener", &error))
}

fn cannot_listen(listen: &str, error: &io::Error) -> Failure {
    let exit = if error.kind() == io::ErrorKind::InvalidInput { Exit::Usage } else { Exit::Local };
    Failure::new(exit, format_args!("cannot listen on {listen}: {error}"))
}

fn announce(address: SocketAddr, has_tls: bool) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening on http://{address}")?;
    if has_tls {
        writeln!(stdout, "listening on https://{address}")?;
    }
    stdout.flush()
}

/// The first signal lets open requests end, the second ends the program.
async fn stop_when_told(stop: &Stop) {
    told_to_stop().await;
    stop.stop();
    told_to_stop().await;
    std::process::exit(Exit::Local as i32);
}

#[cfg(unix)]
async fn told_to_stop() {
    match signal::unix::signal(signal::unix::SignalKind::terminate()) {
        Ok(mut terminated) => tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        },
        Err(_) => drop(signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn told_to_stop() {
    drop(signal::ctrl_c().await);
}
