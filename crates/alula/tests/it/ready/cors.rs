//! CORS (Fetch standard §3.2): preflights, what is allowed to which origin, and what never goes together.

use std::time::Duration;

use alula::{Client, Cors, Exchange, Response, Router, Status, routing::get};

use super::{clients, serve_routes};

const APP: &str = "https://app.example";

fn routes(cors: Cors) -> Router {
    let hello = |exchange: Exchange| exchange.respond(Status::OK).header("vary", "accept").send("hello");
    Router::new().hook(cors).route("/", get(hello))
}

async fn ask(client: &Client, method: &str, url: &str, headers: &[(&str, &str)]) -> Response {
    let call =
        headers.iter().fold(client.request(method, url), |call, (name, value)| call.header(*name, *value));
    call.send().await.unwrap()
}

/// The fields of CORS that an answer has, without the start of their names, and `vary`.
fn allowed(response: &Response) -> Vec<String> {
    let fields = response.headers().iter().filter_map(|field| {
        let name = field.name().as_str();
        let name = name.strip_prefix("access-control-").or((name == "vary").then_some(name))?;
        Some(format!("{name}: {}", String::from_utf8_lossy(field.value())))
    });
    let mut fields: Vec<_> = fields.collect();
    fields.sort();
    fields
}

fn strict() -> Cors {
    Cors::origins([APP, "null"])
        .methods(["GET", "PUT"])
        .headers(["content-type", "x-a"])
        .expose_headers(["etag", "x-b"])
        .credentials(true)
        .max_age(Duration::from_secs(600))
}

const PREFLIGHT: [(&str, &str); 3] =
    [("origin", APP), ("access-control-request-method", "PUT"), ("access-control-request-headers", "x-a")];

const VARY_OF_PREFLIGHTS: &str =
    "vary: origin, access-control-request-method, access-control-request-headers";

#[tokio::test]
async fn preflights_are_answered() {
    let origin = serve_routes(routes(strict())).await;
    for client in clients() {
        let mut response = ask(&client, "OPTIONS", &origin, &PREFLIGHT).await;
        assert_eq!(response.status(), 204);
        let expected = [
            "allow-credentials: true",
            "allow-headers: content-type, x-a",
            "allow-methods: GET, PUT",
            "allow-origin: https://app.example",
            "max-age: 600",
            VARY_OF_PREFLIGHTS,
        ];
        assert_eq!(allowed(&response), expected);
        assert!(response.bytes().await.unwrap().is_empty());
        // OPTIONS that is no preflight goes to the routes.
        for headers in [&PREFLIGHT[..1], &PREFLIGHT[1..]] {
            assert_eq!(ask(&client, "OPTIONS", &origin, headers).await.status(), 405);
        }
        // And so does another method.
        assert_eq!(ask(&client, "GET", &origin, &PREFLIGHT).await.status(), 200);
    }
}

#[tokio::test]
async fn answers_name_the_origin_that_is_allowed() {
    let origin = serve_routes(routes(strict())).await;
    for client in clients() {
        let expected = [
            "allow-credentials: true",
            "allow-origin: https://app.example",
            "expose-headers: etag, x-b",
            "vary: accept",
            "vary: origin",
        ];
        assert_eq!(allowed(&ask(&client, "GET", &origin, &PREFLIGHT[..1]).await), expected);
        let missing = ask(&client, "GET", &format!("{origin}/none"), &PREFLIGHT[..1]).await;
        assert!(missing.status() == 404 && allowed(&missing).contains(&expected[1].into()));
        assert_eq!(allowed(&ask(&client, "GET", &origin, &[]).await), ["vary: accept", "vary: origin"]);
        let null = ask(&client, "GET", &origin, &[("origin", "null")]).await;
        assert!(allowed(&null).contains(&"allow-origin: null".into()));
    }
}

#[tokio::test]
async fn other_origins_are_allowed_nothing() {
    let origin = serve_routes(routes(strict())).await;
    for client in clients() {
        for other in [
            "https://app.example.evil",
            "https://app.example/",
            "http://app.example",
            "https://app.example:443",
            "https://APP.example",
            "https://app.example, https://app.example",
            "*",
            "",
            "\u{f6}",
        ] {
            let mut headers = PREFLIGHT;
            headers[0].1 = other;
            assert_eq!(
                allowed(&ask(&client, "OPTIONS", &origin, &headers).await),
                [VARY_OF_PREFLIGHTS],
                "{other}"
            );
            let response = ask(&client, "GET", &origin, &headers[..1]).await;
            assert_eq!(allowed(&response), ["vary: accept", "vary: origin"], "{other}");
        }
        let twice = [("origin", APP), ("origin", APP)];
        assert_eq!(allowed(&ask(&client, "GET", &origin, &twice).await), ["vary: accept", "vary: origin"]);
    }
}

/// `*` and credentials exclude each other, whatever was asked for.
#[tokio::test]
async fn an_asterisk_never_comes_with_credentials() {
    let all = |cors: Cors| cors.methods(["*"]).headers(["*"]).expose_headers(["*"]).credentials(true);
    let any = serve_routes(routes(all(Cors::any_origin()))).await;
    let judged =
        serve_routes(routes(all(Cors::origins_if(|origin| origin.ends_with("//app.example"))))).await;
    for client in clients() {
        let expected = ["allow-headers: x-a", "allow-methods: PUT", "allow-origin: *", VARY_OF_PREFLIGHTS];
        assert_eq!(allowed(&ask(&client, "OPTIONS", &any, &PREFLIGHT).await), expected);
        let expected = ["allow-origin: *", "expose-headers: *", "vary: accept"];
        assert_eq!(allowed(&ask(&client, "GET", &any, &PREFLIGHT[..1]).await), expected);
        for method in ["GET", "OPTIONS"] {
            let fields = allowed(&ask(&client, method, &judged, &PREFLIGHT).await);
            assert!(fields.contains(&"allow-credentials: true".into()), "{fields:?}");
            assert!(fields.iter().all(|field| !field.contains('*')), "{fields:?}");
        }
    }
}
