//! The routes while the store is being opened: probes learn that it is live and not ready.

use alula::{Error, Exchange, KnownName, OriginGuard, Sent, Status, routing};
use alula_store::Config;

use crate::{
    args::StoreArgs,
    failure::exit::{Exit, Failure},
    hooks::{self, Watching},
    listening::Starting,
};

/// Returns the answers until the store is open, with the requested hooks and routes that need no store.
pub(super) fn starting(
    config: &Config,
    guard: OriginGuard,
    args: &StoreArgs,
    watching: &Watching,
) -> Result<Starting, Failure> {
    let router = alula_store::starting(config).hook(guard);
    let mut router = hooks::watched(router, &args.watch, watching, String::new)?;
    if let Some(path) = &args.ready {
        router = router.route(&**path, routing::get(not_ready));
    }
    let routes = router.build().map_err(|error| Failure::new(Exit::Usage, error))?;
    let kept = args.data.as_ref().map_or_else(|| "memory".into(), |data| data.to_string_lossy());
    let sentence =
        format!("the store in {kept} is being opened: until it is, requests are answered with 503 at");
    Ok(Starting { routes, sentence })
}

async fn not_ready(exchange: Exchange) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::SERVICE_UNAVAILABLE).header(KnownName::CACHE_CONTROL, "no-store");
    reply.text("starting\n").await
}
