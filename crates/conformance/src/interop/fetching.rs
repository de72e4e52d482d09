//! What our client does with a server: one function for each check; the rows say where a server has what it
//! takes.

use alula::h2::{FrameKind, Scope};
use alula::{Cause, Error, FieldSection, Limits};

use super::routes::{self, HALF, HELD, LAST, SMALL, TRAILED, TRAILERS};
use super::servers::Served;
use super::session::{Answer, Session, whole};
use super::way::Way;
use crate::alula::fetch;
use crate::folder::Folder;
use crate::outcome::Outcome;
use crate::site::{BIG_BYTES, Site, assert_same};

/// The site's files by the `alula` command.
pub fn site(at: &Served, way: Way) {
    for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
        download(at, way, file, &Site::content(file));
    }
}

/// What our own programs answer, by the `alula` command.
pub fn downloads(at: &Served, way: Way) {
    for (path, content) in routes::downloads() {
        download(at, way, &path, &content);
    }
}

fn download(at: &Served, way: Way, path: &str, content: &[u8]) {
    let outcome = fetch("get", &at.url(way, path), &way.reach(&at.certificates), &[]).expect_success();
    assert_same(&outcome.stdout, content, path);
}

/// Content sent and sent back, by the `alula` command.
pub fn upload(at: &Served, way: Way, path: &str) {
    let sent = routes::upload();
    let outcome = post(at, way, path, &sent, &[]);
    assert_same(&outcome.stdout, &sent, "what was sent");
}

fn post(at: &Served, way: Way, path: &str, content: &[u8], more: &[&str]) -> Outcome {
    let folder = Folder::new();
    let data = format!("@{}", folder.write("body", content).display());
    let more: Vec<&str> = ["-d", &data].into_iter().chain(more.iter().copied()).collect();
    fetch("post", &at.url(way, path), &way.reach(&at.certificates), &more).expect_success()
}

/// Fields after the content of a response.
pub fn trailers(at: &Served, way: Way, path: &str, content: &str) {
    let session = Session::new(at, way);
    let answer = session.expect(&at.url(way, path), content);
    holds_trailers(&answer.trailers);
}

fn holds_trailers(trailers: &FieldSection) {
    for (name, value) in TRAILERS {
        assert_eq!(trailers.get(name), Some(value.as_bytes()), "{name} in {trailers:?}");
    }
}

/// As [`trailers`], as our own programs send them.
pub fn announced_trailers(at: &Served, way: Way) {
    trailers(at, way, "trailers", TRAILED);
}

/// Fields after the content of a request, which the server shows.
pub fn sent_trailers(at: &Served, way: Way) {
    let answer = send_trailers(at, way, "sent-trailers");
    assert_eq!(String::from_utf8_lossy(&answer.content), routes::trailers_received());
}

/// Fields after the content of a request, which the server takes and does not show: the content is whole
/// without them.
pub fn unseen_trailers(at: &Served, way: Way, path: &str) {
    let answer = send_trailers(at, way, path);
    assert_eq!(String::from_utf8_lossy(&answer.content), TRAILED);
}

fn send_trailers(at: &Served, way: Way, path: &str) -> Answer {
    let (session, url) = (Session::new(at, way), at.url(way, path));
    let trailers = FieldSection::from_pairs(TRAILERS).expect("valid fields");
    let answer = session.runtime.block_on(async {
        // Some servers want to be told (RFC 9110 §6.6.2).
        let call = session.client.post(&url).header("trailer", "x-checksum, x-count");
        let (mut writer, response) = call.open().await?;
        writer.write(TRAILED.as_bytes()).await?;
        writer.finish_with(&trailers).await?;
        whole(response.response().await?).await.map_err(|broken| broken.error)
    });
    answer.unwrap_or_else(|error: Error| panic!("{path}: {error}"))
}

/// Two interim responses, by the `alula` command.
pub fn hints(at: &Served, way: Way) {
    let reach = way.reach(&at.certificates);
    let outcome = fetch("get", &at.url(way, "interim"), &reach, &["-vv"]).expect_success();
    assert_eq!(outcome.text(), routes::HINTED);
    assert_eq!(heads_received(&outcome), 3, "{outcome}");
}

/// A 100 before the final response, for those who ask for it (RFC 9110 §10.1.1), by the `alula` command.
pub fn goes_on(at: &Served, way: Way, path: &str) {
    let outcome = post(at, way, path, b"expected", &["-H", "expect: 100-continue", "-vv"]);
    assert_eq!(outcome.text(), "expected");
    // Whether our content waits for it is ours to choose (RFC 9110 §10.1.1).
    let sections = ["recv HEADERS", "recv HEADERS", "recv DATA"];
    let mut lines = outcome.stderr.lines();
    assert!(sections.iter().all(|kind| lines.any(|line| line.starts_with(kind))), "{outcome}");
    assert!(heads_received(&outcome) >= 2, "{outcome}");
}

fn heads_received(outcome: &Outcome) -> usize {
    outcome.stderr.lines().filter(|line| line.starts_with("recv HEADERS ")).count()
}

/// A reset in the middle of the content.
pub fn server_resets(at: &Served, way: Way, path: &str) {
    let session = Session::new(at, way);
    let url = at.url(way, path);
    let broken = session.get(&url).expect_err("half a content is not a whole one");
    assert!(matches!(broken.error.cause(), Cause::Reset(_)), "{broken:?}");
    // What came before may have been thrown away on its way by whoever handed it on.
    assert!(HALF.as_bytes().starts_with(&broken.content), "{broken:?}");
    session.expect(&at.url(way, Site::SMALL), SMALL);
    assert_eq!(session.connections(), 1, "the connection went on");
}

/// Our reset in the middle of a long content.
pub fn client_resets(at: &Served, way: Way, path: &str) {
    let session = Session::new(at, way);
    let url = at.url(way, path);
    session.runtime.block_on(async {
        let mut response = session.client.get(&url).send().await.expect("a response");
        let chunk = response.body().chunk().await.expect("content");
        assert!(chunk.is_some_and(|chunk| chunk.len() < BIG_BYTES), "all of it at once");
    });
    session.expect(&at.url(way, Site::SMALL), SMALL);
    assert_eq!(session.frames(true, FrameKind::RST_STREAM), 1, "given up");
    assert_eq!(session.connections(), 1, "the connection went on");
}

/// Where a server can be held and made to take its leave.
pub struct Farewell {
    /// Answers with a head at once, and [`HELD`] once released.
    pub wait: &'static str,
    /// What makes it send GOAWAY on this connection: paths and what they answer.
    pub triggers: &'static [(&'static str, &'static str)],
    /// Releases.
    pub release: &'static str,
}

/// As our own programs do it.
pub const FAREWELL: Farewell = Farewell { wait: "wait", triggers: &[("goaway", LAST)], release: "release" };

/// GOAWAY with a request in flight. What ends that request is another, which only a new connection can carry.
pub fn goaway(at: &Served, way: Way, farewell: &Farewell) {
    let trigger = |session: &Session| {
        for (path, answer) in farewell.triggers {
            session.expect(&at.url(way, path), answer);
        }
    };
    goaway_by(at, way, farewell, trigger);
}

/// As [`goaway`]; `trigger` makes the server send GOAWAY and leaves a server where it was.
pub fn goaway_by(at: &Served, way: Way, farewell: &Farewell, trigger: impl FnOnce(&Session)) {
    let session = Session::new(at, way);
    let url = at.url(way, farewell.wait);
    let held = session.runtime.block_on(session.client.get(&url).send()).expect("a head at once");
    trigger(&session);
    session.wait_for(FrameKind::GOAWAY);
    session.expect(&at.url(way, farewell.release), routes::RELEASED);
    let answer = session.runtime.block_on(whole(held)).expect("the request in flight is answered");
    assert_eq!(String::from_utf8_lossy(&answer.content), HELD);
    assert_eq!(session.connections(), 2, "the next request went on a new connection");
}

/// Fields that take CONTINUATION, which the server counts.
pub fn large_request(at: &Served, way: Way) {
    shown_large_request(at, way, "fields", routes::large_fields_received().as_bytes());
}

/// Fields that take CONTINUATION; the server answers with this content.
pub fn shown_large_request(at: &Served, way: Way, path: &str, content: &[u8]) {
    let (answer, continuations) = send_large(at, way, path);
    assert_same(&answer.content, content, path);
    assert!(continuations > 0, "it took CONTINUATION");
}

/// Fields that would take CONTINUATION if the server had not allowed frames that hold them all.
pub fn large_request_in_one_frame(at: &Served, way: Way, path: &str, content: &[u8]) {
    let (answer, continuations) = send_large(at, way, path);
    assert_same(&answer.content, content, path);
    assert_eq!(continuations, 0, "the server's SETTINGS allow one frame for it");
}

/// What came of a request with a large section, and how many CONTINUATION frames it took.
fn send_large(at: &Served, way: Way, path: &str) -> (Answer, usize) {
    let (session, url) = (Session::new(at, way), at.url(way, path));
    // The server's SETTINGS, which say how large a frame may be, have come with this answer.
    session.expect(&at.url(way, Site::SMALL), SMALL);
    let answer = session.runtime.block_on(async {
        let mut call = session.client.get(&url);
        for (name, value) in routes::large_fields() {
            call = call.header(&*name, value);
        }
        whole(call.send().await?).await
    });
    let answer = answer.unwrap_or_else(|broken| panic!("{path}: {broken:?}"));
    (answer, session.frames(true, FrameKind::CONTINUATION))
}

/// A large section from the server: refused by the limits of a server, taken by larger ones. `count` counts
/// its large fields.
pub fn large_response(at: &Served, way: Way, path: &str, count: impl Fn(&Answer) -> usize) {
    let url = at.url(way, path);
    let limits = Limits { field_section_bytes: 16 * 1024, ..Limits::client() };
    let refusing = Session::with_limits(at, way, limits);
    for _ in 0..2 {
        let broken = refusing.get(&url).expect_err("40 KB are more than 16 KiB");
        assert!(
            matches!(broken.error.cause(), Cause::Peer(rule) if rule.scope == Scope::Stream),
            "{broken:?}"
        );
    }
    assert_eq!(refusing.connections(), 1, "the connection went on");

    let limits = Limits { field_section_bytes: 64 * 1024, ..Limits::client() };
    let session = Session::with_limits(at, way, limits);
    let answer = session.get(&url).expect("it is within the limits");
    assert_eq!(count(&answer), routes::LARGE_FIELDS, "{:?}", answer.fields);
    assert!(session.frames(false, FrameKind::CONTINUATION) > 0, "it took CONTINUATION");
}

/// How many of the fields are as long as those of a large section.
#[must_use]
pub fn large_ones(fields: &FieldSection) -> usize {
    fields.iter().filter(|field| field.value().len() == routes::LARGE_FIELD_BYTES).count()
}

/// Many requests at once on one connection.
pub fn many(at: &Served, way: Way) {
    const TASKS: usize = 50;
    const EACH: usize = 40;
    let session = Session::new(at, way);
    let url = at.url(way, Site::SMALL);
    let expected = Site::content(Site::SMALL);
    let fetch_some = |client: alula::Client, url: String| async move {
        let mut contents = Vec::new();
        for _ in 0..EACH {
            contents
                .push(whole(client.get(&url).send().await?).await.map_err(|broken| broken.error)?.content);
        }
        Ok::<_, Error>(contents)
    };
    let tasks: Vec<_> =
        (0..TASKS).map(|_| session.runtime.spawn(fetch_some(session.client.clone(), url.clone()))).collect();
    for task in tasks {
        let contents = session.runtime.block_on(task).expect("no panic").expect("every request is answered");
        assert!(
            contents.len() == EACH && contents.iter().all(|content| *content == expected),
            "{contents:?}"
        );
    }
    assert_eq!(session.connections(), 1, "all on one connection");
}
