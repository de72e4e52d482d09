//! `-v`: what is sent and what comes, as it is, but for credentials.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::support::{Echo, Folder, alula, answering, answering_each, run};

/// The lines of stderr that begin so, without that.
fn lines<'a>(stderr: &'a str, mark: &str) -> Vec<&'a str> {
    stderr.lines().filter_map(|line| line.strip_prefix(mark)).collect()
}

#[test]
fn over_http_1_1_the_head_is_shown_as_it_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x?a=b", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut head = vec![0; 4096];
        let length = socket.read(&mut head).unwrap();
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let answer = "HTTP/1.1 204 No Content\r\nX-oDD: 1\r\nset-cookie: a=s3cret; Path=/\r\n\r\n";
        socket.write_all([hints, answer].concat().as_bytes()).unwrap();
        String::from_utf8(head[..length].to_vec()).unwrap()
    });
    let args = ["get", "-v", &url, "-u", "n:s3cret", "-b", "c=s3cret", "-H", "X-Odd: 1"];
    let ended = run(&args).expect(0);
    let sent = served.join().unwrap();
    assert!(sent.contains("Basic bjpzM2NyZXQ=") && sent.contains("c=s3cret"), "{sent}");
    let shown = lines(&ended.stderr, "> ");
    let is_masked = |line: &str| ["GET", "Cookie", "Authorization"].iter().any(|it| line.starts_with(it));
    for (sent, shown) in sent.trim_end().split("\r\n").zip(&shown) {
        assert!(sent == *shown || is_masked(sent), "{sent} / {shown}");
    }
    assert_eq!(shown.len(), sent.trim_end().split("\r\n").count(), "{}", ended.stderr);
    assert_eq!(shown[0], "GET /x?a=… HTTP/1.1");
    let all =
        run(&["get", "-p", "H", &answering("HTTP/1.1 204 No Content\r\n\r\n"), "-u", "n:s3cret"]).expect(0);
    assert!(all.text().contains("authorization: Basic bjpzM2NyZXQ="), "{}", all.text());
    for line in ["< HTTP/1.1 103 Early Hints", "< Link: </a>", "< HTTP/1.1 204 No Content", "< X-oDD: 1"] {
        assert!(ended.stderr.lines().any(|shown| shown == line), "{line}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("s3cret") && !ended.stderr.contains("bjpzM2NyZXQ"), "{}", ended.stderr);
    let done = lines(&ended.stderr, "* ");
    assert!(
        done[0].starts_with("  Trying 127.0.0.1:") && done[1].starts_with("Connected to 127.0.0.1 port ")
    );
}

#[test]
fn over_http_2_pseudo_fields_are_shown_and_a_connection_that_is_used_again() {
    let echo = Echo::start(&[]);
    let other = format!("{}/y", echo.http);
    let ended = echo.ask("post", "/x", &["-v", "-d", "four", &other]).expect(0);
    let authority = format!(":authority: {}", echo.http.trim_start_matches("http://"));
    for (request, path) in ended.stderr.split("\n>\n").zip([":path: /x", ":path: /y"]) {
        let shown = lines(request, "> ");
        assert_eq!(shown[..4], [":method: POST", ":scheme: http", &authority, path], "{request}");
        assert!(shown.contains(&"content-length: 4"), "{request}");
    }
    assert_eq!(lines(&ended.stderr, "< HTTP/2 200").len(), 2, "{}", ended.stderr);
    let done = lines(&ended.stderr, "* ");
    assert_eq!(done.iter().filter(|line| line.starts_with("Connected to ")).count(), 1, "{done:?}");
    assert!(done.contains(&&*format!("Re-using existing connection for {}", echo.http)), "{done:?}");
}

#[test]
fn each_hop_has_its_heads() {
    let to = answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {to}b?key=s3cret\r\ncontent-length: 0\r\n\r\n");
    let ended = run(&["get", "-v", "-L", &answering_each([redirect])]).expect(0);
    let heads: Vec<&str> =
        ended.stderr.lines().filter(|line| line.contains("HTTP/1.1") && !line.starts_with('*')).collect();
    let [first, found, second, fine] = heads[..] else { panic!("{heads:?}") };
    assert_eq!((first, found, fine), ("> GET / HTTP/1.1", "< HTTP/1.1 302 Found", "< HTTP/1.1 200 OK"));
    assert_eq!(second, "> GET /b?key=… HTTP/1.1");
    assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    let next = format!("* Issue another request to this URL: '{to}b?key=…'");
    assert!(ended.stderr.lines().any(|line| line == next), "{}", ended.stderr);
}

#[test]
fn retries_are_told_and_why_there_is_none() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
    let flags = ["-v", "--retry", "1", "--retry-delay", "0.01"];
    let ended = run(&[&["get", &answering_each([busy, busy])][..], &flags].concat()).expect(0);
    let done = lines(&ended.stderr, "* ");
    for line in [
        "Sending the request again in 0.01 s: the server answered 503",
        "Not sent again, since it was tried as often as is allowed: the server answered 503",
    ] {
        assert!(done.contains(&line), "{line}: {done:?}");
    }
    let ended = run(&[&["post", &answering(busy)][..], &flags].concat()).expect(0);
    let unsafe_again =
        "Not sent again, since the server may have acted on it, and its method is not idempotent";
    assert!(ended.stderr.contains(unsafe_again), "{}", ended.stderr);
    let refused = run(&["get", "-v", "http://localhost:1/"]).expect(3);
    let done = lines(&refused.stderr, "* ");
    assert!(done[0].starts_with("Host localhost was resolved: "), "{done:?}");
    assert!(done.contains(&"connect to 127.0.0.1 port 1 failed: Connection refused"), "{done:?}");
}

#[test]
fn secrets_are_shown_when_they_are_asked_for() {
    let answer = "HTTP/1.1 204 No Content\r\nset-cookie: a=s3cret\r\n\r\n";
    let url = format!("{}?key=s3cret", answering(answer));
    let ended = run(&["get", "-v", "--show-secrets", &url, "-u", "n:s3cret"]).expect(0);
    for line in
        ["> GET /?key=s3cret HTTP/1.1", "> Authorization: Basic bjpzM2NyZXQ=", "< set-cookie: a=s3cret"]
    {
        assert!(ended.stderr.lines().any(|shown| shown == line), "{line}: {}", ended.stderr);
    }
}

#[test]
fn what_tls_has_agreed_on_is_shown_on_both_versions() {
    let folder = Folder::new("verbose-tls");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let echo = Echo::start(&["--cert", &cert, "--key", &key]);
    let https = echo.https.as_deref().unwrap();
    for (flags, version, alpn) in [
        (&["--cacert", &*cert, "--http1.1"][..], "HTTP/1.1", "http/1.1"),
        (&["--cacert", &cert], "HTTP/2", "h2"),
        (&["-k"], "HTTP/2", "h2"),
    ] {
        let ended = run(&[&["get", "-v", https], flags].concat()).expect(0);
        let done = lines(&ended.stderr, "* ");
        let agreed = done.iter().find(|line| line.starts_with("SSL connection using TLSv1.3 / TLS_"));
        assert!(agreed.is_some_and(|line| line.contains("/ X25519")), "{done:?}");
        let verified = if flags[0] == "-k" {
            " SSL certificate not verified (-k)"
        } else {
            " SSL certificate verify ok."
        };
        for line in [
            &*format!("ALPN: server accepted {alpn}"),
            " subject: CN=rcgen self signed cert",
            " issuer: CN=rcgen self signed cert",
            " expire date: Jan  1 00:00:00 4096 GMT",
            verified,
            &format!("using {version}"),
        ] {
            assert!(done.contains(&line), "{line}: {done:?}");
        }
    }
}

/// A browser shows the name, and keeps an exception for as long as the certificate is good.
#[test]
fn a_certificate_of_the_server_itself_has_a_name_and_a_year() {
    let year = || {
        let end = std::time::SystemTime::now() + std::time::Duration::from_secs(365 * 24 * 60 * 60);
        httpdate::fmt_http_date(end)[12..16].to_owned()
    };
    let before = year();
    let echo = Echo::start(&["--self-signed"]);
    let ended = run(&["get", "-v", "-k", echo.https.as_deref().unwrap()]).expect(0);
    let done = lines(&ended.stderr, "* ");
    assert!(done.contains(&" subject: O=Alula, self-signed; CN=localhost"), "{done:?}");
    let end = done.iter().find(|line| line.starts_with(" expire date: ")).unwrap();
    let ends_in = |year: &str| end.ends_with(&format!(" {year} GMT"));
    assert!(ends_in(&before) || ends_in(&year()), "{end}");
}

#[test]
fn it_is_told_which_certificates_count() {
    let folder = Folder::new("verbose-roots");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let (pem, key) = (made.cert.pem(), folder.write("key.pem", made.signing_key.serialize_pem()));
    let (ours, platform) =
        (folder.write("cert.pem", &pem), folder.write("platform.pem", [&*pem, &pem].concat()));
    let (certs, key) = (Folder::new("verbose-roots-path"), key);
    certs.write("a.pem", &pem);
    let echo = Echo::start(&["--cert", &ours, "--key", &key]);
    let https = echo.https.as_deref().unwrap();
    let (file, path) = (format!(" CAfile: {ours}"), format!(" CApath: {}", certs.path("")));
    let of_environment = format!(" CAs of the environment: 1 (SSL_CERT_FILE is {platform})");
    for (flags, expected) in [
        (&["--cacert", &*ours][..], &[&*file][..]),
        (&["--capath", &certs.path("")], &[&path]),
        (&["--cacert", &ours, "--capath", &certs.path("")], &[&file, &path]),
        (&["--cacert", &ours, "--ca-native"], &[&file, &of_environment]),
        (&["--ca-native"], &[&of_environment]),
        (&["-k", "--cacert", &ours], &[]),
    ] {
        let mut command = alula(&[&["get", "-v", https], flags].concat());
        command.env("SSL_CERT_FILE", &platform).env_remove("SSL_CERT_DIR");
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let told: Vec<&str> =
            lines(&stderr, "* ").into_iter().filter(|line| line.starts_with(" CA")).collect();
        assert_eq!(told, expected, "{flags:?}: {stderr}");
        let is_checked = stderr.contains("*  SSL certificate verify ok.\n");
        assert!(output.status.success() && is_checked != flags.contains(&"-k"), "{flags:?}: {stderr}");
    }
    let mut command = alula(&["get", "-v", https, "--ca-native", "--cacert", &ours]);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
    let stderr = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(stderr.contains("*  CAs of the system: "), "{stderr}");
}

#[test]
fn a_trace_is_begun_by_the_first_request_that_can_be_made() {
    let folder = Folder::new("trace_later");
    let file = folder.path("trace");
    run(&["get", "--trace-ascii", &file, "http://[/", "--next", &answering("HTTP/1.1 204 No\r\n\r\n")]);
    let trace = String::from_utf8(folder.read("trace")).unwrap();
    assert!(trace.contains("<= Recv header, "), "{trace}");
}

#[test]
fn a_trace_has_the_bytes_in_the_form_of_curl() {
    let folder = Folder::new("trace");
    let file = folder.path("trace");
    let answer = "HTTP/1.1 200 OK\r\nset-cookie: a=s3cret\r\ncontent-length: 5\r\n\r\nhello";
    run(&["post", "--trace-ascii", &file, &answering(answer), "-d", "a=1", "-H", "Authorization: s3cret"])
        .expect(0);
    let trace = String::from_utf8(folder.read("trace")).unwrap();
    for line in [
        "0000: POST / HTTP/1.1",
        "=> Send data, 3 bytes (0x3)",
        "0000: a=1",
        "<= Recv data, 5 bytes (0x5)",
        "0000: hello",
    ] {
        assert!(trace.lines().any(|shown| shown == line), "{line}: {trace}");
    }
    assert!(trace.contains("=> Send header, ") && trace.contains("<= Recv header, "), "{trace}");
    assert!(trace.contains("== Info:   Trying 127.0.0.1:") && !trace.contains("s3cret"), "{trace}");
    let echo = Echo::start(&[]);
    let url = format!("{}/x", echo.http);
    run(&[
        "get",
        "--trace",
        &file,
        "--trace-time",
        "--show-secrets",
        "--http2-prior-knowledge",
        &url,
        "-u",
        "n:s3cret",
    ])
    .expect(0);
    let trace = String::from_utf8(folder.read("trace")).unwrap();
    assert!(trace.contains("== Info: send HEADERS stream=1 "), "{trace}");
    let digits =
        trace.lines().find(|line| line.contains("0000: 3a 6d 65 74 68 6f 64 3a 20 47 45 54 0d 0a")).unwrap();
    assert!(digits.ends_with(":method: GET..:s"), "{digits}");
    let timed = trace.lines().find(|line| line.contains("== Info: ")).unwrap();
    assert!(timed.as_bytes()[2] == b':' && timed.as_bytes()[15] == b' ', "{timed}");
    assert!(
        run(&["get", "--trace", "/no/such/folder/file", &url])
            .expect(1)
            .stderr
            .contains("/no/such/folder/file")
    );
}

/// The first address of a host takes the connection and closes it in the handshake.
#[cfg(target_os = "linux")]
#[test]
fn an_address_that_breaks_off_in_the_handshake_is_shown_with_the_next() {
    let echo = Echo::start(&["--self-signed"]);
    let port = echo.https.as_ref().unwrap().rsplit(':').next().unwrap().to_owned();
    let breaks_off = TcpListener::bind(format!("127.0.0.2:{port}")).unwrap();
    thread::spawn(move || {
        for socket in breaks_off.incoming() {
            let _ = socket.unwrap().read(&mut [0; 16 * 1024]);
        }
    });
    let resolve = format!("a.example:{port}:127.0.0.2,127.0.0.1");
    let url = format!("https://a.example:{port}/x");
    let times = "%{time_connect} %{time_appconnect} %{remote_ip}\n";
    let ended = run(&["get", "-vk", "--resolve", &resolve, "-o", "/dev/null", "-w", times, &url]).expect(0);
    let done = lines(&ended.stderr, "* ");
    for line in [
        format!("  Trying 127.0.0.2:{port}..."),
        format!(
            "connect to 127.0.0.2 port {port} failed: the TLS handshake was broken off: unexpected end of file"
        ),
        format!("  Trying 127.0.0.1:{port}..."),
    ] {
        assert!(done.contains(&&*line), "{line}: {}", ended.stderr);
    }
    let shown = ended.text();
    let mut times = shown.split_whitespace();
    let mut next = || times.next().unwrap().parse::<f64>().unwrap();
    assert!(next() <= next(), "{shown}");
    assert_eq!(times.next(), Some("127.0.0.1"));
}
