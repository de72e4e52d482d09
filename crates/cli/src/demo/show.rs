//! The display of the demo: a table that is filled row by row. On a terminal, the row that is being measured
//! is redrawn again and again.
//!
//! Rule: [`Show::draw`] allocates nothing, since the process it is part of is being counted.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use super::{
    figures,
    runs::{IN_FLIGHT, Run, Transport},
};
use crate::{
    failure::exit::{Failure, Outcome},
    terminal::{self, COLUMNS, wrapping::wrapped},
};
use figures::Figures;

/// The capacity for a row, so that it need not grow.
const ROW_BYTES: usize = 512;

/// The output for the figures.
pub(super) struct Show {
    json: bool,
    is_live: bool,
    /// The columns of a terminal that is narrower than the table: each row is split over two tables.
    narrow: Option<usize>,
    line: String,
}

impl Show {
    /// Announces the measurement.
    pub(super) fn new(json: bool) -> Result<Self, Failure> {
        let is_live = !json && io::stdout().is_terminal();
        let narrow = terminal::columns().filter(|columns| is_live && *columns < COLUMNS);
        let show = Self { json, is_live, narrow, line: String::with_capacity(ROW_BYTES) };
        if !json {
            show.print(&show.fitted(INTRODUCTION))?;
            if cfg!(debug_assertions) {
                show.print(&show.fitted(DEBUG_BUILD))?;
            }
            show.print_styled(if narrow.is_some() { NARROW_HEADINGS } else { HEADINGS })?;
        }
        Ok(show)
    }

    /// Begins a run.
    pub(super) fn begin(&mut self, transport: Transport, in_flight: usize) -> Outcome {
        if transport == Transport::Tls && in_flight == IN_FLIGHT[0] && !self.json {
            self.print("\n")?;
        }
        self.draw(transport, in_flight, &None);
        Ok(())
    }

    /// Draws the row of a run in progress, on a terminal. One that has gone away is noticed when the row is
    /// whole.
    pub(super) fn draw(&mut self, transport: Transport, in_flight: usize, figures: &Option<Figures>) {
        if self.is_live {
            self.line.clear();
            self.line.push('\r');
            write_row(&mut self.line, transport, in_flight, figures.as_ref(), self.narrow.is_some());
            self.line.push_str("\x1b[K");
            let _ = self.print(&self.line);
        }
    }

    /// Prints the final row of a run.
    pub(super) fn finish(&mut self, transport: Transport, in_flight: usize, figures: &Figures) -> Outcome {
        if self.json {
            return Ok(());
        }
        self.draw(transport, in_flight, &Some(*figures));
        self.line.clear();
        if !self.is_live {
            write_row(&mut self.line, transport, in_flight, Some(figures), false);
        }
        self.line.push('\n');
        self.print(&self.line)
    }

    /// Finishes the display after all runs.
    pub(super) fn end(&mut self, runs: &[Run]) -> Outcome {
        if self.json {
            return self.print(&format!("{:#}\n", figures::json(runs)));
        }
        if self.narrow.is_some() {
            self.print_styled(&allocations(runs))?;
        }
        self.print(&self.fitted(&conclusion(runs)))?;
        self.print_styled(&next_commands())
    }

    /// Wraps text to the terminal.
    fn fitted(&self, text: &str) -> String {
        wrapped(text, self.narrow.unwrap_or(COLUMNS), "")
    }

    /// Prints text with styles, which are dropped where they have no meaning.
    fn print_styled(&self, text: &str) -> Outcome {
        let mut stdout = anstream::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| Failure::local("stdout", &error))
    }

    fn print(&self, text: &str) -> Outcome {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| Failure::local("stdout", &error))
    }
}

const INTRODUCTION: &str = "\
A server and a client in one process, one thread each, over loopback. A prepared \
GET with 10 fields is answered by 200 with 10 fields, over and over, on one \
connection.

";

const DEBUG_BUILD: &str = "This is a debug build; `cargo run --release -- demo` is many times as fast.\n\n";

const HEADINGS: &str = concat!(
    "\x1b[1m",
    "                          latency, µs    allocations/request    bytes/request\n",
    "     in flight requests/s   p50   p99  client server process    sent  received\n",
    "\x1b[0m",
);

/// The headings of the narrow table, and of the second one for the other columns.
const NARROW_HEADINGS: &str = concat!(
    "\x1b[1m",
    "                          latency, µs\n",
    "     in flight requests/s   p50   p99\n",
    "\x1b[0m",
);
const ALLOCATIONS_HEADINGS: &str = concat!(
    "\n\x1b[1m",
    "                allocations/request\n",
    "     in flight  client server process\n",
    "\x1b[0m",
);

/// Writes one row; without figures, with placeholders. Allocates nothing while the string has room.
fn write_row(
    line: &mut String,
    transport: Transport,
    in_flight: usize,
    figures: Option<&Figures>,
    is_narrow: bool,
) {
    write_begin(line, transport, in_flight);
    let Some(figures) = figures else {
        line.push_str("  warming up");
        return;
    };
    write_grouped(line, figures.requests_per_second as u64, 11);
    write_latency(line, figures.p50_us);
    write_latency(line, figures.p99_us);
    if !is_narrow {
        write_all_allocations(line, figures);
        let _ = write!(line, "{:>8.1}{:>10.1}", figures.wire.sent, figures.wire.received);
    }
}

fn write_begin(line: &mut String, transport: Transport, in_flight: usize) {
    let _ = write!(line, "{:<10}{in_flight:>4}", transport.in_words());
}

/// Writes a latency in microseconds or, if the number is too long, in milliseconds with the unit.
fn write_latency(line: &mut String, micros: f64) {
    let _ = match micros {
        ..99_999.5 => write!(line, "{micros:>6.0}"),
        _ => write!(line, "{:>4.0}ms", micros / 1e3),
    };
}

fn write_all_allocations(line: &mut String, figures: &Figures) {
    write_allocations(line, figures.client_allocations, 8);
    write_allocations(line, figures.server_allocations, 7);
    write_allocations(line, figures.process_allocations, 8);
}

/// Writes the second table, for a narrow terminal.
fn allocations(runs: &[Run]) -> String {
    let mut table = ALLOCATIONS_HEADINGS.to_owned();
    for Run { transport, in_flight, figures } in runs {
        write_begin(&mut table, *transport, *in_flight);
        write_all_allocations(&mut table, figures);
        table.push('\n');
    }
    if let Some(Run { figures: Figures { wire, .. }, .. }) = runs.first() {
        let _ = write!(table, "\nBytes of a request: {:.1}\n", wire.sent);
        let _ = writeln!(table, "Bytes of an answer: {:.1}", wire.received);
    }
    table
}

/// Writes a number of allocations; 0 only if there was none at all.
fn write_allocations(line: &mut String, allocations: f64, width: usize) {
    let _ = match allocations {
        0.0 => write!(line, "{:>width$}", 0),
        _ if allocations < 0.01 => write!(line, "{:>width$}", "<0.01"),
        _ => write!(line, "{allocations:>width$.2}"),
    };
}

/// Writes a number with gaps between thousands.
fn write_grouped(line: &mut String, number: u64, width: usize) {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    for _ in digits + (digits - 1) / 3..width {
        line.push(' ');
    }
    for place in (0..digits as u32).rev() {
        let digit = (number / 10_u64.pow(place) % 10) as u8;
        line.push(char::from(b'0' + digit));
        if place > 0 && place % 3 == 0 {
            line.push(',');
        }
    }
}

fn conclusion(runs: &[Run]) -> String {
    let Some(Run { figures, .. }) = runs.first() else { return String::new() };
    let wire = &figures.wire;
    let mut text = format!(
        "\nThe names and values alone are {} bytes sent and {} received; the rest is compression (RFC 7541).\n",
        wire.fields_sent, wire.fields_received
    );
    let mut clear = runs.iter().filter(|run| run.transport == Transport::Clear);
    if clear.all(|run| run.figures.process_allocations == 0.0) {
        text.push_str("Under TLS it is rustls that allocates.\n");
    }
    text
}

/// Returns the commands to try next, with the program's name as it was called.
fn next_commands() -> String {
    let program = std::env::args().next().unwrap_or_else(|| "alula".to_owned());
    format!(
        "\n\x1b[1mNext:\x1b[0m\n\
         \x20 {program} echo -l 8080 --self-signed\n\
         \x20 {program} get -v :8080/hello\n\
         \x20 {program} get -k https://localhost:8080/\n\
         \x20 {program} help\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{
        super::figures::{Figures, Wire},
        *,
    };

    const FIGURES: Figures = Figures {
        requests_per_second: 1_234_567.8,
        p50_us: 21.4,
        p99_us: 99.6,
        client_allocations: 0.0,
        server_allocations: 0.001,
        process_allocations: 12.345,
        wire: Wire { sent: 24.0, received: 20.04, fields_sent: 400, fields_received: 300 },
    };

    #[test]
    fn a_row_stands_under_its_headings() {
        let mut row = String::new();
        write_row(&mut row, Transport::Clear, 10, Some(&FIGURES), false);
        assert_eq!(row, "clear text  10  1,234,567    21   100       0  <0.01   12.35    24.0      20.0");
        for line in HEADINGS.lines().map(|line| anstream::adapter::strip_str(line).to_string()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let headings = HEADINGS.lines().nth(1).unwrap();
        for (heading, value) in
            [("in flight", "10"), ("requests/s", "567"), ("p50", "21"), ("received", "20.0")]
        {
            let end = |line: &str, word: &str| line.find(word).unwrap() + word.len();
            assert_eq!(end(headings, heading), end(&row, value), "{heading}");
        }
    }

    #[test]
    fn few_columns_are_enough_for_two_tables() {
        let mut row = String::new();
        write_row(&mut row, Transport::Clear, 10, Some(&FIGURES), true);
        assert_eq!(row, "clear text  10  1,234,567    21   100");
        let runs = [Run { transport: Transport::Tls, in_flight: 100, figures: FIGURES }];
        let table = allocations(&runs);
        assert!(table.contains("TLS        100       0  <0.01   12.35\n"), "{table}");
        let headings = anstream::adapter::strip_str(NARROW_HEADINGS).to_string();
        let table = anstream::adapter::strip_str(&table).to_string();
        assert!(headings.lines().chain(table.lines()).all(|line| line.chars().count() < 40), "{table}");
    }

    #[test]
    fn drawing_a_row_allocates_nothing() {
        let mut line = String::with_capacity(ROW_BYTES);
        let ((), counts) =
            alula_tally::counted(|| write_row(&mut line, Transport::Tls, 100, Some(&FIGURES), false));
        assert_eq!(counts.allocations, 0);
    }

    #[test]
    fn latencies_touch_no_column() {
        for (micros, text) in [(21.4, "    21"), (99_999.0, " 99999"), (132_055.0, " 132ms")] {
            let mut line = String::new();
            write_latency(&mut line, micros);
            assert_eq!(line, text);
        }
    }

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in
            [(0, "         0"), (999, "       999"), (1000, "     1,000"), (12345678901, "12,345,678,901")]
        {
            let mut line = String::new();
            write_grouped(&mut line, number, 10);
            assert_eq!(line, text);
        }
    }
}
