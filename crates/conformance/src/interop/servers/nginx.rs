//! nginx: files, and a Go program behind it for what it does not have itself.

use std::path::Path;

use super::Served;
use crate::interop::fetching::{self, Farewell};
use crate::interop::matrix::{Cell, Cells, Row};
use crate::interop::routes::{self, SMALL, TRAILERS};
use crate::interop::session::Answer;
use crate::interop::way::Way;
use crate::peers::{golang, nginx};
use crate::site::Site;

/// Its row.
pub const NGINX: Row<Served> = Row {
    peer: "nginx",
    cells: Cells {
        download: Cell::Checked(fetching::site, ""),
        upload: Cell::Checked(
            |at, way| fetching::upload(at, way, "behind/whole"),
            "sent back by a server behind it",
        ),
        response_trailers: Cell::Checked(
            |at, way| fetching::trailers(at, way, "trailed/small.txt", SMALL),
            "by its directive `add_trailer`",
        ),
        request_trailers: Cell::NotOffered(
            "this version answers them with GOAWAY and PROTOCOL_ERROR, whoever sends them",
        ),
        interim: Cell::NotOffered("this version neither sends nor hands on interim responses in HTTP/2"),
        server_resets: Cell::Checked(
            |at, way| fetching::server_resets(at, way, "streamed/reset"),
            "when the server behind it breaks off",
        ),
        client_resets: Cell::Checked(|at, way| fetching::client_resets(at, way, Site::BIG), ""),
        goaway: Cell::Checked(goaway, "after `keepalive_requests`"),
        large_request: Cell::Checked(
            |at, way| {
                let (_, last) = routes::large_fields().pop().expect("there are some");
                fetching::large_request_in_one_frame(at, way, "last-field", last.as_bytes());
            },
            "in one HEADERS frame, since it allows frames of 16 MiB; the last of the fields is sent back",
        ),
        large_response: Cell::Checked(
            |at, way| {
                let count = |answer: &Answer| fetching::large_ones(&answer.fields);
                fetching::large_response(at, way, "large/small.txt", count);
            },
            "by its directive `add_header`",
        ),
        many: Cell::Checked(fetching::many, ""),
    },
};

/// Starts it.
#[must_use]
pub fn serve() -> Served {
    serve_with("keepalive_requests 10000;")
}

/// One more request than these many gets a new connection.
fn goaway(_: &Served, way: Way) {
    const FAREWELL: Farewell = Farewell {
        wait: "streamed/wait",
        triggers: &[(Site::SMALL, SMALL), (Site::EMPTY, "")],
        release: "streamed/release",
    };
    fetching::goaway(&serve_with("keepalive_requests 3;"), way, &FAREWELL);
}

fn serve_with(directive: &str) -> Served {
    let mut behind = None;
    let mut served = Served::start(|site, certificates| {
        let go = golang::start_http1_only(certificates);
        let server = format!("{directive}\n{}", directives(site.folder().path(), go.clear_port()));
        behind = Some(go);
        nginx::start_with(site, certificates, &server)
    });
    served.behind = behind;
    served
}

fn directives(root: &Path, behind: u16) -> String {
    let each = |directive: &str, fields: &[(String, String)]| -> String {
        fields.iter().map(|(name, value)| format!("{directive} {name} \"{value}\";\n")).collect()
    };
    let trailers = TRAILERS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let large = routes::large_fields();
    let last = routes::LARGE_FIELDS - 1;
    format!(
        "large_client_header_buffers 4 64k;
        client_max_body_size 64m;
        proxy_http_version 1.1;
        location /behind/ {{ proxy_pass http://127.0.0.1:{behind}/; }}
        location /streamed/ {{ proxy_pass http://127.0.0.1:{behind}/; proxy_buffering off; }}
        location /trailed/ {{ alias {root}/; {trailers} }}
        location /large/ {{ alias {root}/; {large} }}
        location /last-field {{ return 200 \"$http_x_sent_{last}\"; }}",
        root = root.display(),
        trailers = each("add_trailer", &trailers),
        large = each("add_header", &large),
    )
}
