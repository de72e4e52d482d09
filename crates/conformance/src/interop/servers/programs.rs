//! Servers that are programs of ours on other people's HTTP/2: they answer what
//! [`routes`](crate::interop::routes) says.

use super::Served;
use crate::interop::fetching::{self, FAREWELL};
use crate::interop::matrix::{Cell, Cells, Row};
use crate::interop::routes;
use crate::interop::session::Answer;
use crate::peers::{golang, hyper, node};

const COMMON: Cells<Served> = Cells {
    download: Cell::Checked(fetching::downloads, ""),
    upload: Cell::Checked(|at, way| fetching::upload(at, way, "echo"), ""),
    response_trailers: Cell::Checked(fetching::announced_trailers, ""),
    request_trailers: Cell::Checked(fetching::sent_trailers, ""),
    interim: Cell::Checked(fetching::hints, ""),
    server_resets: Cell::Checked(|at, way| fetching::server_resets(at, way, "reset"), ""),
    client_resets: Cell::Checked(
        |at, way| fetching::client_resets(at, way, &format!("big?n={}", routes::BIG_BYTES)),
        "",
    ),
    goaway: Cell::Checked(|at, way| fetching::goaway(at, way, &FAREWELL), ""),
    large_request: Cell::Checked(fetching::large_request, ""),
    large_response: Cell::Checked(
        |at, way| {
            let count = |answer: &Answer| fetching::large_ones(&answer.fields);
            fetching::large_response(at, way, &routes::large_response(), count);
        },
        "",
    ),
    many: Cell::Checked(fetching::many, ""),
};

/// Go's net/http.
pub const GO: Row<Served> = Row { peer: "Go", cells: COMMON };

/// hyper, in the test's own process.
pub const HYPER: Row<Served> = Row {
    peer: "hyper",
    cells: Cells {
        interim: Cell::NotOffered("its servers have no means to send interim responses in HTTP/2"),
        ..COMMON
    },
};

/// Node's http2.
pub const NODE: Row<Served> = Row { peer: "Node", cells: COMMON };

/// Starts the Go program.
#[must_use]
pub fn serve_go() -> Served {
    Served::start(|_, certificates| golang::start(certificates))
}

/// Starts hyper.
#[must_use]
pub fn serve_hyper() -> Served {
    Served::start(|_, certificates| hyper::start(certificates))
}

/// Starts the Node program.
#[must_use]
pub fn serve_node() -> Served {
    Served::start(|_, certificates| node::start(certificates))
}
