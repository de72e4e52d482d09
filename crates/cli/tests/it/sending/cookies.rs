//! Cookies that are sent and kept.

use crate::support::{Echo, Folder, answering, run};

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

/// A server could make a jar unreadable on every later run, by a tab; so could whoever wrote half a line to
/// it.
#[test]
fn a_line_that_cannot_be_read_is_reported_and_skipped() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("bad-line"));
    let good = "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n";
    let bad = b"127.0.0.1\tFALSE\t/\tFALSE\t0\tsecret\xff\tb\nsecret\n\n# comment\n";
    let jar = folder.write("jar", [bad, good.as_bytes()].concat());
    let ended = run(&["get", "-b", &jar, &echo.http]).expect(0);
    assert!(ended.text().contains(r#"["cookie","a=b"]"#), "{}", ended.text());
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines[0], format!("alula: {jar}: line 1 is skipped: it is not in UTF-8"));
    assert_eq!(
        lines[1],
        format!("alula: {jar}: line 2 is skipped: it does not have seven columns between tabs")
    );
    assert_eq!(lines.len(), 2, "and no secret is shown: {}", ended.stderr);
    assert_eq!(run(&["get", "-s", "-b", &jar, &echo.http]).expect(0).stderr, "");
    let many = folder.write("many", "x\n".repeat(100));
    let ended = run(&["get", "-b", &many, &echo.http]).expect(0);
    assert!(ended.stderr.ends_with("many: 95 more lines are skipped\n"), "{}", ended.stderr);

    let tabs = "HTTP/1.1 200 OK\r\nset-cookie: a=b\tc; Path=/\r\nset-cookie: d=e; Path=/\tf\r\nset-cookie: g\th=i\r\n\
                set-cookie: j=k; Path=/\r\ncontent-length: 0\r\n\r\n";
    run(&["get", "-c", &jar, &answering(tabs)]).expect(0);
    let ended = run(&["get", "-b", &jar, &echo.http]).expect(0);
    assert!(ended.text().contains(r#"["cookie","j=k"]"#), "{}", ended.text());
    assert_eq!(ended.stderr, "");
}

/// The jar was opened as it stood there: through a link it destroyed what the link led to, and it kept the
/// mode that it had.
#[cfg(unix)]
#[test]
fn a_jar_is_replaced_whole_and_never_through_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = Folder::new("jar-place");
    let setting = || answering("HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n");
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let jar = folder.write("jar", "others read this");
    std::fs::set_permissions(&jar, std::fs::Permissions::from_mode(0o644)).unwrap();
    let before = std::fs::File::open(&jar).unwrap();
    run(&["get", "-c", &jar, &setting()]).expect(0);
    assert_eq!(mode(&jar), 0o600);
    let old = std::io::read_to_string(before).unwrap();
    assert_eq!(old, "others read this", "who had it open sees nothing of the new one");

    let victim = folder.write("victim", "victim");
    for (place, target) in [("link", "victim"), ("dangling", "absent")] {
        symlink(target, folder.path(place)).unwrap();
        let ended = run(&["get", "-c", &folder.path(place), &setting()]).expect(1);
        assert!(ended.stderr.contains("is a link, and no jar is written to it"), "{}", ended.stderr);
        assert!(std::fs::symlink_metadata(folder.path(place)).unwrap().is_symlink());
    }
    assert_eq!(std::fs::read(victim).unwrap(), b"victim");
    let fifo = folder.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    run(&["get", "-c", &fifo, &setting()]).expect(1);
    run(&["get", "-c", &folder.path(""), &setting()]).expect(1);
    run(&["get", "-c", "/dev/null", &setting()]).expect(0);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    assert!(run(&["get", "-c", "-", &setting()]).expect(0).text().ends_with("\ta\tb\n"));
    // It is known before anything is sent: nobody listens there.
    for jar in [folder.path("absent/jar"), folder.path("victim/jar"), "/proc/jar".to_owned()] {
        let nowhere = run(&["get", "-c", &jar, "http://127.0.0.1:1/"]).expect(1);
        assert!(nowhere.stderr.starts_with(&format!("alula: {jar}: ")), "{}", nowhere.stderr);
    }
}

#[test]
fn a_jar_that_several_write_is_whole_at_any_time() {
    let folder = Folder::new("jar-race");
    let jar = folder.path("jar");
    let cookies: String = (0..90).map(|at| format!("set-cookie: k{at}={}\r\n", "x".repeat(50))).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{cookies}content-length: 0\r\n\r\n");
    run(&["get", "-c", &jar, &answering(answer.clone())]).expect(0);
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let seen = jar.clone();
    let watcher = std::thread::spawn(move || {
        while stopped.try_recv().is_err() {
            let text = std::fs::read_to_string(&seen).unwrap();
            assert_eq!((text.lines().count(), text.ends_with("x\n")), (91, true));
        }
    });
    for _ in 0..5 {
        let begin =
            |_| crate::support::alula(&["get", "-c", &jar, &answering(answer.clone())]).spawn().unwrap();
        let children: Vec<_> = (0..4).map(begin).collect();
        children.into_iter().for_each(|child| drop(crate::support::wait(child).expect(0)));
    }
    let _ = stop.send(());
    watcher.join().unwrap();
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1, "nothing is left beside it");
}
