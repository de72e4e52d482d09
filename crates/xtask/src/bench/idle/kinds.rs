//! The kinds of connections that are measured, and the goals.

use std::collections::BTreeMap;

use super::super::holding::{Kind, Who};

/// Rows with the same columns.
pub(super) struct Table {
    pub(super) title: &'static str,
    /// Said below the title.
    pub(super) text: &'static str,
    pub(super) who: &'static [Who],
    pub(super) rows: Vec<Row>,
    /// Returns the most that Alula may hold.
    pub(super) goal: fn(&Row) -> Option<f64>,
}

/// Connections of one kind, used in one way.
pub(super) struct Row {
    pub(super) title: String,
    pub(super) kind: Kind,
    /// As `examples/idle` of `crates/bench` has it.
    pub(super) used: &'static str,
    pub(super) is_client: bool,
    pub(super) connections: u64,
    /// By connection.
    pub(super) octets: BTreeMap<Who, f64>,
}

/// The connections of a row, where nothing else is said.
const MANY: u64 = 4000;

/// The connections that are half open.
const HALF_OPEN: u64 = 300;

/// The connections with streams that are stalled.
const STALLED: u64 = 20;

/// The octets of HPACK's tables that the request of `examples/idle` fills (RFC 7541 §4.1), and those that Alula's answer does.
const TABLE: f64 = 193.0;

const SERVERS: &[Who] = &[Who::Alula, Who::Rustls, Who::Hyper, Who::Nginx];
const OTHERS: &[Who] = &[Who::Alula, Who::Hyper, Who::Nginx];
const CLIENTS: &[Who] = &[Who::Alula, Who::Rustls, Who::Hyper];

impl Row {
    fn new(kind: Kind, used: &'static str, connections: u64) -> Self {
        let title = format!("{}, {}", kind.label(), title(used));
        Self { title, kind, used, is_client: false, connections, octets: BTreeMap::new() }
    }

    fn client(kind: Kind, used: &'static str) -> Self {
        Self { is_client: true, ..Self::new(kind, used, MANY) }
    }

    /// Bare rustls has no clear text, and connections of Alula's client are opened by requests.
    pub(super) fn has(&self, who: Who) -> bool {
        match who {
            Who::Rustls => self.kind.is_secure,
            Who::Alula => !(self.is_client && self.used == "unused"),
            _ => true,
        }
    }
}

fn title(used: &str) -> &'static str {
    match used {
        "unused" => "unused",
        "once" => "used once",
        "half" => "half a head or preface",
        _ => "100 stalled streams",
    }
}

/// Everything that is measured.
pub(super) fn tables() -> Vec<Table> {
    let eight = || Kind::all().flat_map(|kind| ["unused", "once"].map(|used| (kind, used)));
    let clear = |is_http2| Kind { is_http2, is_secure: false };
    let http2 = |is_secure| Kind { is_http2: true, is_secure };
    vec![
        Table {
            title: "Servers",
            text: "4,000 connections; octets of each.",
            who: SERVERS,
            rows: eight().map(|(kind, used)| Row::new(kind, used, MANY)).collect(),
            goal: of_a_connection,
        },
        Table {
            title: "Servers with half-open connections",
            text: "300 connections; octets of each. The goal is 1 MiB for all.",
            who: OTHERS,
            rows: vec![
                Row::new(clear(false), "unused", HALF_OPEN),
                Row::new(clear(false), "half", HALF_OPEN),
                Row::new(clear(true), "half", HALF_OPEN),
            ],
            goal: |_| Some(1024.0 * 1024.0 / HALF_OPEN as f64),
        },
        Table {
            title: "Servers with stalled streams",
            text: "20 connections, each with 100 streams whose answer of 1 KiB waits for a window that stays shut; octets of each connection.",
            who: OTHERS,
            rows: [false, true].map(|is_secure| Row::new(http2(is_secure), "stalled", STALLED)).into(),
            goal: |_| None,
        },
        Table {
            title: "Clients",
            text: "4,000 connections; octets of each. Each of Alula's is to an origin of its own, which a pool keeps; those of hyper and rustls are in no pool.",
            who: CLIENTS,
            rows: eight().map(|(kind, used)| Row::client(kind, used)).collect(),
            goal: of_a_connection,
        },
    ]
}

/// 4 KiB over HTTP/1.1, 8 KiB and the tables over HTTP/2; over TLS 4 KiB more than rustls alone.
fn of_a_connection(row: &Row) -> Option<f64> {
    let table = if row.used == "once" { TABLE } else { 0.0 };
    match (row.kind.is_secure, row.kind.is_http2) {
        (true, _) => row.octets.get(&Who::Rustls).map(|bare| bare + 4096.0),
        (false, true) => Some(8192.0 + table),
        (false, false) => Some(4096.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_clients_have_eight_kinds() {
        let tables = tables();
        assert_eq!((tables[0].rows.len(), tables[3].rows.len()), (8, 8));
        assert!(tables[0].rows.iter().all(|row| row.has(Who::Alula) && row.connections == MANY));
    }

    #[test]
    fn the_goal_over_tls_is_above_what_rustls_holds() {
        let mut row = Row::new(Kind { is_http2: true, is_secure: true }, "once", MANY);
        assert_eq!(of_a_connection(&row), None);
        row.octets.insert(Who::Rustls, 5000.0);
        assert_eq!(of_a_connection(&row), Some(9096.0));
    }
}
