//! The peers do what the other tests suppose of them, as curl sees it: where one does not, look here first.

use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::peers::{Origin, curl, golang, nghttpd, nginx};
use alula_conformance::site::{Site, assert_same};

#[test]
fn static_servers_serve_the_site() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    for origin in [nghttpd::start(&site, &certificates), nginx::start(&site, &certificates)] {
        for reach in Origin::ways(&certificates) {
            for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
                let outcome = curl::fetch(&origin.url(&reach, file), &reach, &[]).expect_success();
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
        let trailers =
            curl::fetch(&go.url(&reach, "trailers"), &reach, &["--include"]).expect_success().text();
        assert!(trailers.contains("trailer: X-Checksum"), "{trailers}");
        let hints = curl::fetch(&go.url(&reach, "interim"), &reach, &["--include"]).expect_success().text();
        assert!(hints.contains("HTTP/2 103") && hints.contains("HTTP/2 200"), "{hints}");
        let echoed = curl::fetch(&go.url(&reach, "echo"), &reach, &["--data", "over and back"])
            .expect_success()
            .text();
        assert_eq!(echoed, "over and back");
        let last = curl::fetch(&go.url(&reach, "goaway"), &reach, &[]).expect_success().text();
        assert_eq!(last, "the last answer\n");
        const RESET: Option<i32> = Some(92);
        assert_eq!(curl::fetch(&go.url(&reach, "reset"), &reach, &[]).code, RESET);
    }
}
