//! Suites and groups that flags name for TLS, and the words of `-w` for connections and proxies.

use crate::support::{Echo, answering_each, run};

#[test]
fn suites_and_groups_are_those_that_are_named() {
    let echo = Echo::start(&["--self-signed"]);
    let url = echo.https.as_deref().unwrap();
    for (flags, shown) in [
        (&["--tls13-ciphers", "TLS_AES_128_GCM_SHA256"][..], "TLS_AES_128_GCM_SHA256"),
        (
            &["--tls13-ciphers", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"],
            "TLS_CHACHA20_POLY1305_SHA256",
        ),
        (
            &["--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", "--tls-max", "1.2"],
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ),
        (&["--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"], "TLSv1.3"),
        (&["--ssl", "tls1.2"], "TLSv1.2"),
        (&["--curves", "P-384"], "secp384r1"),
        (&["--curves", "X25519:P-256"], "X25519"),
    ] {
        let ended = run(&[&["get", "-k", "-v", "-o", "-", url], flags].concat()).expect(0);
        let line = ended.stderr.lines().find(|line| line.contains("SSL connection")).unwrap_or_default();
        assert!(line.contains(shown), "{flags:?}: {}", ended.stderr);
    }
    for flags in [
        &["--ciphers", "AES256-SHA"][..],
        &["--tls13-ciphers", "ECDHE-RSA-AES128-GCM-SHA256"],
        &["--curves", "P-521"],
    ] {
        let ended = run(&[&["get", "-k", url], flags].concat()).expect(2);
        assert!(ended.stderr.contains(&format!("{:?} is not spoken here", flags[1])), "{}", ended.stderr);
    }
}

#[test]
fn connections_and_proxies_are_told() {
    const FORMAT: &str = "%{stderr}%{conn_id} %{proxy_used} %{http_connect} %{xfer_id} %{num_retries}\n";
    let echo = Echo::start(&[]);
    let written =
        |words: &[&str], code| run(&[&["get", "-s", "-w", FORMAT], words].concat()).expect(code).stderr;
    assert_eq!(written(&[&echo.http, &echo.http], 0), "0 0 000 0 0\n0 0 000 1 0\n");
    assert_eq!(written(&["-x", &echo.http, "http://a.example/"], 0), "0 1 000 0 0\n");
    // It answers CONNECT with 405.
    assert_eq!(written(&["-x", &echo.http, "https://a.example/"], 3), "-1 1 405 0 0\n");
    assert_eq!(written(&["http://127.0.0.1:1/"], 3), "-1 0 000 0 0\n");
    // Tunnels that were refused are those of the first URL, and the second one asks no proxy.
    let refused = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    let proxy = answering_each([refused; 3]);
    let words = ["--retry", "2", "-x", &proxy, "--noproxy", "127.0.0.1", "https://a.example/", &echo.http];
    assert_eq!(written(&words, 3), "-1 1 502 0 0\n0 0 000 1 0\n");
}
