//! h2load against `alula echo`, in clear text and over TLS: no request fails.

use alula_conformance::alula::{Echo, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::load::{self, Counts, Load};

const LOAD: Load<'_> = Load { requests: 20_000, connections: 8, streams: 32, body: None };

#[test]
fn no_request_fails() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let mut echo = Echo::start(&certificates);
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        assert_eq!(load::run(LOAD, &echo.url(&reach, "")), Counts::all_succeeded(LOAD), "{reach:?}");
        assert!(echo.is_running(), "the load ended the server");
    }
}
