//! How servers are reached: redirects, addresses given outright, Unix sockets.

use crate::support::{Echo, Folder, alula, answering, run, wait};

fn redirect(status: u16, to: &str) -> String {
    answering(format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
}

#[test]
fn redirects_are_followed_when_asked_to_and_secrets_stay() {
    let echo = Echo::start(&[]);
    let to = format!("{}/there", echo.http);
    let ended = run(&["get", &redirect(302, &to), "-w", "%{http_code} %{num_redirects}"]).expect(0);
    assert_eq!(ended.text(), "302 0");
    let ended =
        run(&["get", "-L", "-u", "n:p", &redirect(302, &to), "-w", "\\n%{num_redirects} %{url_effective}"]);
    let ended = ended.expect(0);
    assert!(ended.text().contains("\"target\":\"/there\""), "{}", ended.text());
    assert!(ended.text().ends_with(&format!("\n1 {to}")), "{}", ended.text());
    assert!(!ended.text().contains("authorization"), "another origin: {}", ended.text());
    let followed = run(&["get", "-L", "-v", &redirect(301, &to)]).expect(0);
    assert!(
        followed.stderr.contains(&format!("* Issue another request to this URL: '{to}'\n")),
        "{}",
        followed.stderr
    );
    run(&["get", "-L", "--max-redirs", "0", &redirect(301, &to)]).expect(5);
    let twice = redirect(301, &redirect(301, &to));
    assert!(run(&["get", "-L", "--max-redirs", "1", &twice]).expect(5).stderr.contains("redirect"));
}

#[test]
fn content_goes_along_where_the_redirect_says_so() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("along"));
    let file = format!("@{}", folder.write("data", "bytes of a file"));
    for data in ["text", &file] {
        let ended = run(&["post", "-L", &redirect(307, &echo.http), "-d", data]).expect(0);
        assert_eq!(ended.text(), if data == "text" { "text" } else { "bytes of a file" });
    }
    let ended = run(&["post", "-L", &redirect(303, &echo.http), "-d", "text"]).expect(0);
    assert!(ended.text().contains("\"method\":\"GET\""), "{}", ended.text());
}

#[test]
fn a_host_is_where_it_is_said_to_be() {
    let echo = Echo::start(&[]);
    let port = echo.http.rsplit(':').next().unwrap();
    let resolve = format!("nowhere.example:{port}:127.0.0.1");
    let url = format!("nowhere.example:{port}/x");
    let ended = run(&["get", "--resolve", &resolve, &url]).expect(0);
    assert!(ended.text().contains(&format!("\"authority\":\"nowhere.example:{port}\"")), "{}", ended.text());
}

#[cfg(unix)]
#[test]
fn a_unix_socket_takes_the_place_of_the_host() {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    let folder = Folder::new("unix");
    let path = folder.path("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let length = socket.read(&mut head).unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere").unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let ended = run(&["get", "--unix-socket", &path, "http://docker/version"]).expect(0);
    assert_eq!(ended.text(), "here");
    let head = served.join().unwrap();
    assert!(head.starts_with("GET /version HTTP/1.1\r\n") && head.contains("\r\nHost: docker\r\n"), "{head}");
    run(&["get", "--unix-socket", &folder.path("none"), "http://docker/version"]).expect(3);
    drop(UnixListener::bind(folder.path("left")).unwrap());
    let left = run(&["get", "--unix-socket", &folder.path("left"), "http://docker/version"]).expect(3);
    assert!(left.stderr.ends_with(": connection refused\n"), "{}", left.stderr);
}

#[test]
fn a_proxy_is_asked_unless_it_is_not_to_be() {
    let echo = Echo::start(&[]);
    // As a server it is no proxy, but says what it was asked.
    let url = "http://nowhere.example/x";
    let ended = run(&["get", "-x", &echo.http, "-U", "n:p", url]).expect(0);
    assert!(ended.text().contains("\"authority\":\"nowhere.example\""), "{}", ended.text());
    assert!(ended.text().contains("[\"proxy-authorization\",\"Basic bjpw\"]"), "{}", ended.text());
    let by_environment = alula(&["get", url]).env("http_proxy", &echo.http).spawn().unwrap();
    assert_eq!(wait(by_environment).expect(0).text().matches("nowhere.example").count(), 1);
    for flags in
        [&["--noproxy", "*"][..], &["--noproxy", "127.0.0.1"], &["--noproxy", "a,127.0.0.0/8"], &["-x", ""]]
    {
        let refused = [&["get", &echo.http][..], flags].concat();
        let direct = alula(&refused).env("http_proxy", "http://127.0.0.1:1").spawn().unwrap();
        wait(direct).expect(0);
    }
    let excepted = ["get", "-x", "http://127.0.0.1:1", "--noproxy", "127.0.0.0/8", &echo.http];
    run(&excepted).expect(0);
    run(&["get", "-x", "http://127.0.0.1:1", &echo.http]).expect(3);
    // It takes the place of the environment's exceptions.
    let mut through = alula(&["get", "--noproxy", "a", &echo.http]);
    through.env("http_proxy", "http://127.0.0.1:1").env("no_proxy", "127.0.0.1");
    wait(through.spawn().unwrap()).expect(3);
}

#[test]
fn what_may_pass_is_tried_again() {
    let unavailable = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let fine = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";
    for (flags, code) in [(&["--retry", "2", "--retry-delay", "0.001"][..], "fine200"), (&[], "503")] {
        let url = crate::support::answering_each([unavailable, unavailable, fine]);
        let ended = run(&[&["get", &*url, "-w", "%{http_code}"], flags].concat()).expect(0);
        assert_eq!(ended.text(), code);
    }
    let url = crate::support::answering_each([unavailable, fine]);
    let args = ["put", &url, "-d", "content", "--retry", "1", "--retry-delay", "0.001"];
    assert_eq!(run(&args).expect(0).text(), "fine");
}

#[test]
fn a_host_that_is_given_is_asked_for_where_the_url_leads() {
    let folder = Folder::new("hosts");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let echo = Echo::start(&["--cert", &cert, "--key", &key]);
    let https = echo.https.as_deref().unwrap().replace("127.0.0.1", "localhost");
    for (url, flags) in [
        (&echo.http, &["-H", "Host: other.example"][..]),
        (&echo.http, &["-4", "host:other.example"]),
        (&https, &["Host:other.example", "--cacert", &cert]),
    ] {
        let ended = run(&[&["get", &**url], flags].concat()).expect(0);
        assert!(ended.text().contains("\"authority\":\"other.example\""), "{}", ended.text());
    }
    let localhost = echo.http.replace("127.0.0.1", "localhost");
    run(&["get", "-4", &localhost]).expect(0);
    let refused = run(&["get", "-6", &localhost]).expect(3);
    assert!(!refused.stderr.is_empty());
}

/// White space at the ends of a value over HTTP/2 is malformed (RFC 9113 §8.2.1). WordPress.com sent it, and
/// other clients took it.
#[test]
fn white_space_around_values_of_http2_is_taken_out() {
    use std::io::{Read as _, Write as _};
    let (settings, status_200, literal) = ([0, 0, 0, 4, 0, 0, 0, 0, 0], 0x88, 0);
    let block = [&[status_200, literal, 1][..], b"x", &[3], b" y\t"].concat();
    let head = [&[0, 0, block.len() as u8, 1, 4, 0, 0, 0, 1][..], &block].concat();
    let content = [&[0, 0, 2, 0, 1, 0, 0, 0, 1][..], b"ok"].concat();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        // The preface, with the request behind it.
        socket.read_exact(&mut [0; 24]).unwrap();
        socket.write_all(&[&settings[..], &head, &content].concat()).unwrap();
        // A socket that is closed with bytes unread is reset.
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let ended = run(&["get", "--http2-prior-knowledge", "-i", &url]).expect(0);
    assert_eq!(ended.text(), "HTTP/2 200 OK\nx: y\n\nok");
    served.join().unwrap();
}
