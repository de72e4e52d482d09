//! The matrix, our server's half: clients that other people wrote with the library's server.

use alula::h2::ErrorCode;
use alula::{Cause, Client, Error};
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::interop::matrix::Row;
use alula_conformance::interop::own_server::OwnServer;
use alula_conformance::interop::serving::Serving;
use alula_conformance::interop::way::Way;
use alula_conformance::interop::{clients, tools};

fn run(row: &Row<Serving>) {
    if !environment::no_peers() {
        row.run(&Serving::default());
    }
}

#[test]
fn nghttp() {
    run(&tools::NGHTTP);
}

#[test]
fn h2load() {
    run(&tools::H2LOAD);
}

#[test]
fn curl() {
    run(&tools::CURL);
}

#[test]
fn go() {
    run(&clients::GO);
}

#[test]
fn hyper() {
    run(&clients::HYPER);
}

#[test]
fn node() {
    run(&clients::NODE);
}

#[test]
fn httpx() {
    run(&clients::HTTPX);
}

/// Node's client told of half a response as of a whole one when the other half was given up with CANCEL, as the server did.
#[test]
fn an_answer_that_breaks_off_does_not_end_in_cancel() {
    let server = OwnServer::start(&Certificates::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let broken: Result<(), Error> = runtime.block_on(async {
        let client = Client::builder().http2_prior_knowledge(true).build()?;
        let mut response = client.get(&server.url(Way::Clear, "reset")).send().await?;
        while response.body().chunk().await?.is_some() {}
        Ok(())
    });
    let cause = broken.expect_err("it has no end").cause().clone();
    assert!(matches!(cause, Cause::Reset(ErrorCode::INTERNAL_ERROR)), "{cause}");
}
