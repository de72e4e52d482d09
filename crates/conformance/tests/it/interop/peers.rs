//! The peers do what the other tests suppose of them, as curl sees it: where one does not, look here first.

use alula_conformance::alula::Reach;
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::peers::{Origin, curl, golang, h2o, hyper, nghttpd, nginx, node};
use alula_conformance::site::{Site, assert_same};

#[test]
fn static_servers_serve_the_site() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    let nghttpd = nghttpd::start(&site, &certificates);
    let (nginx, h2o) = (nginx::start(&site, &certificates), h2o::start(&site, &certificates, ""));
    for origin in [nghttpd, nginx, h2o] {
        for reach in Origin::ways(&certificates) {
            for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
                let outcome = curl::fetch(&origin.url(&reach, file), &reach, &[]).expect_success();
                assert_same(&outcome.stdout, &Site::content(file), origin.name);
            }
        }
    }
}

#[test]
fn the_go_server_does_all_there_is() {
    with(golang::start, |origin, reach| {
        has_trailers_and_takes_its_leave(origin, reach);
        has_hints(origin, reach);
    });
}

#[test]
fn the_node_server_does_all_there_is() {
    with(node::start, |origin, reach| {
        has_trailers_and_takes_its_leave(origin, reach);
        has_hints(origin, reach);
    });
}

#[test]
fn hyper_does_all_but_hints() {
    with(hyper::start, has_trailers_and_takes_its_leave);
}

fn with(start: fn(&Certificates) -> Origin, test: impl Fn(&Origin, &Reach<'_>)) {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let origin = start(&certificates);
    Origin::ways(&certificates).iter().for_each(|reach| test(&origin, reach));
}

fn has_trailers_and_takes_its_leave(origin: &Origin, reach: &Reach<'_>) {
    let fetch = |path: &str, more: &[&str]| curl::fetch(&origin.url(reach, path), reach, more);
    // Where the length of the content is stated, curl may be done before the trailers have come: then their announcement
    // has to do.
    let trailers = fetch("trailers", &["--include"]).expect_success().text().to_lowercase();
    assert!(trailers.contains("x-checksum"), "{trailers}");
    let echoed = fetch("echo", &["--data", "over and back"]).expect_success().text();
    assert_eq!(echoed, "over and back");
    assert_eq!(fetch("goaway", &[]).expect_success().text(), "the last answer\n");
    const RESET: Option<i32> = Some(92);
    assert_eq!(fetch("reset", &[]).code, RESET);
}

fn has_hints(origin: &Origin, reach: &Reach<'_>) {
    let hints = curl::fetch(&origin.url(reach, "interim"), reach, &["--include"]).expect_success().text();
    assert!(hints.contains("HTTP/2 103") && hints.contains("HTTP/2 200"), "{hints}");
}
