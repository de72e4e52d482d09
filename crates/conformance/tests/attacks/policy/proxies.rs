//! A proxy that whoever asks a CGI program has named (CVE-2016-5385).

use std::{process::Command, time::Duration};

use alula_conformance::attack::ByItself;
use alula_conformance::{environment, outcome};

use super::site::{Answer, Site};

/// The number of requests that the proxy and the server get.
fn asked(proxy: &Site, site: &Site, variables: &[(&str, &str)]) -> (usize, usize) {
    let mut command = Command::new(environment::program());
    command.env_clear().env("HTTP_PROXY", &proxy.origin).envs(variables.iter().copied());
    command.arg("get").arg(site.url("/"));
    let _ = outcome::run(&mut command, Duration::from_secs(20)).expect_success();
    (proxy.take_seen().len(), site.take_seen().len())
}

#[test]
fn httpoxy() {
    let (proxy, site) = (Site::start(|_| Answer::new(200)), Site::start(|_| Answer::new(200)));
    assert_eq!(asked(&proxy, &site, &[("REQUEST_METHOD", "GET")]), (0, 1));
    // Elsewhere whoever runs the program has set it.
    assert_eq!(asked(&proxy, &site, &[]), (1, 0));
    let told = "the response, from the server itself";
    ByItself::check("`HTTP_PROXY` in a CGI program", "`REQUEST_METHOD` in the environment", told);
}
