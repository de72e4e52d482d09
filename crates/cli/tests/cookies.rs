//! Cookies that are sent and kept.
#![forbid(unsafe_code)]

mod support;

use support::{Echo, Folder, answering, run};

#[test]
fn cookies_are_kept_between_requests_and_in_a_file() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("cookies"));
    let jar = folder.path("jar");
    let setting = answering(
        "HTTP/1.1 302 Found\r\nset-cookie: session=secret; Path=/\r\nset-cookie: other=x; Path=/other\r\n\
         location: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    // A jar that is not there yet is begun, and cookies know no ports (RFC 6265 §8.5).
    let ended = run(&["get", "-b", &jar, "-c", &jar, &setting, &echo.http]).expect(0);
    assert!(ended.text().contains(r#"["cookie","session=secret"]"#), "{}", ended.text());
    let kept = String::from_utf8(folder.read("jar")).unwrap();
    assert!(kept.lines().any(|line| line.ends_with("\tsession\tsecret")), "{kept}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&jar).unwrap().permissions().mode() & 0o77, 0, "nobody else reads it");
    }
    let sent = run(&["get", "-b", &jar, "-b", "more=1", &format!("{}/other", echo.http)]).expect(0);
    for cookie in ["more=1", "session=secret", "other=x"] {
        assert!(sent.text().contains(cookie), "{}", sent.text());
    }
    assert!(!run(&["get", &echo.http]).expect(0).text().contains("cookie"));
}

#[test]
fn curl_reads_the_jar_and_we_read_that_of_curl() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("curl-jar"));
    let setting =
        || answering("HTTP/1.1 200 OK\r\nset-cookie: a=b; Max-Age=1000\r\ncontent-length: 0\r\n\r\n");
    let (ours, theirs) = (folder.path("ours"), folder.path("theirs"));
    run(&["get", "-c", &ours, &setting()]).expect(0);
    let curl = |args: &[&str]| std::process::Command::new("curl").args(args).output();
    let Ok(read) = curl(&["-s", "--noproxy", "*", "-b", &ours, &echo.http]) else { return };
    assert!(String::from_utf8_lossy(&read.stdout).contains(r#"["cookie","a=b"]"#), "{read:?}");
    curl(&["-s", "--noproxy", "*", "-c", &theirs, &setting()]).unwrap();
    let ended = run(&["get", "-b", &theirs, &echo.http]).expect(0);
    assert!(ended.text().contains(r#"["cookie","a=b"]"#), "{}", ended.text());
}
