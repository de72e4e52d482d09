//! The servers: how each is set up, and its row.

use super::cells::{Cell, Cells, Row};
use super::check;
use super::packed;
use super::server::{Ports, Server, Way};
use crate::certificates::Certificates;
use crate::peers::{golang, h2o, nghttpd, nginx, python};
use crate::site::Site;

/// Every row, in the order of the page.
pub const ROWS: &[Row] = &[NGINX, GO, PYTHON, PYTHON_1_0, NGHTTPD, H2O];

const ALL: Cells = Cells {
    download: Cell::Checked(check::download, ""),
    gzip: Cell::Checked(check::gzip, ""),
    brotli: Cell::Checked(check::brotli, ""),
    zstd: Cell::Checked(check::zstd, ""),
    redirect: Cell::Checked(check::redirect, ""),
    range: Cell::Checked(check::range, ""),
    trailers: Cell::Checked(check::trailers, ""),
    interim: Cell::Checked(check::interim, ""),
    upload: Cell::Checked(|at, way| check::upload(at, way, "whole"), ""),
    reuse: Cell::Checked(check::reuse, ""),
};

/// nginx.
pub const NGINX: Row = Row {
    server: "nginx",
    ways: Way::ALL,
    start: start_nginx,
    cells: Cells {
        trailers: Cell::Checked(
            |at, way| check::trailed_file(at, way, "trailed/small.txt"),
            "by its directive `add_trailer`; in HTTP/1.1 the content has a length, and it sends none",
        ),
        interim: Cell::NotOffered("this version neither sends nor hands on 103"),
        upload: Cell::Checked(
            |at, way| check::upload(at, way, "behind/whole"),
            "sent back by a server behind it",
        ),
        ..ALL
    },
};

/// Go's net/http.
pub const GO: Row = Row { server: "Go", ways: Way::ALL, start: start_go, cells: ALL };

/// Python's http.server, speaking HTTP/1.1.
pub const PYTHON: Row = Row {
    server: "Python",
    ways: Way::OLD,
    start: || start_python("HTTP/1.1"),
    cells: Cells { range: Cell::NotOffered("it has no ranges"), ..ALL },
};

/// Python's http.server as it is by default, answering in HTTP/1.0.
pub const PYTHON_1_0: Row = Row {
    server: "Python, HTTP/1.0",
    ways: Way::OLD,
    start: || start_python("HTTP/1.0"),
    cells: Cells {
        range: Cell::NotOffered("it has no ranges"),
        trailers: Cell::NotOffered("HTTP/1.0 has none"),
        interim: Cell::NotOffered("HTTP/1.0 has none"),
        reuse: Cell::NotOffered("it closes after each answer"),
        ..ALL
    },
};

/// nghttpd.
pub const NGHTTPD: Row = Row {
    server: "nghttpd",
    ways: Way::NEW,
    start: start_nghttpd,
    cells: Cells {
        gzip: Cell::NotOffered("it does not say codings"),
        brotli: Cell::NotOffered("it does not say codings"),
        zstd: Cell::NotOffered("it does not say codings"),
        redirect: Cell::NotOffered("it has none"),
        range: Cell::NotOffered("it has no ranges"),
        trailers: Cell::Checked(
            |at, way| check::trailed_file(at, way, Site::SMALL),
            "by its option `--trailer`",
        ),
        interim: Cell::NotOffered("it has no 103"),
        upload: Cell::Checked(|at, way| check::upload(at, way, "echo"), "by its option `--echo-upload`"),
        reuse: Cell::NotOffered("without redirects there is no second request"),
        ..ALL
    },
};

/// h2o.
pub const H2O: Row = Row {
    server: "h2o",
    ways: Way::ALL,
    start: start_h2o,
    cells: Cells {
        trailers: Cell::NotOffered("this version neither sends nor hands on trailers"),
        interim: Cell::NotOffered("this version does not hand on interim responses"),
        upload: Cell::Checked(
            |at, way| check::upload(at, way, "behind/whole"),
            "sent back by a server behind it",
        ),
        reuse: Cell::NotOffered("it does not tell its connections"),
        ..ALL
    },
};

fn site() -> (Site, Certificates) {
    let site = Site::new();
    packed::write(&site);
    (site, Certificates::new())
}

fn start_go() -> Server {
    let (site, certificates) = site();
    let (program, clear, tls) = golang::serving(&certificates, &site);
    let ports = Ports { http1: clear, http2: clear, tls };
    Server { ports, site, certificates, programs: vec![program] }
}

fn start_python(version: &str) -> Server {
    let (site, certificates) = site();
    let (program, clear, tls) = python::serving(&certificates, &site, version);
    let ports = Ports { http1: clear, http2: clear, tls };
    Server { ports, site, certificates, programs: vec![program] }
}

fn start_nghttpd() -> Server {
    let (site, certificates) = site();
    let options = ["--echo-upload", "--trailer=x-count: 16"].map(str::to_owned).to_vec();
    let origin = nghttpd::start_with(&site, &certificates, options);
    let ports = Ports { http1: origin.clear_port(), http2: origin.clear_port(), tls: origin.tls_port() };
    Server { ports, site, certificates, programs: origin.into_programs() }
}

fn start_h2o() -> Server {
    let (site, certificates) = site();
    let (behind, port, _) = golang::serving(&certificates, &site);
    let root = site.folder().path().display().to_string();
    let coded: String = packed::CODINGS
        .iter()
        .map(|(coding, _)| {
            format!(
                "      /{coding}/:\n        file.dir: {root}/{coding}\n        header.add: \"content-encoding: {coding}\"\n"
            )
        })
        .collect();
    let paths = format!(
        "{coded}      /redirect:\n        redirect:\n          status: 302\n          url: /small.txt\n      \
         /behind/:\n        proxy.reverse.url: http://127.0.0.1:{port}/\n"
    );
    let origin = h2o::start(&site, &certificates, &paths);
    let ports = Ports { http1: origin.clear_port(), http2: origin.clear_port(), tls: origin.tls_port() };
    let mut programs = origin.into_programs();
    programs.push(behind);
    Server { ports, site, certificates, programs }
}

fn start_nginx() -> Server {
    let (site, certificates) = site();
    let (behind, port, _) = golang::serving(&certificates, &site);
    let coded: String = packed::CODINGS
        .iter()
        .map(|(coding, _)| format!("location /{coding}/ {{ add_header content-encoding {coding}; }}\n"))
        .collect();
    let http1 = crate::ports::free();
    let directives = format!(
        "listen 127.0.0.1:{http1};
        client_max_body_size 64m;
        proxy_http_version 1.1;
        location /trailed/ {{ alias {root}/; add_trailer x-count 16; }}
        location = /redirect {{ return 302 /small.txt; }}
        location = /hop {{ return 302 /hopped; }}
        location = /hopped {{
            if ($connection_requests = 2) {{ return 200 \"reused\\n\"; }}
            return 200 \"another connection\\n\";
        }}
        location /behind/ {{ proxy_pass http://127.0.0.1:{port}/; }}
        {coded}",
        root = site.folder().path().display(),
    );
    let origin = nginx::start_with(&site, &certificates, &directives);
    let ports = Ports { http1, http2: origin.clear_port(), tls: origin.tls_port() };
    let mut programs = origin.into_programs();
    programs.push(behind);
    Server { ports, site, certificates, programs }
}
