//! Loads: h2load for both versions, wrk for HTTP/1.1, on the core of the server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::super::program::{Server, Under, args, output, output_within};
use super::super::servers::h2load;
use super::matrix::{Cell, Generator, Work};
use crate::command::needed_program;

/// As many things are there to ask for.
const NAMES: u64 = 1000;

/// The time in which a second of wrk has ended and its figures are worked out, or never will be.
const WRK_MAX: Duration = Duration::from_secs(15);

/// Requests of h2load, and a second of wrk.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) requests: u64,
    pub(super) per_second: f64,
}

/// Asks as the cell says.
pub(super) fn drive(folder: &Path, cell: &Cell, server: &Server) -> Result<Run> {
    match cell.generator {
        Generator::Wrk => drive_wrk(folder, cell, server),
        _ => drive_h2load(folder, cell, server, cell.requests()),
    }
}

/// One request on each connection: what connections cost by themselves.
pub(super) fn connect(folder: &Path, cell: &Cell, server: &Server) -> Result<Run> {
    drive_h2load(folder, &Cell { in_flight: 1, varies: false, ..*cell }, server, cell.connections)
}

fn drive_h2load(folder: &Path, cell: &Cell, server: &Server, requests: u64) -> Result<Run> {
    let batch = cell.connections * cell.in_flight;
    // Whole batches only.
    let requests = requests.div_ceil(batch) * batch;
    let [n, c, m] = [requests, cell.connections, cell.in_flight].map(|number| number.to_string());
    let mut all = args(["-n", &n, "-c", &c, "-m", &m]);
    all.extend(args(cell.generator.is_http1().then_some("--h1")));
    if cell.varies {
        let file = folder.join(format!("uris-{}", server.port));
        let uris: Vec<String> = (0..NAMES).map(|number| uri(cell, server, number)).collect();
        fs::write(&file, uris.join("\n"))?;
        all.extend([("-i".into()), file.into_os_string()]);
    } else {
        all.push(uri(cell, server, 0).into());
    }
    let program = needed_program("h2load")?;
    let (printed, _) = output(Under::OneCore.command(&program, &all, server.core)?)?;
    let per_second = h2load(&printed, requests);
    let per_second =
        per_second.with_context(|| format!("not all of {requests} were answered:\n{printed}"))?;
    Ok(Run { requests, per_second })
}

fn uri(cell: &Cell, server: &Server, number: u64) -> String {
    let scheme = if cell.is_secure { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}{}", server.port, cell.work.path(number))
}

fn drive_wrk(folder: &Path, cell: &Cell, server: &Server) -> Result<Run> {
    let script = folder.join("load.lua");
    fs::write(&script, lua(cell))?;
    let mut all = args(["-t", "1", "-d", "1", "-c", &cell.connections.to_string()]);
    if cell.varies || cell.in_flight > 1 {
        all.extend(["-s".into(), script.into_os_string()]);
    }
    all.push(uri(cell, server, 0).into());
    let program = needed_program("wrk")?;
    // It divides the microseconds of the run by the requests of a connection, and steps through its figures by the quotient: by nothing,
    // and so without end, above a million requests per second on one connection.
    let (printed, _) = output_within(Under::OneCore.command(&program, &all, server.core)?, WRK_MAX)?;
    wrk(&printed)
}

/// Requests that are written before the run, so many at once.
fn lua(cell: &Cell) -> String {
    let Cell { in_flight, .. } = cell;
    let names = if cell.varies { NAMES } else { 1 };
    let (before, after) = parts(cell.work);
    format!(
        "local batches, turn = {{}}, 0
init = function(args)
  local requests = {{}}
  for name = 0, {names} - 1 do
    requests[name + 1] = wrk.format(nil, \"{before}\" .. name .. \"{after}\")
  end
  for first = 0, {names} - 1 do
    local batch = {{}}
    for place = 0, {in_flight} - 1 do
      batch[place + 1] = requests[(first * {in_flight} + place) % {names} + 1]
    end
    batches[first + 1] = table.concat(batch)
  end
end
request = function()
  turn = turn % {names} + 1
  return batches[turn]
end
"
    )
}

/// The path around the number.
fn parts(work: Work) -> (String, String) {
    let path = work.path(7);
    let (before, after) = path.rsplit_once('7').unwrap_or((&path, ""));
    (before.to_owned(), after.to_owned())
}

/// The figures that wrk tells, if all was answered well.
fn wrk(printed: &str) -> Result<Run> {
    let is_whole = !printed.contains("Socket errors") && !printed.contains("Non-2xx");
    ensure!(is_whole, "not all were answered well:\n{printed}");
    let counted = printed.lines().find_map(|line| line.trim().split_once(" requests in "));
    let (requests, _) = counted.with_context(|| format!("wrk counted nothing:\n{printed}"))?;
    let per_second = printed.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    let per_second = per_second.with_context(|| format!("wrk has no rate:\n{printed}"))?;
    Ok(Run { requests: requests.parse()?, per_second: per_second.trim().parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 1s test @ http://127.0.0.1:8080/\n  1 threads and 10 connections\n\
        \x20 48123 requests in 1.00s, 53.11MB read\nRequests/sec:  48100.20\nTransfer/sec:     53.09MB\n";

    #[test]
    fn what_wrk_counted_is_read_if_all_was_answered_well() {
        let run = wrk(SAID).expect("it is whole");
        assert_eq!(run, Run { requests: 48_123, per_second: 48_100.2 });
        wrk(&format!("{SAID}  Non-2xx or 3xx responses: 3\n")).unwrap_err();
        wrk(&format!("{SAID}  Socket errors: connect 0, read 1, write 0, timeout 0\n")).unwrap_err();
        wrk("").unwrap_err();
    }

    #[test]
    fn a_path_is_cut_around_its_number() {
        for work in Work::ALL {
            let (before, after) = parts(work);
            assert_eq!(format!("{before}123{after}"), work.path(123));
        }
    }
}
