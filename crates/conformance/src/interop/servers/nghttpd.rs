//! nghttpd: files, content sent back, trailers on every response that has content.

use super::Served;
use crate::interop::fetching;
use crate::interop::matrix::{Cell, Cells, Row};
use crate::interop::routes::{self, SMALL, TRAILERS};
use crate::interop::way::Way;
use crate::peers::nghttpd;
use crate::site::Site;

/// Its row.
pub const NGHTTPD: Row<Served> = Row {
    peer: "nghttpd",
    cells: Cells {
        download: Cell::Checked(fetching::site, ""),
        upload: Cell::Checked(|at, way| fetching::upload(at, way, "echo"), "by its option `--echo-upload`"),
        response_trailers: Cell::Checked(
            |at, way| fetching::trailers(at, way, Site::SMALL, SMALL),
            "by its option `--trailer`",
        ),
        request_trailers: Cell::Checked(
            |at, way| fetching::unseen_trailers(at, way, "echo"),
            "it takes them and does not show them: the content that came before them is sent back whole",
        ),
        interim: Cell::Checked(
            |at, way| fetching::goes_on(at, way, "echo"),
            "one response of 100, to `expect: 100-continue`, instead of two of 103",
        ),
        server_resets: Cell::NotOffered("it never breaks a content off"),
        client_resets: Cell::Checked(|at, way| fetching::client_resets(at, way, Site::BIG), ""),
        goaway: Cell::NotOffered("it sends GOAWAY together with the end of the connection only"),
        large_request: Cell::Checked(
            |at, way| fetching::shown_large_request(at, way, Site::SMALL, &Site::content(Site::SMALL)),
            "it takes the fields and does not show them",
        ),
        large_response: Cell::Checked(
            large_trailers,
            "they are its trailers: it sends no other fields of our choice",
        ),
        many: Cell::Checked(fetching::many, ""),
    },
};

/// Starts it.
#[must_use]
pub fn serve() -> Served {
    let options = TRAILERS.map(|(name, value)| format!("--trailer={name}: {value}"));
    let options = options.into_iter().chain(["--echo-upload".to_owned()]).collect();
    Served::start(|site, certificates| nghttpd::start_with(site, certificates, options))
}

fn large_trailers(_: &Served, way: Way) {
    let fields = routes::large_fields().into_iter();
    let options = fields.map(|(name, value)| format!("--trailer={name}: {value}")).collect();
    let at = Served::start(|site, certificates| nghttpd::start_with(site, certificates, options));
    fetching::large_response(&at, way, Site::SMALL, |answer| fetching::large_ones(&answer.trailers));
}
