//! h2o: files, and a Go program behind it for what it does not have itself.

use super::Served;
use crate::interop::fetching::{self, Farewell};
use crate::interop::matrix::{Cell, Cells, Row};
use crate::interop::routes;
use crate::interop::session::Answer;
use crate::interop::way::Way;
use crate::peers::{golang, h2o};
use crate::site::Site;

/// Its row.
pub const H2O: Row<Served> = Row {
    peer: "h2o",
    cells: Cells {
        download: Cell::Checked(fetching::site, ""),
        upload: Cell::Checked(
            |at, way| fetching::upload(at, way, "behind/whole"),
            "sent back by a server behind it",
        ),
        response_trailers: Cell::NotOffered("this version neither sends nor hands on trailers"),
        request_trailers: Cell::Checked(
            |at, way| fetching::unseen_trailers(at, way, "behind/whole"),
            "it takes them and hands on the content alone, which is sent back whole",
        ),
        interim: Cell::NotOffered("this version does not hand on interim responses"),
        server_resets: Cell::Checked(
            |at, way| fetching::server_resets(at, way, "behind/reset"),
            "when the server behind it breaks off",
        ),
        client_resets: Cell::Checked(|at, way| fetching::client_resets(at, way, Site::BIG), ""),
        goaway: Cell::Checked(
            goaway,
            "told to end by SIGTERM, with another h2o in its place for the next request",
        ),
        large_request: Cell::Checked(
            |at, way| {
                let counted = routes::large_fields_received();
                fetching::shown_large_request(at, way, "behind/fields", counted.as_bytes());
            },
            "counted by a server behind it",
        ),
        large_response: Cell::Checked(
            |at, way| {
                let count = |answer: &Answer| fetching::large_ones(&answer.fields);
                fetching::large_response(at, way, "large/small.txt", count);
            },
            "by its directive `header.add`",
        ),
        many: Cell::Checked(fetching::many, ""),
    },
};

/// Starts it.
#[must_use]
pub fn serve() -> Served {
    let mut behind = None;
    let mut served = Served::start(|site, certificates| {
        let go = golang::start_http1_only(certificates);
        let origin = h2o::start(site, certificates, &paths(site, go.clear_port()));
        behind = Some(go);
        origin
    });
    served.behind = behind;
    served
}

fn goaway(_: &Served, way: Way) {
    const FAREWELL: Farewell = Farewell { wait: "behind/wait", triggers: &[], release: "behind/release" };
    let at = serve();
    let mut next = None;
    fetching::goaway_by(&at, way, &FAREWELL, |session| {
        at.origin.terminate();
        session.wait_for(alula::h2::FrameKind::GOAWAY);
        next = Some(h2o::take_over(&at.origin, &at.site));
    });
}

fn paths(site: &Site, behind: u16) -> String {
    let large: String = routes::large_fields()
        .iter()
        .map(|(name, value)| format!("        header.add: \"{name}: {value}\"\n"))
        .collect();
    format!(
        "      /behind/:
        proxy.reverse.url: http://127.0.0.1:{behind}/
      /large/:
        file.dir: {root}
{large}",
        root = site.folder().path().display(),
    )
}
