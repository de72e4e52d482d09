//! `-#`: the bar of hash signs, where curl draws it.
#![cfg(unix)]

use crate::support::beside::{both, strings};
use crate::support::{Folder, answering, run};

#[test]
fn the_bar_is_that_of_curl() {
    let folder = Folder::new("hashes");
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}", "x".repeat(1000));
    for flags in [&["-#"][..], &["--progress-bar"], &["-#", "-f"], &["-#", "-d", "sent"]] {
        let args = || {
            let url = answering(answer.clone());
            let to = folder.path("out");
            strings(&[&["--no-silent", "-o", &to, &url], flags].concat())
        };
        for ended in both(args) {
            let whole = format!("\r{} 100.0%", "#".repeat(72));
            assert!(ended.stderr.ends_with(&format!("{whole}\n")), "{flags:?}: {:?}", ended.stderr);
            assert_eq!(ended.stderr.lines().count(), 1, "{flags:?}: {:?}", ended.stderr);
        }
    }
}

#[test]
fn no_bar_is_drawn_where_none_is_wanted() {
    let folder = Folder::new("no-hashes");
    for flags in
        [&["-#", "-s"][..], &["-#", "--no-progress-meter"], &["-#", "--no-progress-bar"], &["-#", "-Z"]]
    {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx";
        let url = answering(answer);
        let ended = run(&[&["get", "-o", &folder.path("out"), &url], flags].concat()).expect(0);
        assert_eq!(ended.stderr, "", "{flags:?}");
    }
}
