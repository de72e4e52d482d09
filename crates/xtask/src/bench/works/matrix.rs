//! The matrix of what servers are asked for, by whom, and in which ways.

/// The work of a server for each request.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Work {
    Memory,
    Json,
    File,
}

/// A server, as it is called in tables.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Who {
    Alula,
    /// The program, which has but one work.
    AlulaServe,
    Hyper,
    Axum,
    Go,
    Nginx,
    H2o,
}

/// The program that makes the requests, and its version of HTTP.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Generator {
    H2loadHttp2,
    H2loadHttp1,
    Wrk,
}

/// One way of asking for one work: all servers that have the work are asked in the same way.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Cell {
    pub(super) work: Work,
    pub(super) generator: Generator,
    pub(super) is_secure: bool,
    /// Each request names another of a thousand things.
    pub(super) varies: bool,
    pub(super) connections: u64,
    /// On each connection; over HTTP/1.1 so many are sent at once.
    pub(super) in_flight: u64,
}

impl Work {
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Json, Self::File];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Json => "json",
            Self::File => "file",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Memory => "1 KiB from memory",
            Self::Json => "JSON by one of 40 routes",
            Self::File => "A file of 1 KiB",
        }
    }

    /// The path that is asked for, one of so many.
    pub(super) fn path(self, number: u64) -> String {
        match self {
            Self::Memory => format!("/memory?id={number}"),
            Self::Json => format!("/lists/hello-world/items/{number}"),
            Self::File => format!("/kib.txt?id={number}"),
        }
    }
}

impl Who {
    pub(super) const ALL: [Self; 7] =
        [Self::Alula, Self::AlulaServe, Self::Hyper, Self::Axum, Self::Go, Self::Nginx, Self::H2o];

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Alula => "Alula",
            Self::AlulaServe => "`alula serve`",
            Self::Hyper => "hyper",
            Self::Axum => "axum",
            Self::Go => "Go",
            Self::Nginx => "nginx",
            Self::H2o => "h2o",
        }
    }

    /// As `--only` names it.
    pub(super) fn is_named(self, name: &str) -> bool {
        self.label().eq_ignore_ascii_case(name)
    }

    pub(super) const fn is_ours(self) -> bool {
        matches!(self, Self::Alula | Self::AlulaServe)
    }

    /// nginx and h2o are asked for JSON in nobody's benchmark, and content from memory is a script of Ruby in h2o.
    pub(super) const fn has(self, work: Work) -> bool {
        match work {
            Work::Memory => !matches!(self, Self::AlulaServe),
            Work::Json => matches!(self, Self::Alula | Self::Hyper | Self::Axum | Self::Go),
            Work::File => true,
        }
    }
}

impl Generator {
    pub(super) const ALL: [Self; 3] = [Self::H2loadHttp2, Self::H2loadHttp1, Self::Wrk];

    pub(super) const fn is_http1(self) -> bool {
        !matches!(self, Self::H2loadHttp2)
    }

    const fn label(self) -> &'static str {
        match self {
            Self::H2loadHttp2 => "HTTP/2, h2load",
            Self::H2loadHttp1 => "HTTP/1.1, h2load",
            Self::Wrk => "HTTP/1.1, wrk",
        }
    }
}

impl Cell {
    /// Returns true if a server can answer more requests than the load can count: more than a million in a second of wrk on one connection.
    pub(super) fn can_outrun_its_load(&self) -> bool {
        self.generator == Generator::Wrk && self.connections == 1 && self.in_flight > 1
    }

    /// `HTTP/2, h2load, TLS, 10 × 32, varied`.
    pub(super) fn label(&self) -> String {
        let Self { generator, is_secure, varies, connections, in_flight, .. } = *self;
        let security = if is_secure { "TLS" } else { "clear text" };
        let varied = if varies { ", varied" } else { "" };
        format!("{}, {security}, {connections} × {in_flight}{varied}", generator.label())
    }

    /// The number of requests; slow servers need a second for them.
    pub(super) const fn requests(&self) -> u64 {
        match (self.connections, self.in_flight) {
            (1, 1) => 6_000,
            (_, 1) => 12_000,
            _ => 32_000,
        }
    }
}

/// Every way of a whole run, or those of a quick one.
pub(super) fn cells(is_quick: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for work in Work::ALL {
        for generator in Generator::ALL {
            for is_secure in [false, true] {
                for connections in [1, 10, 100] {
                    for in_flight in [1, 32] {
                        for varies in [false, true] {
                            cells.push(Cell { work, generator, is_secure, varies, connections, in_flight });
                        }
                    }
                }
            }
        }
    }
    cells.retain(|cell| is_measurable(cell) && (!is_quick || is_quick_one(cell)));
    cells
}

/// wrk ends by its clock, and forgets what is then in flight: too much of what slow servers have answered.
fn is_measurable(cell: &Cell) -> bool {
    cell.generator != Generator::Wrk || cell.connections * cell.in_flight < 1000
}

/// All works in all ways on ten connections, what varies where it changes the work, and other numbers of connections for one work.
fn is_quick_one(cell: &Cell) -> bool {
    let is_middle = cell.connections == 10 && (!cell.varies || cell.work == Work::Json);
    let is_beside =
        cell.work == Work::Memory && cell.generator != Generator::Wrk && !cell.is_secure && !cell.varies;
    is_middle || is_beside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_every_server_work_and_generator() {
        let cells = cells(true);
        for who in Who::ALL {
            assert!(cells.iter().any(|cell| who.has(cell.work)), "{who:?}");
        }
        for work in Work::ALL {
            for generator in Generator::ALL {
                for (is_secure, in_flight) in [(false, 1), (false, 32), (true, 1), (true, 32)] {
                    let is_it = |cell: &&Cell| {
                        (cell.work, cell.generator, cell.is_secure) == (work, generator, is_secure)
                            && (cell.connections, cell.in_flight) == (10, in_flight)
                    };
                    assert!(cells.iter().any(|cell| is_it(&cell)), "{work:?} {generator:?}");
                }
            }
        }
    }

    #[test]
    fn a_whole_run_has_all_of_a_quick_one_and_each_cell_once() {
        let (whole, quick) = (cells(false), cells(true));
        assert!(quick.iter().all(|cell| whole.contains(cell)) && whole.len() > 3 * quick.len());
        let mut sorted = whole.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), whole.len());
    }
}
