//! `alula serve --spa`: the page that stands for paths that are not there, and those for which it does not.

use std::fs;

use crate::support::{Echo, Folder};

const PAGE: &str = "<!doctype html><title>page</title>";

fn site(test: &str) -> Folder {
    let site = Folder::new(test);
    site.write("index.html", PAGE);
    site.write("app.js", "run()");
    site.write(".hidden", "hidden");
    fs::create_dir_all(site.path("folder")).unwrap();
    site.write("folder/a.txt", "a");
    site
}

#[test]
fn paths_of_the_program_are_its_page_and_what_is_missing_is_missing() {
    let site = site("spa");
    let server = Echo::serving(&site, &["--spa", "--no-listing"]);
    let plain = Echo::serving(&site, &[]);
    for (path, accept, status, content) in [
        ("/", "*/*", 200, PAGE),
        ("/index.html", "*/*", 200, PAGE),
        ("/app.js", "text/html", 200, "run()"),
        ("/users/7", "text/html,application/xml;q=0.9,*/*;q=0.8", 200, PAGE),
        ("/users/7?tab=a.b", "*/*", 200, PAGE),
        ("/users/", "text/html", 200, PAGE),
        ("/a.b/users", "text/html", 200, PAGE),
        ("/folder/", "text/html", 200, PAGE),
        ("/users/7", "application/json", 404, ""),
        ("/users/7", "*/*, text/html;q=0", 404, ""),
        ("/absent.js", "text/html", 404, ""),
        ("/users/jane.doe", "text/html", 404, ""),
        ("/app.js/", "text/html", 404, ""),
        ("/app%2ejs2", "text/html", 404, ""),
        // Neither outside nor hidden.
        ("/..", "text/html", 404, ""),
        ("/../users", "text/html", 404, ""),
        ("/%2e%2e/users", "text/html", 404, ""),
        ("/..%2fusers", "text/html", 404, ""),
        ("/users//7", "text/html", 404, ""),
        ("/users/%00", "text/html", 404, ""),
        ("/.hidden", "text/html", 404, ""),
        ("/.git/config", "text/html", 404, ""),
        ("/%2egit/config", "text/html", 404, ""),
    ] {
        let accept = format!("accept: {accept}");
        let (_, answered) = server.expect("GET", path, &[&accept], status);
        assert!(answered == content || status == 404 && answered != PAGE, "{path} {accept}: {answered}");
        if content == PAGE && !["/", "/index.html", "/folder/"].contains(&path) {
            plain.expect("GET", path, &[&accept], 404);
        }
    }
}

#[test]
fn the_page_is_an_answer_like_that_for_its_own_path() {
    let site = site("spa-answer");
    let server = Echo::serving(&site, &["--spa"]);
    let head = |method: &str, path: &str, field: &str| -> String {
        let (head, _) = server.ask_raw(method, path, &[field]);
        head.lines().filter(|line| !line.starts_with("date: ")).map(|line| format!("{line}\n")).collect()
    };
    let own = head("GET", "/index.html", "x: y");
    assert_eq!(head("GET", "/users/7", "x: y"), own);
    assert!(
        own.contains("vary: accept\n") && own.contains("content-type: text/html; charset=utf-8\n"),
        "{own}"
    );
    assert_eq!(head("HEAD", "/users/7", "x: y"), own);
    let etag = own.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let unchanged = head("GET", "/users/7", &format!("if-none-match: {etag}"));
    assert!(unchanged.starts_with("http/1.1 304") && unchanged.contains("vary: accept\n"), "{unchanged}");
    assert!(head("GET", "/users/7", "range: bytes=0-0").starts_with("http/1.1 206"));
    let refused = head("GET", "/users/7", "accept: application/json");
    assert!(refused.starts_with("http/1.1 404") && refused.contains("vary: accept\n"), "{refused}");
    assert!(!head("GET", "/app.js", "x: y").contains("vary"));
    for method in ["POST", "PUT", "DELETE"] {
        assert!(head(method, "/users/7", "content-length: 0").starts_with("http/1.1 405"));
    }
}
