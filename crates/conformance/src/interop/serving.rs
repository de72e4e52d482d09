//! What clients do with our server: one function for each check, for clients that can be told what to do.

use alula::Limits;

use super::own_server::OwnServer;
use super::routes::{self, ENDLESS_BYTES, HALF, HELD, HINTED, LAST, RELEASED, SMALL, TRAILED, TRAILERS};
use super::way::Way;
use crate::certificates::Certificates;
use crate::peers::driven::{Ask, Driven, Takes, Told};
use crate::site::{Site, assert_same};

/// The number of requests that are many.
pub const MANY: usize = 2000;

/// What all servers of a row have in common; each cell starts its own, so that it counts no other's requests.
#[derive(Debug, Default)]
pub struct Serving {
    /// How they are trusted.
    pub certificates: Certificates,
}

/// A server of its own and a client of it.
pub struct Pair<D> {
    /// Ours.
    pub server: OwnServer,
    /// The peer.
    pub client: D,
}

impl<D: Driven> Pair<D> {
    /// Starts both.
    #[must_use]
    pub fn start(at: &Serving, way: Way) -> Self {
        Self::with(OwnServer::start(&at.certificates), at, way)
    }

    fn with(server: OwnServer, at: &Serving, way: Way) -> Self {
        let client = D::start(&server.base(way), &way.reach(&at.certificates));
        Self { server, client }
    }

    /// Asks, and is told of a response without mistakes.
    ///
    /// # Panics
    /// When something goes wrong, or the status is not 200.
    #[track_caller]
    pub fn whole(&mut self, ask: &Ask) -> Told {
        let told = self.client.ask(ask);
        assert_eq!((told.status, &*told.error), (200, ""), "{}: {} bytes", ask.path, told.content.len());
        told
    }

    /// As [`Self::whole`], and the content must be this.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn expect(&mut self, path: &str, content: &str) -> Told {
        let told = self.whole(&get(path));
        assert_eq!(String::from_utf8_lossy(&told.content), content, "{path}");
        told
    }
}

/// A request for the path.
#[must_use]
pub fn get(path: &str) -> Ask {
    Ask { path: path.to_owned(), ..Ask::default() }
}

fn owned(pairs: [(&str, &str); 2]) -> Vec<(String, String)> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Three contents.
pub fn download<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    for (path, content) in routes::downloads() {
        assert_same(&pair.whole(&get(&path)).content, &content, &path);
    }
}

/// Content sent and sent back.
pub fn upload<D: Driven>(at: &Serving, way: Way) {
    let sent = routes::upload();
    let ask = Ask { method: "POST", content: Some(sent.clone()), ..get("echo") };
    assert_same(&Pair::<D>::start(at, way).whole(&ask).content, &sent, "what was sent");
}

/// Fields after the content of a response.
pub fn response_trailers<D: Driven>(at: &Serving, way: Way) {
    let told = Pair::<D>::start(at, way).expect("trailers", TRAILED);
    for field in owned(TRAILERS) {
        assert!(told.trailers.contains(&field), "{:?}", told.trailers);
    }
}

/// As [`response_trailers`], of a client that does not show them: the content is whole without them.
pub fn unseen_response_trailers<D: Driven>(at: &Serving, way: Way) {
    let _ = Pair::<D>::start(at, way).expect("trailers", TRAILED);
}

/// Fields after the content of a request.
pub fn request_trailers<D: Driven>(at: &Serving, way: Way) {
    let content = Some(TRAILED.into());
    let ask = Ask { method: "POST", content, trailers: owned(TRAILERS), ..get("sent-trailers") };
    let told = Pair::<D>::start(at, way).whole(&ask);
    assert_eq!(String::from_utf8_lossy(&told.content), routes::trailers_received());
}

/// Two interim responses.
pub fn interim<D: Driven>(at: &Serving, way: Way) {
    let told = Pair::<D>::start(at, way).expect("interim", HINTED);
    assert_eq!(told.interim, [103, 103]);
}

/// As [`interim`], of a client that does not show them.
pub fn unseen_interim<D: Driven>(at: &Serving, way: Way) {
    let _ = Pair::<D>::start(at, way).expect("interim", HINTED);
}

/// Our reset in the middle of the content.
pub fn server_resets<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    let told = pair.client.ask(&get("reset"));
    assert!(!told.error.is_empty(), "half a content is not a whole one: {told:?}");
    assert!(HALF.as_bytes().starts_with(&told.content), "{told:?}");
    let _ = pair.expect(Site::SMALL, SMALL);
    assert_eq!(pair.server.connections(), 1, "the connection went on");
}

/// The client's reset in the middle of a long content.
pub fn client_resets<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    let told = pair.client.ask(&Ask { takes: Takes::Beginning, ..get(&format!("big?n={ENDLESS_BYTES}")) });
    assert!(told.content.len() < ENDLESS_BYTES, "all of it at once");
    pair.server.wait_for_giving_up();
    let _ = pair.expect(Site::SMALL, SMALL);
    assert_eq!(pair.server.connections(), 1, "the connection went on");
}

/// GOAWAY with a request in flight. What ends that request is another, which only a new connection can carry.
pub fn goaway<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    let _ = pair.client.ask(&Ask { takes: Takes::Head, ..get("wait") });
    let _ = pair.expect("goaway", LAST);
    let _ = pair.expect("release", RELEASED);
    let told = pair.whole(&Ask { takes: Takes::Rest, ..get("wait") });
    assert_eq!(String::from_utf8_lossy(&told.content), HELD, "the request in flight is answered");
    assert_eq!(pair.server.connections(), 2, "the next request went on a new connection");
}

/// As [`goaway`], of a client that loses its request in flight.
pub fn goaway_that_loses<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    let _ = pair.expect(Site::SMALL, SMALL);
    let told = pair.client.ask(&get("goaway"));
    assert!(
        !told.error.is_empty(),
        "it has learnt to take an answer after GOAWAY: hold it to that. {told:?}"
    );
    let _ = pair.expect(Site::SMALL, SMALL);
    assert_eq!(pair.server.connections(), 2, "the next request went on a new connection");
}

/// Fields that take CONTINUATION, to us: taken by larger limits, refused by the default ones.
pub fn large_request<D: Driven>(at: &Serving, way: Way) {
    let ask = Ask { fields: routes::large_fields(), ..get("fields") };
    let told = Pair::<D>::start(at, way).whole(&ask);
    assert_eq!(String::from_utf8_lossy(&told.content), routes::large_fields_received());

    let strict = OwnServer::with_limits(&at.certificates, Limits::default());
    let mut refusing = Pair::<D>::with(strict, at, way);
    let _ = refusing.expect(Site::SMALL, SMALL);
    let told = refusing.client.ask(&ask);
    // A client that reads our SETTINGS need not try.
    assert!(
        told.status == 431 || told.error.contains("advertised limit"),
        "40 KB are more than 16 KiB: {told:?}"
    );
    let _ = refusing.expect(Site::SMALL, SMALL);
    assert_eq!((refusing.server.requests(), refusing.server.connections()), (2, 1), "the connection went on");
}

/// Fields that take CONTINUATION, from us.
pub fn large_response<D: Driven>(at: &Serving, way: Way) {
    let told = Pair::<D>::start(at, way).whole(&get(&routes::large_response()));
    let large = told.fields.iter().filter(|(_, value)| value.len() == routes::LARGE_FIELD_BYTES).count();
    assert_eq!(large, routes::LARGE_FIELDS, "{:?}", told.fields);
}

/// Many requests at once on one connection.
pub fn many<D: Driven>(at: &Serving, way: Way) {
    let mut pair = Pair::<D>::start(at, way);
    // Some clients open a connection for each of the requests that come before they have one.
    let _ = pair.expect(Site::SMALL, SMALL);
    let told = pair.client.ask(&Ask { takes: Takes::Times(MANY), ..get(Site::SMALL) });
    assert_eq!(told.error, "");
    assert_eq!((pair.server.requests(), pair.server.connections()), (MANY + 1, 1));
}
