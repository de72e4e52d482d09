//! Users that are replaced while the store serves, and what is remembered of them.

use alula_store::access::{Access, hash_password};

use crate::access::served::{PASSWORD, Served, user, user_with, users};

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
        assert_eq!(served.access.verified(), 1, "the password is the same");
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

/// A reload removes a user and changes a password while all users send requests. These two are refused from
/// then on, and no other has to be hashed anew.
#[tokio::test]
async fn a_reload_forgets_no_more_than_has_changed() {
    const USERS: [&str; 6] = ["u0", "u1", "u2", "u3", "u4", "u5"];
    let all = |names: &[&str]| names.iter().map(|name| user_with(name, &["get"])).collect::<String>();
    let served = std::sync::Arc::new(Served::start(&all(&USERS)).await);
    let [_, client] = served.clients();
    for name in USERS {
        assert_eq!(served.ask(&client, name, "GET", KEY).await.status(), 404);
    }
    let before = served.access.hashes().0;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut load = tokio::task::JoinSet::new();
    for name in &USERS[2..] {
        let (served, client, stopped) = (served.clone(), client.clone(), stopped.clone());
        load.spawn(async move {
            let mut asked = 0;
            while !*stopped.borrow() || asked < 20 {
                assert_eq!(served.ask(&client, name, "GET", KEY).await.status(), 404, "{name}");
                asked += 1;
            }
        });
    }
    // The users stand in another order as well.
    let another = hash_password(b"another").unwrap();
    let text = format!("[users.u1]\npassword = '{another}'\n") + &all(&["u5", "u4", "u3", "u2"]);
    for _ in 0..10 {
        assert_eq!(served.ask(&client, "u2", "GET", KEY).await.status(), 404);
        served.access.replace(users(&text)).unwrap();
        for name in ["u0", "u1"] {
            assert_eq!(served.ask(&client, name, "GET", KEY).await.status(), 401, "{name}");
        }
        served.access.replace(users(&text)).unwrap();
    }
    stop.send(true).unwrap();
    while let Some(done) = load.join_next().await {
        done.unwrap();
    }
    let hashes = served.access.hashes().0 - before;
    assert_eq!(hashes, 20, "wrong credentials alone were hashed");
    assert_eq!(served.access.verified(), USERS.len() - 2);
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
