//! Credentials that are right, wrong and malformed.

use alula::{Client, Version};

use alula_store::access::Access;

use crate::access::served::{PASSWORD, Served, said, user, user_with, users};

const KEY: &str = "/buckets/b/keys/k";

/// Riak §1.11: plain HTTP is 426, and the upgrade is named (RFC 9110 §15.5.22).
#[tokio::test]
async fn passwords_are_not_taken_in_clear_text() {
    let served = Served::start(&user_with("ann", &["get", "put"])).await;
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        let url = served.http(KEY);
        for call in
            [client.get(&*url), client.get(&*url).basic_auth("ann", PASSWORD), client.put(&*url).body("v")]
        {
            let response = call.send().await.unwrap();
            let fields = response.headers();
            let upgrade = (fields.text("upgrade"), fields.text("connection"));
            match response.version() {
                Version::Http2 => assert_eq!(upgrade, (None, None)),
                _ => assert_eq!(upgrade, (Some("TLS/1.2, HTTP/1.1"), Some("upgrade"))),
            }
            let (status, text) = said(response).await;
            assert_eq!(status, 426);
            assert!(text.contains("https"), "{text}");
        }
        let stats = client.get(served.http("/stats")).send().await.unwrap();
        assert_eq!(stats.status(), 200, "Riak §1.11: /stats skips authentication");
    }
    assert_eq!(served.access.hashes().0, 0, "nothing is hashed for a password in clear text");
}

/// Riak §1.11: 401 with `Basic realm="Riak"`, whatever is wrong, and nothing tells which it is.
#[tokio::test]
async fn wrong_credentials_are_all_alike() {
    let served = Served::start(&user_with("ann", &["get", "put"])).await;
    let right = basic("ann", PASSWORD);
    let wrong = [
        vec![],
        vec![String::new()],
        vec!["Basic".to_owned()],
        vec!["Basic !!!".to_owned()],
        vec!["Basic YW5u".to_owned()],
        vec![right.replace("Basic", "Bearer")],
        vec![basic("ann", "wrong")],
        vec![basic("ann", "")],
        vec![basic("", PASSWORD)],
        vec![basic("Ann", PASSWORD)],
        vec![basic("bob", PASSWORD)],
        vec![basic("ann", &"a".repeat(8_000))],
        vec![right.clone(), right.clone()],
        vec![right.clone(), basic("bob", "wrong")],
    ];
    for client in served.clients() {
        let mut texts = std::collections::BTreeSet::new();
        for fields in &wrong {
            let mut call = client.get(served.https(KEY));
            for field in fields {
                call = call.header("authorization", field);
            }
            let response = call.send().await.unwrap();
            assert_eq!(
                response.headers().text("www-authenticate"),
                Some("Basic realm=\"Riak\""),
                "{fields:?}"
            );
            let (status, text) = said(response).await;
            assert_eq!(status, 401, "{}", fields.len());
            texts.insert(text);
        }
        assert_eq!(texts.len(), 1, "{texts:?}");
        let right = served.ask(&client, "ann", "GET", KEY).await;
        assert_eq!(right.status(), 404);
    }
    assert_eq!(served.access.verified(), 1, "wrong credentials are not kept");
}

/// A name that nobody has costs a hash as one does that somebody has; right credentials cost one hash in all.
#[tokio::test]
async fn names_cost_the_same_whether_there_is_a_user_or_not() {
    let served = Served::start(&user_with("ann", &["get"])).await;
    let [client, _] = served.clients();
    let mut before = 0;
    for (user, password, hashes) in [
        ("ann", "wrong", 1),
        ("bob", "wrong", 1),
        ("bob", PASSWORD, 1),
        ("ann", PASSWORD, 1),
        ("ann", PASSWORD, 0),
        ("ann", "wrong", 1),
    ] {
        let call = client.get(served.https(KEY)).basic_auth(user, password);
        let status = call.send().await.unwrap().status();
        assert_eq!(status, if (user, password) == ("ann", PASSWORD) { 404 } else { 401 });
        let now = served.access.hashes().0;
        assert_eq!(now - before, hashes, "{user} {password}");
        before = now;
    }
}

/// Passwords are bytes, and names may be any text.
#[tokio::test]
async fn names_and_passwords_are_texts_of_any_kind() {
    let hash = alula_store::access::hash_password("p\u{e4}ss:w\u{f6}rd".as_bytes()).unwrap();
    let served = Served::start(&format!("[users.\"j\u{fc}rgen m\"]\npassword = '{hash}'\n")).await;
    for client in served.clients() {
        let call = client.get(served.https("/ping")).basic_auth("j\u{fc}rgen m", "p\u{e4}ss:w\u{f6}rd");
        assert_eq!(call.send().await.unwrap().status(), 200);
    }
}

/// A flood of wrong passwords is hashed by few threads, what is too much is answered at once, and others are
/// not held up.
#[tokio::test]
async fn a_flood_of_wrong_passwords_is_bounded() {
    let access = Access::hashing_on(1, users(&user_with("ann", &["get"]))).unwrap();
    let served = std::sync::Arc::new(Served::with(access).await);
    let [_, client] = served.clients();
    assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 404, "kept from now on");
    let mut refused = 0;
    // 21 requests are hashed or wait; the others of a batch find no place, unless the machine hashes faster
    // than it takes requests.
    for _ in 0..50 {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..60 {
            let (served, client) = (served.clone(), client.clone());
            tasks.spawn(async move {
                let call = client.get(served.https(KEY)).basic_auth("ann", &number.to_string());
                let response = call.send().await.unwrap();
                (response.status().as_u16(), response.headers().text("retry-after").map(str::to_owned))
            });
        }
        while let Some(answer) = tasks.join_next().await {
            match answer.unwrap() {
                (401, None) => {}
                (503, Some(seconds)) => {
                    assert_eq!(seconds, "1");
                    refused += 1;
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 404);
        }
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0);
    let (_, most) = served.access.hashes();
    assert_eq!(most, 1, "at once");
}

/// A flood for one name, whose peers are not told apart since they come by a proxy, shuts no other name out.
#[tokio::test]
async fn a_flood_for_one_name_shuts_no_other_out() {
    const FLOOD: usize = 200;
    let text: String = ["ann", "u0", "u1", "u2", "u3"].iter().map(|name| user_with(name, &["get"])).collect();
    let access = Access::in_clear_text(users(&text)).unwrap();
    let served = std::sync::Arc::new(Served::with(access).await);
    let [_, client] = served.clients();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut flood = tokio::task::JoinSet::new();
    let refused = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for number in 0..FLOOD {
        let (served, client) = (served.clone(), client.clone());
        let (stopped, refused) = (stopped.clone(), refused.clone());
        flood.spawn(async move {
            while !*stopped.borrow() {
                let call = client.get(served.https(KEY)).basic_auth("ann", &number.to_string());
                if call.send().await.unwrap().status() == 503 {
                    refused.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            }
        });
    }
    while refused.load(std::sync::atomic::Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    let [other, _] = served.clients();
    for name in ["u0", "u1", "u2", "u3"] {
        assert_eq!(served.ask(&other, name, "GET", KEY).await.status(), 404, "{name}");
    }
    stop.send(true).unwrap();
    while let Some(done) = flood.join_next().await {
        done.unwrap();
    }
}

/// Requests of many users, right and wrong, on one connection at once are each of their own user.
#[tokio::test]
async fn requests_of_one_connection_are_of_their_own_users() {
    const USERS: usize = 5;
    let text: String = (0..USERS)
        .map(|number| {
            user(
                &format!("u{number}"),
                &format!(
                    "[[users.u{number}.grants]]\nallow = ['get']\ntype = 'default'\nbucket = 'b{number}'"
                ),
            )
        })
        .collect();
    // All of them find a place.
    let access = Access::hashing_on(4, users(&text)).unwrap();
    let served = std::sync::Arc::new(Served::with(access).await);
    for client in served.clients() {
        let mut tasks = tokio::task::JoinSet::new();
        for (user, bucket) in (0..USERS).flat_map(|user| (0..USERS).map(move |bucket| (user, bucket))) {
            for is_right in [true, false] {
                let (served, client) = (served.clone(), client.clone());
                tasks.spawn(async move {
                    let password = if is_right { PASSWORD } else { "wrong" };
                    let expected = match (is_right, user == bucket) {
                        (false, _) => 401,
                        (true, true) => 404,
                        (true, false) => 403,
                    };
                    let url = served.https(&format!("/buckets/b{bucket}/keys/k"));
                    let call = client.get(url).basic_auth(&format!("u{user}"), password);
                    let status = call.send().await.unwrap().status();
                    assert_eq!(status, expected, "u{user} in b{bucket}, right: {is_right}");
                });
            }
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    }
    assert_eq!(served.access.verified(), USERS);
}

/// A refused write is answered before its content is there: no 100 asks for it, and none of it is waited for.
#[tokio::test]
async fn a_refused_write_is_not_read() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let text = user("ann", "") + &user_with("bob", &["put"]);
    let served = Served::with(Access::in_clear_text(users(&text)).unwrap()).await;
    for (user, expected) in [("ann", "HTTP/1.1 403 "), ("nobody", "HTTP/1.1 401 "), ("bob", "HTTP/1.1 100 ")]
    {
        for expectation in ["expect: 100-continue\r\n", ""] {
            let mut socket = tokio::net::TcpStream::connect(served.address()).await.unwrap();
            let credentials = basic(user, PASSWORD);
            let head = format!(
                "PUT {KEY} HTTP/1.1\r\nhost: a\r\nauthorization: {credentials}\r\ncontent-type: text/plain\r\n\
                 content-length: 41943040\r\n{expectation}\r\n"
            );
            socket.write_all(head.as_bytes()).await.unwrap();
            if user == "bob" && expectation.is_empty() {
                continue;
            }
            let mut begin = [0; 13];
            socket.read_exact(&mut begin).await.unwrap();
            assert_eq!(String::from_utf8_lossy(&begin), expected, "{user}");
        }
    }
    for client in served.clients() {
        let call =
            client.put(served.https(KEY)).basic_auth("ann", PASSWORD).header("content-type", "text/plain");
        assert_eq!(call.body(vec![b'v'; 40 << 20]).send().await.unwrap().status(), 403);
    }
}

fn basic(name: &str, password: &str) -> String {
    use base64::Engine as _;

    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}")))
}
