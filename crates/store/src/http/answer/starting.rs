//! The answers of a store that is still to be opened.

use alula::{Exchange, Router, Status, routing};

use super::fail::{Fail, Outcome};
use super::{browser_fields, software};
use crate::config::Config;
use crate::http::checks::authorization;
use crate::http::resource::Resource;
use crate::http::{SEGMENTS, checks::page_check, service};

const STARTING: &str = "the store is starting: it reads what is kept\n";

/// Returns the routes of a server whose store is still to be opened with this configuration, for
/// [`Server::serve_until`](alula::Server::serve_until): hooks, layers and other routes can be added, as to
/// those of the store. Allocates.
///
/// `/ping` says that the program lives, to a user of the store if there are users. All other requests are
/// answered with 503 and `retry-after`, whoever sends them.
///
/// ```no_run
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// use alula_store::{Config, Store, engine::{Fjall, FjallOptions}};
///
/// let config = Config::default();
/// let mut server = alula::Server::builder().limits(alula_store::limits()).bind("127.0.0.1:8098").await?;
/// let starting = alula_store::starting(&config).build()?;
/// let engine = tokio::task::spawn_blocking(|| Fjall::open("things", FjallOptions::default()));
/// // None if the server was stopped meanwhile.
/// let Some(engine) = server.serve_until(starting, engine).await? else { return Ok(()) };
/// let store = Store::open(engine??, config).await?;
/// server.serve(store.routes()?).await?;
/// # Ok(())
/// # }
/// ```
pub fn starting(config: &Config) -> Router {
    let ping = routing::get(service::ping::<()>);
    let ping = match &config.access {
        Some(access) => ping.wrap(authorization::layer(access.clone(), Resource::Ping)),
        None => ping,
    };
    Router::new()
        .segments(SEGMENTS)
        .hook(software::Software)
        .hook(browser_fields::BrowserFields::new(config))
        .hook(page_check::PageCheck::new(&config.referers))
        .fallback(refuse)
        .route("/ping", ping)
}

async fn refuse(_: Exchange) -> Outcome {
    Err(Fail::text(Status::SERVICE_UNAVAILABLE, STARTING))
}
