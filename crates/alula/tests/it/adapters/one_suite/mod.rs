//! A to-do service, once with Alula's router and once with axum's: one suite that both pass, over both
//! versions.

mod axum_todo;
#[path = "../../../../examples/server/todo.rs"]
#[expect(dead_code, reason = "its `main` is not run here")]
mod todo;

use alula::{Client, Server, from_tower};

use crate::support::client;

/// The requests in their order, and their answers: method, path, content, status, content.
const STEPS: &[(&str, &str, &str, u16, &str)] = &[
    ("GET", "/items", "", 200, "[]"),
    ("POST", "/items", r#"{"title":"a"}"#, 201, r#"{"title":"a","done":false}"#),
    ("POST", "/items", r#"{"title":"b","done":true}"#, 201, r#"{"title":"b","done":true}"#),
    ("POST", "/items", r#"{"title":"c"}"#, 201, r#"{"title":"c","done":false}"#),
    ("GET", "/items/2", "", 200, r#"{"title":"b","done":true}"#),
    ("HEAD", "/items/2", "", 200, ""),
    ("GET", "/items?from=2&limit=1", "", 200, r#"[[2,{"title":"b","done":true}]]"#),
    ("GET", "/items?limit=x", "", 400, ""),
    ("PUT", "/items/2", r#"{"title":"B"}"#, 200, r#"{"title":"B","done":false}"#),
    ("PUT", "/items/9", r#"{"title":"B"}"#, 404, ""),
    ("PUT", "/items/2", r#"{"title":" "}"#, 422, ""),
    ("POST", "/items", r#"{"title":"#, 400, ""),
    ("GET", "/items/9", "", 404, ""),
    ("GET", "/items/x", "", 400, ""),
    ("GET", "/nothing", "", 404, ""),
    ("PATCH", "/items/2", "", 405, ""),
    ("DELETE", "/items/2", "", 204, ""),
    ("DELETE", "/items/2", "", 404, ""),
    ("GET", "/items", "", 200, r#"[[1,{"title":"a","done":false}],[3,{"title":"c","done":false}]]"#),
];

async fn passes(name: &str, origin: &str, client: &Client) {
    for &(method, path, content, status, said) in STEPS {
        let call = client.request(method, format!("{origin}{path}"));
        let mut response = match content {
            "" => call.send().await,
            content => call.header("content-type", "application/json").send_body(content).await,
        }
        .unwrap();
        let text = response.text().await.unwrap();
        assert_eq!(response.status(), status, "{name}: {method} {path} {content}: {text}");
        assert!(said.is_empty() || text.trim_end() == said, "{name}: {method} {path}: {text}");
        if status == 201 {
            assert!(response.headers().text("location").unwrap().starts_with("/items/"), "{name}");
        }
    }
    let long = format!(r#"{{"title":"{}"}}"#, "t".repeat(1000));
    let response = client.post(format!("{origin}/items")).send_body(long).await.unwrap();
    assert_eq!(response.status(), 413, "{name}");
}

#[tokio::test]
async fn both_pass_one_suite() {
    for http2 in [false, true] {
        let client = client(http2);
        let ours = Server::bind("127.0.0.1:0").await.unwrap();
        let theirs = Server::bind("127.0.0.1:0").await.unwrap();
        let origins = [&ours, &theirs].map(|server| format!("http://{}", server.address().unwrap()));
        tokio::spawn(ours.serve(todo::router().build().unwrap()));
        tokio::spawn(theirs.serve(from_tower(axum_todo::router())));
        passes("Alula", &origins[0], &client).await;
        passes("axum", &origins[1], &client).await;
    }
}
