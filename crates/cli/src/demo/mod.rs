//! `alula demo`: a server and a client in one process, and the cost of a request between them.
//!
//! The server has one thread for the whole demo, the client a new one per run, and the main thread shows
//! how they do. The display allocates nothing while figures are taken, so that the count of the whole
//! process is honest.

mod exchange;
mod figures;
mod load;
mod meter;
mod relay;
mod runs;
mod server;
mod show;

use std::{sync::Arc, thread, time::Duration};

use crate::{args::DemoArgs, failure::exit::Outcome};
use figures::Figures;
use load::Load;
use meter::Meter;
use runs::{IN_FLIGHT, Run, Transport};
use server::DemoServer;
use show::Show;

/// The time between two redraws of the display.
const REDRAW: Duration = Duration::from_millis(200);

/// Runs all six measurements and shows them.
pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let share = Duration::from_secs_f64(args.seconds / (IN_FLIGHT.len() * Transport::ALL.len()) as f64);
    let server = DemoServer::start()?;
    let mut show = Show::new(args.json)?;
    let mut runs = Vec::new();
    for transport in Transport::ALL {
        for in_flight in IN_FLIGHT {
            let figures = run_one(&Load { server: server.clone(), transport, in_flight, share }, &mut show)?;
            runs.push(Run { transport, in_flight, figures });
        }
    }
    server.stop();
    show.end(&runs)
}

fn run_one(load: &Load, show: &mut Show) -> Result<Figures, crate::failure::exit::Failure> {
    let meter = Arc::new(Meter::new());
    show.begin(load.transport, load.in_flight)?;
    let figures = thread::scope(|scope| {
        let client = scope.spawn(|| load.run(&meter));
        while !client.is_finished() {
            show.draw(load.transport, load.in_flight, &meter.so_far());
            thread::park_timeout(REDRAW);
        }
        client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    show.finish(load.transport, load.in_flight, &figures)?;
    Ok(figures)
}
