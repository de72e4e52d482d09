//! Users that are replaced while the store serves, and what is remembered of them.

use alula_store::access::{Access, hash_password};

use crate::served::{PASSWORD, Served, user, user_with, users};

const KEY: &str = "/buckets/b/keys/k";

#[tokio::test]
async fn a_reload_counts_at_once() {
    let served = Served::start(&user_with("ann", &["get"])).await;
    for client in served.clients() {
        served.access.replace(users(&user_with("ann", &["get"]))).unwrap();
        assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 404);
        assert_eq!(served.access.verified(), 1);
        // Another permission.
        served.access.replace(users(&user_with("ann", &["put"]))).unwrap();
        assert_eq!(served.access.verified(), 0, "what was found right is forgotten");
        assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 403);
        // Another password, over a connection that is open.
        let hash = hash_password(b"another").unwrap();
        served.access.replace(users(&format!("[users.ann]\npassword = '{hash}'\n"))).unwrap();
        assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 401);
        // No such user.
        served.access.replace(users(&user_with("bob", &["get"]))).unwrap();
        assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 401);
        assert_eq!(served.ask(&client, "bob", "GET", KEY).await.status(), 404);
    }
}

/// A store behind a proxy that ends TLS.
#[tokio::test]
async fn clear_text_is_taken_where_it_was_asked_for() {
    let access = Access::in_clear_text(users(&user_with("ann", &["get"]))).unwrap();
    let served = Served::with(access).await;
    let client = alula::Client::new().unwrap();
    let url = served.http(KEY);
    assert_eq!(client.get(&*url).send().await.unwrap().status(), 401);
    assert_eq!(client.get(&*url).basic_auth("ann", PASSWORD).send().await.unwrap().status(), 404);
    assert_eq!(served.ask(&served.clients()[1], "ann", "GET", KEY).await.status(), 404);
}

/// Each user has a rate of their own, whatever connection a request comes by.
#[tokio::test]
async fn a_user_has_a_rate() {
    let served =
        Served::start(&(user("slow", "requests-per-second = 1\nburst = 2") + &user_with("fast", &["get"])))
            .await;
    let [one, two] = served.clients();
    for client in [&one, &two] {
        assert_eq!(served.ask(client, "slow", "GET", "/ping").await.status(), 200);
    }
    // One a second comes back; what is asked at once exceeds it.
    let mut refused = None;
    for _ in 0..50 {
        let response = served.ask(&two, "slow", "GET", "/ping").await;
        if response.status() == 429 {
            refused = Some(response);
            break;
        }
    }
    let refused = refused.expect("a refusal among fifty requests at once");
    assert_eq!(refused.headers().text("retry-after"), Some("1"));
    assert_eq!(served.ask(&two, "fast", "GET", KEY).await.status(), 404, "others have rates of their own");
    served.access.replace(users(&user("slow", "requests-per-second = 1\nburst = 2"))).unwrap();
    assert_eq!(served.ask(&two, "slow", "GET", "/ping").await.status(), 200, "a reload begins anew");
}

/// A peer that guesses is told to wait, and what it was let in with before goes on.
#[tokio::test]
async fn a_peer_that_guesses_waits() {
    let served = Served::start(&user_with("ann", &["get"])).await;
    let [_, client] = served.clients();
    assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 404);
    let mut refused = None;
    for number in 0..200 {
        let call = client.get(served.https(KEY)).basic_auth("ann", &number.to_string());
        let response = call.send().await.unwrap();
        if response.status() != 401 {
            refused = Some(response);
            break;
        }
    }
    let refused = refused.expect("a refusal among two hundred guesses");
    assert_eq!((refused.status().as_u16(), refused.headers().text("retry-after")), (429, Some("1")));
    let hashes = served.access.hashes().0;
    assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 404);
    assert_eq!(served.access.hashes().0, hashes);
}
