//! The clients our server is tried with: their rows of the matrix.

use super::matrix::{Cell, Cells, Row};
use super::serving::{self, Serving};
use super::tools;
use crate::alula::Reach;
use crate::peers::driven::{Ask, Driven, LineClient, Told};
use crate::peers::{golang, httpx, hyper, node};

/// Every row, in the order of the page.
pub const ROWS: &[&Row<Serving>] =
    &[&tools::NGHTTP, &tools::H2LOAD, &tools::CURL, &GO, &HYPER, &NODE, &HTTPX];

const fn cells<D: Driven>() -> Cells<Serving> {
    Cells {
        download: Cell::Checked(serving::download::<D>, ""),
        upload: Cell::Checked(serving::upload::<D>, ""),
        response_trailers: Cell::Checked(serving::response_trailers::<D>, ""),
        request_trailers: Cell::Checked(serving::request_trailers::<D>, ""),
        interim: Cell::Checked(serving::interim::<D>, ""),
        server_resets: Cell::Checked(serving::server_resets::<D>, ""),
        client_resets: Cell::Checked(serving::client_resets::<D>, ""),
        goaway: Cell::Checked(serving::goaway::<D>, ""),
        large_request: Cell::Checked(
            serving::large_request::<D>,
            "with 431 from a server with the default limits",
        ),
        large_response: Cell::Checked(serving::large_response::<D>, ""),
        many: Cell::Checked(serving::many::<D>, ""),
    }
}

/// Go's net/http.
pub const GO: Row<Serving> = Row {
    peer: "Go",
    cells: Cells {
        large_request: Cell::Checked(
            serving::large_request::<Go>,
            "it does not send them to a server with the default limits, which that one announces",
        ),
        ..cells::<Go>()
    },
};

/// hyper, in the test's own process.
pub const HYPER: Row<Serving> = Row {
    peer: "hyper",
    cells: Cells {
        interim: Cell::Checked(
            serving::unseen_interim::<hyper::Client>,
            "it takes them and does not show them: the response after them is whole",
        ),
        ..cells::<hyper::Client>()
    },
};

/// Node's http2.
pub const NODE: Row<Serving> = Row { peer: "Node", cells: cells::<Node>() };

/// Python's httpx.
pub const HTTPX: Row<Serving> = Row {
    peer: "httpx",
    cells: Cells {
        response_trailers: Cell::Checked(
            serving::unseen_response_trailers::<Httpx>,
            "it takes them and does not show them: the content before them is whole",
        ),
        request_trailers: Cell::NotOffered("it has no means to send trailers"),
        interim: Cell::Checked(
            serving::unseen_interim::<Httpx>,
            "it takes them and does not show them: the response after them is whole",
        ),
        client_resets: Cell::NotOffered("it stops reading and sends no RST_STREAM"),
        goaway: Cell::Checked(
            serving::goaway_that_loses::<Httpx>,
            "its HTTP/2 library takes no frame after GOAWAY, so that the request in flight is lost with any server; the next \
             one goes on a new connection",
        ),
        ..cells::<Httpx>()
    },
};

/// A client program, told line by line.
macro_rules! told_by_lines {
    ($name:ident, $command:path) => {
        struct $name(LineClient);

        impl Driven for $name {
            fn start(base: &str, reach: &Reach<'_>) -> Self {
                Self(LineClient::start($command(), base, reach))
            }

            fn ask(&mut self, ask: &Ask) -> Told {
                self.0.ask(ask)
            }
        }
    };
}

told_by_lines!(Go, golang::client);
told_by_lines!(Node, node::client);
told_by_lines!(Httpx, httpx::client);
