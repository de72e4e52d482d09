//! The demo's client: keeps a number of requests in flight on one connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alula::{Client, Error, Limits, Method, Prepared};
use alula_tally::Side;
use tokio::{task::JoinSet, time::sleep};

use super::{
    exchange,
    figures::{Figures, Wire},
    meter::Meter,
    relay::Relay,
    runs::Transport,
    server::DemoServer,
};
use crate::failure::exit::{Exit, Failure};

/// The requests after which all buffers have reached their sizes.
const WARM_REQUESTS: u64 = 2_000;
/// The times that all requests are in flight at once during the warm-up.
const LARGEST_LOADS: usize = 32;
/// The shortest time that figures are taken from.
const WINDOW_MIN: Duration = Duration::from_millis(100);
/// The part of a run after which figures are taken, if the warm-up is over.
const WARM_PART: f64 = 0.35;
/// The time after which the warm-up has failed.
const WARM_MAX: Duration = Duration::from_secs(30);
/// Requests for counting the bytes on the wire.
const WIRE_REQUESTS: usize = 1_000;

/// The settings of a run.
pub(super) struct Load {
    pub(super) server: DemoServer,
    pub(super) transport: Transport,
    pub(super) in_flight: usize,
    pub(super) share: Duration,
}

/// A client with its request, shared by the tasks that send it.
struct Sender {
    client: Client,
    request: Prepared,
}

impl Load {
    /// Runs on the calling thread, which belongs to the client from then on.
    pub(super) fn run(&self, meter: &Arc<Meter>) -> Result<Figures, Failure> {
        alula_tally::set_side(Side::CLIENT);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
        runtime.block_on(async {
            let began = Instant::now();
            let wire = self.count_wire().await?;
            let sender = self.sender(&self.server.address.to_string())?;
            self.meet_largest_load(&sender).await?;
            let mut senders = JoinSet::new();
            for _ in 0..self.in_flight {
                senders.spawn(keep_sending(sender.clone(), meter.clone()));
            }
            tokio::select! {
                // A sender that ends early has failed, which goes before any figures.
                biased;
                ended = senders.join_next() => Err(why_ended(ended)),
                figures = self.take_figures(meter, began, wire) => figures,
            }
        })
    }

    async fn take_figures(&self, meter: &Meter, began: Instant, wire: Wire) -> Result<Figures, Failure> {
        let warm_at = self.share.mul_f64(WARM_PART);
        sleep(warm_at.saturating_sub(began.elapsed())).await;
        while meter.requests() < WARM_REQUESTS {
            if began.elapsed() > WARM_MAX {
                return Err(Failure::new(Exit::Timeout, "the demo's server is too slow to be measured"));
            }
            sleep(Duration::from_millis(5)).await;
        }
        meter.begin(wire);
        sleep(self.share.saturating_sub(began.elapsed()).max(WINDOW_MIN)).await;
        let figures = meter.so_far();
        meter.stop();
        figures.ok_or_else(|| Failure::new(Exit::Local, "no figures were taken"))
    }

    /// Creates a client, and the prepared request.
    fn sender(&self, authority: &str) -> Result<Arc<Sender>, Error> {
        let mut builder = Client::builder().http2_prior_knowledge(true);
        builder = match self.transport {
            Transport::Tls => builder.add_roots_pem(self.server.certificate.as_bytes())?,
            // In clear text nobody is to be trusted, and the platform's roots need not be read.
            Transport::Clear => builder.trust_anything(),
        };
        let client = builder.build()?;
        let url = format!("{}://{authority}{}", self.transport.scheme(), exchange::PATH);
        let mut request = client.prepare(Method::Get, &url)?;
        for (name, value) in exchange::REQUEST {
            request = request.header(name, value.as_bytes());
        }
        Ok(Arc::new(Sender { request: request.build()?, client }))
    }

    /// Sends some requests through the counting relay.
    async fn count_wire(&self) -> Result<Wire, Failure> {
        let relay = Relay::start(self.server.address).await;
        let relay = relay.map_err(|error| Failure::local("listening on loopback", &error))?;
        let authority = relay.address.to_string();
        let sender = self.sender(&authority)?;
        let each = WIRE_REQUESTS.div_ceil(self.in_flight);
        send_each(&sender, self.in_flight, each, None).await?;
        let before = relay.bytes();
        send_each(&sender, self.in_flight, each, None).await?;
        let after = relay.bytes();
        let requests = (each * self.in_flight) as f64;
        Ok(Wire {
            sent: (after.sent - before.sent) as f64 / requests,
            received: (after.received - before.received) as f64 / requests,
            fields_sent: exchange::request_bytes(self.transport.scheme(), &authority),
            fields_received: exchange::response_bytes(),
        })
    }

    /// Puts all requests in flight and has them answered at once, several times: later requests need no more
    /// memory. They are twice as many as in the run if the server takes so many, since an answer may be there
    /// before all of its request is put away.
    async fn meet_largest_load(&self, sender: &Arc<Sender>) -> Result<(), Failure> {
        let all = self.in_flight.max(Limits::default().streams as usize).min(2 * self.in_flight);
        send_each(sender, all, LARGEST_LOADS, Some(&exchange::awaiting(all))).await
    }
}

/// Sends requests from so many tasks, each one after the other.
async fn send_each(
    sender: &Arc<Sender>,
    senders: usize,
    requests: usize,
    path: Option<&str>,
) -> Result<(), Failure> {
    let path: Option<Arc<str>> = path.map(Arc::from);
    let mut all = JoinSet::new();
    for _ in 0..senders {
        let (sender, path) = (sender.clone(), path.clone());
        all.spawn(async move {
            for _ in 0..requests {
                sender.send(path.as_deref()).await?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(ended) = all.join_next().await {
        ended.map_err(|panic| Failure::new(Exit::Local, panic))??;
    }
    Ok(())
}

impl Sender {
    /// Sends a request, to `path` if one is given, and reads the whole response.
    async fn send(&self, path: Option<&str>) -> Result<(), Error> {
        let call = self.client.call(&self.request);
        let call = if let Some(path) = path { call.path(path) } else { call };
        let mut response = call.send().await?;
        while response.body().chunk().await?.is_some() {}
        Ok(())
    }
}

async fn keep_sending(sender: Arc<Sender>, meter: Arc<Meter>) -> Result<(), Error> {
    while !meter.is_stopped() {
        let began = Instant::now();
        sender.send(None).await?;
        meter.record(began.elapsed());
    }
    Ok(())
}

fn why_ended(ended: Option<Result<Result<(), Error>, tokio::task::JoinError>>) -> Failure {
    match ended {
        Some(Ok(Err(error))) => error.into(),
        Some(Err(panic)) => Failure::new(Exit::Local, panic),
        None | Some(Ok(Ok(()))) => Failure::new(Exit::Local, "the demo's client ended early"),
    }
}
