//! The proxies that the environment names. It is set for a process of its own each time.

use std::net::SocketAddr;

use alula_client::Client;

use crate::support::peer::{get, listen};

/// The test that runs itself in other processes, by its name.
const THIS: &str = "connecting::environment::a_client_that_is_told_nothing_goes_by_the_environment";
/// What tells such a process from the first.
const IS_CHILD: &str = "ALULA_TEST_MAKES_ONE_CALL";

/// Returns true if a process with these variables is answered, through whom it may be.
async fn is_answered(variables: Vec<(&'static str, String)>) -> bool {
    let child = move || {
        let mut child = alula_testkit::again(THIS);
        for name in
            ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "REQUEST_METHOD"]
        {
            child.env_remove(name);
        }
        child.env(IS_CHILD, "1").envs(variables).output()
    };
    tokio::task::spawn_blocking(child).await.unwrap().unwrap().status.success()
}

#[tokio::test]
async fn a_client_that_is_told_nothing_goes_by_the_environment() {
    if std::env::var_os(IS_CHILD).is_some() {
        let client = Client::new().unwrap();
        get(&client, "http://nobody.invalid/").await.unwrap();
        return;
    }
    let (at, heads) = listen().await;
    let proxy = format!("http://{at}");
    let with = |pairs: &[(&'static str, &str)]| {
        is_answered(pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
    };
    assert!(with(&[("http_proxy", &proxy)]).await);
    assert!(with(&[("ALL_PROXY", &proxy), ("no_proxy", "example.com")]).await);
    assert!(heads.take().iter().all(|head| head.starts_with("GET http://nobody.invalid/ HTTP/1.1\r\n")));
    assert!(!with(&[]).await);
    assert!(!with(&[("http_proxy", &proxy), ("NO_PROXY", ".invalid")]).await);
    assert!(!with(&[("HTTP_PROXY", &proxy), ("REQUEST_METHOD", "GET")]).await);
    assert!(!with(&[("http_proxy", "gopher://a.example")]).await);
    assert!(heads.take().is_empty());
}

#[tokio::test]
async fn the_environment_is_not_asked_when_something_was_said() {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    let (at, _) = listen().await;
    let builder = Client::builder().proxy(alula_client::Proxy::all(&format!("http://{nowhere}")).unwrap());
    let client = builder.no_proxy().resolve("nobody.invalid", 80, [at]).build().unwrap();
    assert_eq!(get(&client, "http://nobody.invalid/").await.unwrap(), "hello");
}
