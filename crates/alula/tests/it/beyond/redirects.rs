//! Redirects: which are followed, as what, and what does not go along.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Cause, Client, Error, Follow, Method, Phase, Retry};

use super::site::{Answer, Seen, Site, clients, post, send};

/// `/302?x` answers with 302 and the location `x`, `/302` with 302 alone; all else is well.
fn answer(seen: &Seen) -> Answer {
    let path = seen.line.split(' ').nth(1).unwrap();
    let (route, location) = path.split_once('?').unwrap_or((path, ""));
    let to = |status| match location {
        "" => Answer::new(status),
        location => Answer::new(status).header("location", location),
    };
    match route[1..].split('-').next().unwrap() {
        "twice" => to(302).header("location", "/elsewhere"),
        "loop" => Answer::new(302).header("location", "/loop"),
        "around" => Answer::new(302).header("location", "/back"),
        "back" => Answer::new(302).header("location", "/around"),
        // To itself until its cookie comes along, as servers do that find out whether there are cookies.
        "cookie" if seen.header("cookie").is_some() => Answer::new(200),
        "cookie" => to(302).header("location", "/cookie").header("set-cookie", "a=b"),
        "endless" => Answer::new(302).header("location", format!("/endless?{location}x")),
        "large" => Answer { content: vec![b'x'; 1 << 20], ..to(302) },
        "small" => Answer { content: vec![b'x'; 1 << 16], ..to(302) },
        code => code.parse().map_or_else(|_| Answer::new(200), to),
    }
}

fn cause(error: &Error) -> &'static str {
    let Cause::Redirect(why) = error.cause() else { panic!("{error:?}") };
    assert_eq!((error.phase(), error.retry()), (Phase::Head, Retry::Pointless));
    why
}

#[tokio::test]
async fn methods_and_content_go_along_as_the_status_says() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        for (method, status, next, keeps_content) in [
            ("GET", 301, "GET", true),
            ("GET", 302, "GET", true),
            ("GET", 303, "GET", false),
            ("GET", 307, "GET", true),
            ("GET", 308, "GET", true),
            ("POST", 301, "GET", false),
            ("POST", 302, "GET", false),
            ("POST", 303, "GET", false),
            ("POST", 307, "POST", true),
            ("POST", 308, "POST", true),
            ("PUT", 301, "PUT", true),
            ("PUT", 303, "GET", false),
            ("DELETE", 302, "DELETE", true),
            ("PATCH", 307, "PATCH", true),
        ] {
            let url = site.url(&format!("/{status}?/to"));
            let call =
                client.request(method, &url).header("content-type", "text/plain").header("x-trace", "1");
            let response = post(call, b"abc").await.unwrap();
            assert_eq!(response.status().as_u16(), 200, "{method} {status}");
            let seen = site.take_seen();
            let last = &seen[1];
            assert_eq!((seen.len(), &*last.line), (2, &*format!("{next} /to")), "{method} {status}");
            assert_eq!(last.header("x-trace").as_deref(), Some("1"));
            let content = (&*last.content, last.header("content-type"), last.header("content-length"));
            let expected = match keeps_content {
                true => (&b"abc"[..], Some("text/plain".into()), Some("3".into())),
                false => (&b""[..], None, None),
            };
            assert_eq!(content, expected, "{method} {status}");
        }
        let response = send(client.head(&site.url("/303?/to"))).await.unwrap();
        assert_eq!((response.status().as_u16(), response.redirects()), (200, 1));
        assert_eq!(site.take_lines(), ["HEAD /303?/to", "HEAD /to"]);
    }
}

#[tokio::test]
async fn method_and_content_go_along_as_the_program_says() {
    let site = Site::start(answer).await;
    for (follow, next, content) in
        [(Follow::WithMethod, "POST /to", &b""[..]), (Follow::WithContent, "POST /to", b"abc")]
    {
        for client in clients(|builder| builder.on_redirect(move |_| follow)) {
            for status in [302, 303, 307] {
                post(client.post(&site.url(&format!("/{status}?/to"))), b"abc").await.unwrap();
                let seen = site.take_seen();
                assert_eq!((&*seen[1].line, &*seen[1].content), (next, content), "{follow:?} {status}");
            }
        }
    }
}

#[tokio::test]
async fn credentials_go_along_to_other_origins_where_that_is_allowed() {
    let (site, other) = (Site::start(answer).await, Site::start(answer).await);
    for allowed in [false, true] {
        for client in clients(|builder| builder.redirects_with_credentials(allowed)) {
            let url = site.url(&format!("/302?{}", other.url("/to")));
            let call = client.get(&url).basic_auth("n", "p");
            send(call.header("host", "a.example")).await.unwrap();
            let seen = other.take_seen();
            assert_eq!(seen[0].header("authorization").is_some(), allowed);
            assert_ne!(seen[0].header("host").as_deref(), Some("a.example"));
        }
    }
}

#[tokio::test]
async fn each_request_says_which_url_led_to_it_where_that_is_wanted() {
    let site = Site::start(answer).await;
    for (wanted, expected) in
        [(false, [Some("http://before/"); 3]), (true, [Some("http://before/"), None, None])]
    {
        for client in clients(|builder| builder.redirects_with_referer(wanted)) {
            let url = site.url("/302?/307?/to");
            send(client.get(&url).header("referer", "http://before/")).await.unwrap();
            let said: Vec<Option<String>> =
                site.take_seen().iter().map(|seen| seen.header("referer")).collect();
            let led = [None, Some(url), Some(site.url("/307?/to"))];
            let all = expected.iter().zip(led).map(|(given, led)| given.map(str::to_owned).or(led));
            assert_eq!(said, all.collect::<Vec<_>>(), "{wanted}");
        }
    }
}

#[tokio::test]
async fn what_does_not_redirect_is_handed_over() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        for path in ["/302", "/300?/to", "/304?/to", "/305?/to", "/306?/to"] {
            let response = send(client.get(&site.url(path))).await.unwrap();
            assert_eq!(response.status().as_u16(), path[1..4].parse::<u16>().unwrap());
            assert_eq!((response.redirects(), response.final_url()), (0, None));
        }
        assert_eq!(site.take_lines().len(), 5);
        let (writer, pending) = client.post(&site.url("/307?/to")).open().await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(pending.response().await.unwrap().status().as_u16(), 307);
        assert_eq!(site.take_lines(), ["POST /307?/to"]);
    }
}

#[tokio::test]
async fn the_url_that_answered_is_told_with_its_fragment() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        for (from, to, count) in [
            ("/302?/to", "/to", 1),
            ("/302?/to#here", "/to#here", 1),
            ("/302-a/b/c?d/../e", "/302-a/b/e", 1),
            ("/302?/302-a?/307-b?/to", "/to", 3),
        ] {
            let response = send(client.get(&site.url(from))).await.unwrap();
            assert_eq!(response.final_url(), Some(&*site.url(to)), "{from}");
            assert_eq!(response.redirects(), count, "{from}");
        }
    }
}

/// A loop took all of the redirects that may be followed.
#[tokio::test]
async fn a_loop_is_seen_when_the_same_request_would_be_sent_again() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        for (path, requests) in [("/loop", 1), ("/around", 2), ("/302?/around", 3)] {
            let error = send(client.get(&site.url(path)).header("x", "y")).await.err().unwrap();
            assert_eq!(cause(&error), "it leads back to a request that was sent before: a loop", "{path}");
            assert_eq!(site.take_lines().len(), requests, "{path}");
        }
        // Its content went along, and POST that becomes GET is another request.
        let error = post(client.post(&site.url("/307?/307?/loop")), b"abc").await.err().unwrap();
        assert_eq!(cause(&error), "it leads back to a request that was sent before: a loop");
        assert_eq!(site.take_lines(), ["POST /307?/307?/loop", "POST /307?/loop", "POST /loop", "GET /loop"]);
        let prepared = client.prepare(Method::Get, &site.url("/around")).unwrap().build().unwrap();
        let error = send(client.call(&prepared)).await.err().unwrap();
        assert_eq!(cause(&error), "it leads back to a request that was sent before: a loop");
        assert_eq!(site.take_lines(), ["GET /around", "GET /back"]);
        // Without a jar this is one; with one the second request is another.
        let error = send(client.get(&site.url("/cookie"))).await.err().unwrap();
        assert_eq!(cause(&error), "it leads back to a request that was sent before: a loop");
        assert_eq!(site.take_lines().len(), 1);
    }
    for client in clients(|builder| builder.cookies(alula::Jar::new())) {
        assert_eq!(send(client.get(&site.url("/cookie"))).await.unwrap().status().as_u16(), 200);
        assert_eq!(site.take_lines().len(), 2);
    }
}

#[tokio::test]
async fn there_is_a_limit() {
    let site = Site::start(answer).await;
    let url = site.url("/endless");
    for client in clients(|builder| builder) {
        let error = send(client.get(&url)).await.err().unwrap();
        assert_eq!(cause(&error), "there are more of them than may be followed");
        assert_eq!(site.take_lines().len(), 11);
        let error = send(client.get(&url).redirects(2)).await.err().unwrap();
        assert_eq!(cause(&error), "there are more of them than may be followed");
        assert_eq!(site.take_lines().len(), 3);
        assert_eq!(send(client.get(&url).redirects(0)).await.unwrap().status().as_u16(), 302);
        assert_eq!(site.take_lines().len(), 1);
    }
    for client in clients(|builder| builder.redirects(0)) {
        assert_eq!(send(client.get(&url)).await.unwrap().status().as_u16(), 302);
        assert!(send(client.get(&url).redirects(1)).await.is_err());
        assert_eq!(site.take_lines().len(), 3);
    }
}

#[tokio::test]
async fn what_cannot_be_followed_is_an_error() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        for (path, why) in [
            ("/twice?/to", "it leads to several places"),
            ("/302?ftp://localhost/", "it leads neither to http nor to https"),
            ("/302?http://", "where it leads to has no host"),
            ("/302?http://localhost:99999/", "where it leads to is no URL"),
        ] {
            assert_eq!(cause(&send(client.get(&site.url(path))).await.err().unwrap()), why, "{path}");
        }
    }
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let (site, other) = (Site::start(answer).await, Site::start(answer).await);
    let named = other.origin.replace("localhost", "127.0.0.1");
    let same = site.url("/to");
    for client in clients(|builder| builder) {
        // Another port, the same again, and this host under another name.
        for (to, leaves) in [("/to", false), (&*same, false), (&*other.url("/to"), true), (&*named, true)] {
            let url = site.url(&format!("/302?{to}"));
            let mut call = client.get(&url).header("x-trace", "1");
            let secrets = ["authorization", "cookie", "cookie2", "proxy-authorization", "www-authenticate"];
            for name in secrets {
                call = call.header(name, "a=b");
            }
            send(call).await.unwrap();
            let last = [other.take_seen(), site.take_seen()].concat().swap_remove(usize::from(!leaves));
            for name in secrets {
                assert_eq!(last.fields.contains(name), !leaves, "{to} {name}");
            }
            assert!(last.fields.contains("x-trace"), "{to}");
            assert!(!leaves || !last.authority.ends_with(site.origin.rsplit(':').next().unwrap()), "{to}");
        }
    }
}

#[tokio::test]
async fn what_was_secured_is_not_bared() {
    let clear = Site::start(answer).await;
    let secured = Site::start_secured(answer).await;
    let down = secured.url(&format!("/302?{}", clear.url("/to")));
    let up = clear.url(&format!("/302?{}", secured.url("/to")));
    let client = Client::builder().trust_anything().build().unwrap();
    let error = send(client.get(&down)).await.err().unwrap();
    assert_eq!(cause(&error), "it leads from https to http");
    assert!(clear.take_seen().is_empty());
    assert_eq!(send(client.get(&up)).await.unwrap().final_url(), Some(&*secured.url("/to")));
    clear.take_seen();
    let client = Client::builder().trust_anything().redirects_to_clear_text(true).build().unwrap();
    send(client.get(&down).header("referer", "https://localhost/secret")).await.unwrap();
    assert!(!clear.take_seen()[0].fields.contains("referer"));
}

#[tokio::test]
async fn the_program_is_asked() {
    let site = Site::start(answer).await;
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let told = asked.clone();
    let clients = clients(move |builder| {
        let told = told.clone();
        builder.on_redirect(move |redirect| {
            let (method, count) = (redirect.method(), redirect.count());
            told.lock().unwrap().push(format!(
                "{} {method} {count} {}",
                redirect.status().as_u16(),
                redirect.to()
            ));
            match redirect.to() {
                to if to.ends_with("/stop") && !to.contains('?') => Follow::Stop,
                to if to.ends_with("/error") => Follow::Error,
                _ => Follow::Yes,
            }
        })
    });
    for client in clients {
        let response = post(client.post(&site.url("/303?/307-a?/stop")), b"").await.unwrap();
        assert_eq!((response.status().as_u16(), response.redirects()), (307, 1));
        assert_eq!(response.final_url(), Some(&*site.url("/307-a?/stop")));
        let error = send(client.get(&site.url("/302?/error"))).await.err().unwrap();
        assert_eq!(cause(&error), "the program refuses it");
        assert_eq!(
            std::mem::take(&mut *asked.lock().unwrap()),
            [
                format!("303 GET 1 {}", site.url("/307-a?/stop")),
                format!("307 GET 2 {}", site.url("/stop")),
                format!("302 GET 1 {}", site.url("/error")),
            ]
        );
    }
}

#[tokio::test]
async fn a_small_content_is_read_so_that_its_connection_is_used_again() {
    let site = Site::start(answer).await;
    let [client, _] = clients(|builder| builder);
    for _ in 0..3 {
        send(client.get(&site.url("/small?/to"))).await.unwrap().body().trailers().await.unwrap();
    }
    assert_eq!(site.connections(), 1);
    send(client.get(&site.url("/large?/to"))).await.unwrap();
    assert!(site.connections() > 1);
}

#[tokio::test]
async fn prepared_requests_follow_too() {
    let site = Site::start(answer).await;
    for client in clients(|builder| builder) {
        let mut prepare = client.prepare(Method::Post, &site.url("/307?/to")).unwrap().header("x-a", b"1");
        let hole = prepare.hole("x-b").unwrap();
        let prepared = prepare.build().unwrap();
        post(client.call(&prepared).set(hole, b"2"), b"abc").await.unwrap();
        post(client.call(&prepared).set(hole, b"3").path("/303?/to"), b"abc").await.unwrap();
        let seen = site.take_seen();
        let lines: Vec<_> = seen.iter().map(|seen| &*seen.line).collect();
        assert_eq!(lines, ["POST /307?/to", "POST /to", "POST /303?/to", "GET /to"]);
        for (seen, (b, length)) in
            seen.iter().zip([("2", Some("3")), ("2", Some("3")), ("3", Some("3")), ("3", None)])
        {
            assert_eq!(seen.header("x-a").as_deref(), Some("1"));
            assert_eq!(
                (seen.header("x-b").as_deref(), seen.header("content-length").as_deref()),
                (Some(b), length)
            );
        }
    }
}

#[tokio::test]
async fn the_deadline_is_for_all_of_it() {
    let site = Site::start(answer).await;
    let url = site.url("/endless");
    for client in clients(|builder| builder.redirects(u16::MAX)) {
        let error = send(client.get(&url).timeout(Duration::from_millis(200))).await.err().unwrap();
        assert!(error.is_timeout(), "{error}");
    }
}
