//! The peers do what the other tests suppose of them, as curl sees it: where one does not, look here first.

use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::Reach;
use alula_conformance::certificates::Certificates;
use alula_conformance::outcome::Outcome;
use alula_conformance::peers::{Origin, golang, nghttpd, nginx};
use alula_conformance::site::{Site, assert_same};
use alula_conformance::{environment, outcome};

#[test]
fn static_servers_serve_the_site() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    for origin in [nghttpd::start(&site, &certificates), nginx::start(&site, &certificates)] {
        for reach in Origin::ways(&certificates) {
            for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
                let outcome = curl(&origin, &reach, file, &[]).expect_success();
                assert_same(&outcome.stdout, &Site::content(file), origin.name);
            }
        }
    }
}

#[test]
fn the_go_server_has_trailers_hints_and_goaway() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let go = golang::start(&certificates);
    for reach in Origin::ways(&certificates) {
        // curl shows the announcement only, not the trailers themselves.
        let trailers = curl(&go, &reach, "trailers", &["--include"]).expect_success().text();
        assert!(trailers.contains("trailer: X-Checksum"), "{trailers}");
        let hints = curl(&go, &reach, "interim", &["--include"]).expect_success().text();
        assert!(hints.contains("HTTP/2 103") && hints.contains("HTTP/2 200"), "{hints}");
        let echoed = curl(&go, &reach, "echo", &["--data", "over and back"]).expect_success().text();
        assert_eq!(echoed, "over and back");
        let last = curl(&go, &reach, "goaway", &[]).expect_success().text();
        assert_eq!(last, "the last answer\n");
        const RESET: Option<i32> = Some(92);
        assert_eq!(curl(&go, &reach, "reset", &[]).code, RESET);
    }
}

fn curl(origin: &Origin, reach: &Reach<'_>, path: &str, more: &[&str]) -> Outcome {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--max-time", "20"]).args(more);
    match reach {
        Reach::Clear => command.arg("--http2-prior-knowledge"),
        Reach::Tls(certificates) => command.args(["--http2", "--cacert"]).arg(certificates.authority()),
    };
    outcome::run(command.arg(origin.url(reach, path)), Duration::from_secs(30))
}
