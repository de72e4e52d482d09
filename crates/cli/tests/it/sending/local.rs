//! Ports of this machine: what is listened on, and what is asked for without a host.

use std::io::{BufRead as _, BufReader};

use crate::support::{Echo, alula, run};

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let echo = Echo::start(&[]);
    let port = echo.http.rsplit(':').next().unwrap();
    let url = |path: &str| format!(":{port}{path}");
    let ended = run(&["get", &url("/a"), &url("/b"), &url(""), "-w", "%{stderr}%{url}\\n"]).expect(0);
    let asked: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(asked, ["/a", "/b", "/"].map(|path| format!("http://localhost:{port}{path}")));
    let other = format!("127.0.0.1:{port}/c");
    let ended = run(&["request", &url("/a"), &other]).expect(0);
    assert!(ended.text().contains("\"target\":\"/c\""), "{}", ended.text());
    let proxied = run(&["get", "-x", &url(""), "http://nowhere.example/"]).expect(0);
    assert!(proxied.text().contains("nowhere.example"), "{}", proxied.text());
}

#[test]
fn servers_listen_on_a_port_alone_for_this_machine_only() {
    for listen in [":0", "0"] {
        for command in [&["echo"][..], &["serve", "."]] {
            let mut child = alula(command).args(["--listen", listen]).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(line.starts_with("listening on http://127.0.0.1:"), "{listen}: {line}");
        }
    }
}
