//! Basic and bearer authentication: who passes, what the others are told, and that nobody writes a user's
//! name but the layer.

use alula::{BasicAuth, BearerAuth, Exchange, Router, Status, routing::get};

use super::{clients, serve_routes};

/// Routes under a layer; the handler says which users it was told of.
macro_rules! routes {
    ($auth:expr) => {{
        let user = |exchange: Exchange| async move {
            let users: Vec<_> = exchange.request().headers().get_all("x-user").collect();
            let said = users.join(&b'|');
            exchange.respond(Status::OK).send(said).await
        };
        Router::new().route("/", get(user)).wrap($auth.user_header("X-User").layer())
    }};
}

fn basic() -> BasicAuth {
    BasicAuth::new("the \"realm\"")
        .user("ann", "open sesame")
        .user("bo", "p:w")
        .user("\u{f6}", "\u{fc}")
        .user("empty", "")
        .verify(|name, password| name == "verified" && password == "yes")
}

/// The credentials that a user sends, and the name of the user.
const BASIC: &[(&str, Option<&str>)] = &[
    ("Basic YW5uOm9wZW4gc2VzYW1l", Some("ann")),
    ("basic YW5uOm9wZW4gc2VzYW1l", Some("ann")),
    ("BASIC   YW5uOm9wZW4gc2VzYW1l", Some("ann")),
    ("Basic Ym86cDp3", Some("bo")),
    ("Basic w7Y6w7w=", Some("\u{f6}")),
    ("Basic ZW1wdHk6", Some("empty")),
    ("Basic dmVyaWZpZWQ6eWVz", Some("verified")),
    // Another password, the beginning of one, another user, the password of another, no colon, nothing.
    ("Basic YW5uOm9wZW4gc2VzYW1m", None),
    ("Basic YW5uOm9wZW4=", None),
    ("Basic YW5uOg==", None),
    ("Basic YmU6cDp3", None),
    ("Basic Ym86b3BlbiBzZXNhbWU=", None),
    ("Basic YW5u", None),
    ("Basic ", None),
    ("Basic", None),
    ("BasicYW5uOm9wZW4gc2VzYW1l", None),
    ("Basic YW5uOm9wZW4gc2VzYW1", None),
    ("Basic YW5uOm9wZW4gc2VzYW1l=", None),
    ("Basic YW5uOm9wZW4gc2VzYW1l YW5u", None),
    // Bytes that are no UTF-8, a line break in the name.
    ("Basic //86", None),
    ("Basic YQ0KYjpj", None),
    ("Basi\u{f6} YW5uOm9wZW4gc2VzYW1l", None),
    ("Bearer YW5uOm9wZW4gc2VzYW1l", None),
    ("", None),
];

#[tokio::test]
async fn users_with_their_passwords_pass() {
    let origin = serve_routes(routes!(basic())).await;
    for client in clients() {
        for &(sent, user) in BASIC {
            let call = client.get(&origin).header("authorization", sent).header("x-user", "forged");
            let mut response = call.send().await.unwrap();
            let challenge = response.headers().text("www-authenticate").map(String::from);
            if let Some(user) = user {
                assert_eq!(response.status(), 200, "{sent}");
                assert_eq!(response.text().await.unwrap(), user);
            } else {
                assert_eq!(response.status(), 401, "{sent}");
                let expected = r#"Basic realm="the \"realm\"", charset="UTF-8""#;
                assert_eq!(challenge.as_deref(), Some(expected));
            }
        }
        assert_eq!(client.get(&origin).send().await.unwrap().status(), 401);
        let twice =
            client.get(&origin).header("authorization", BASIC[0].0).header("authorization", BASIC[0].0);
        // Refused here, or as malformed before.
        assert!(twice.send().await.unwrap().status().is_client_error());
    }
}

#[tokio::test]
async fn tokens_pass() {
    let auth = BearerAuth::new("api").user("ann", "t-1").user("ann", "t-2").user("bo", "t-3");
    let origin = serve_routes(routes!(auth.verify(|token| token == "verified"))).await;
    let rows: [(&str, Option<&str>); 11] = [
        ("Bearer t-1", Some("ann")),
        ("bearer t-2", Some("ann")),
        ("Bearer  t-3", Some("bo")),
        ("Bearer verified", Some("")),
        ("Bearer t-4", None),
        ("Bearer t-", None),
        ("Bearer t-11", None),
        ("Bearer t-1 t-1", None),
        ("Bearer \u{f6}", None),
        ("Bearer", None),
        ("Basic dC0xOnQtMQ==", None),
    ];
    for client in clients() {
        for (sent, user) in rows {
            let call = client.get(&origin).header("authorization", sent).header("x-user", "forged");
            let mut response = call.send().await.unwrap();
            let challenge = response.headers().text("www-authenticate").map(String::from);
            if let Some(user) = user {
                assert_eq!(response.status(), 200, "{sent}");
                assert_eq!(response.text().await.unwrap(), user);
            } else {
                assert_eq!(response.status(), 401, "{sent}");
                let expected = match sent.starts_with("Bearer ") {
                    true => r#"Bearer realm="api", error="invalid_token""#,
                    false => r#"Bearer realm="api""#,
                };
                assert_eq!(challenge.as_deref(), Some(expected));
            }
        }
    }
}

#[tokio::test]
async fn without_users_nobody_passes() {
    for router in [routes!(BasicAuth::new("a")), routes!(BearerAuth::new("a"))] {
        let origin = serve_routes(router).await;
        for client in clients() {
            for sent in ["Basic Og==", "Basic OmE=", "Bearer ", "Bearer a"] {
                let response = client.get(&origin).header("authorization", sent).send().await.unwrap();
                assert_eq!(response.status(), 401, "{sent}");
            }
        }
    }
}

#[test]
fn credentials_are_not_shown() {
    let shown = format!("{:?} {:?}", basic(), BearerAuth::new("a").user("ann", "t-1"));
    assert!(["sesame", "p:w", "t-1", "ann"].iter().all(|secret| !shown.contains(secret)), "{shown}");
}
