//! Data types take a small multiple of their records: decoded, while they are changed, and while their
//! answers wait for slow readers. What they take decoded is charged before it is taken, and a data type has
//! bounds.
//!
//! Records are written here by hand, as docs/store-format.md has them.

use std::time::Duration;

use crate::resources::typed::types;
use crate::resources::{Kept, Wire, config};
use alula::Content;
use alula::testing::TestServer;
use alula_store::engine::{BucketName, Decide, Durability, Engine, Mark, Verdict, WriteTerms};
use alula_store::model::types::{Change, Kind, Operation, SKETCHES_MAX, State, Unfit};
use alula_store::model::{self, Actor, Attribute, Context, Dot, Moment, NewContent, Record, Rules};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

/// The bytes of memory that a decoded data type takes for each byte of its record, at most.
const DECODED_FACTOR: u64 = 8;

const SET: u8 = 2;
const MAP: u8 = 4;

fn number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn dot(actor: u64, count: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&actor.to_be_bytes());
    number(count, out);
}

/// A state of one actor with so many items, each behind a name of its own.
fn state(kind: u8, items: u32, named: bool, item: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![1, 1];
    dot(1, 9, &mut out);
    out.push(kind);
    number(items.into(), &mut out);
    for index in 0..items {
        if named {
            out.push(3);
            out.extend_from_slice(&(index + 0x0010_0000).to_be_bytes()[1..]);
        }
        item(&mut out);
    }
    out
}

fn one_dot(out: &mut Vec<u8>) {
    out.push(1);
    dot(1, 1, out);
}

fn set(elements: u32) -> Vec<u8> {
    state(SET, elements, true, one_dot)
}

fn map(fields: u32, value: &[u8]) -> Vec<u8> {
    state(MAP, fields, true, |out| {
        one_dot(out);
        out.extend_from_slice(value);
    })
}

/// A value of a map: its kind, and what follows a count of 1 and the dot of the one item.
fn value(kind: &[u8], item: &[u8]) -> Vec<u8> {
    let mut out = kind.to_vec();
    one_dot(&mut out);
    out.extend_from_slice(item);
    out
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    const FIELDS: u32 = 20_000;
    let one_in_set = [&[SET, 1, 0][..], &value(&[], &[])].concat();
    let one_in_map = [&[MAP, 1, 0][..], &value(&[], &[7, 0])].concat();
    let moment = [0; 8];
    vec![
        ("a set", set(FIELDS)),
        (
            "a set whose elements have two dots",
            state(SET, FIELDS, true, |out| {
                out.push(2);
                dot(1, 1, out);
                dot(1, 2, out);
            }),
        ),
        ("flags", map(FIELDS, &value(&[7], &[]))),
        ("flags that are off", map(FIELDS, &[7, 0])),
        ("counters", map(FIELDS, &value(&[1], &[1, 0]))),
        ("registers", map(FIELDS, &value(&[6], &[&moment[..], &[1, b'x']].concat()))),
        ("sets of one", map(FIELDS, &one_in_set)),
        ("maps of one", map(FIELDS, &one_in_map)),
        ("sketches of nothing", map(FIELDS, &value(&[5, 14], &[14, 0]))),
        ("sketches of one", map(FIELDS, &value(&[5, 14], &[14, 1, 7, 1]))),
        ("sketches of one, of the greatest precision", map(FIELDS, &value(&[5, 16], &[16, 1, 7, 1]))),
    ]
}

pub(crate) fn a_decoded_state_is_a_small_multiple_of_its_record() {
    assert!(alula_tally::is_installed());
    let mut over = Vec::new();
    for (name, record) in samples() {
        let (state, counts) = alula_tally::counted(|| State::read(&record).expect(name));
        let factor = counts.bytes_live() as f64 / record.len() as f64;
        println!("{name}: {} bytes, decoded {factor:.1} times", record.len());
        if factor > DECODED_FACTOR as f64 {
            over.push(format!("{name}: {factor:.1}"));
        }
        drop(state);
    }
    assert!(over.is_empty(), "{over:?}");
}

/// Bytes that only say that they have many items make no room for them.
pub(crate) fn a_record_makes_no_room_that_its_bytes_do_not_fill() {
    const DEEP: usize = 30;
    let mut record = vec![1, 0];
    for _ in 0..DEEP {
        record.push(MAP);
        number(5_000, &mut record);
        record.push(0);
        one_dot(&mut record);
    }
    record.resize(record.len() + 100_000, 0);
    let (state, counts) = alula_tally::counted(|| State::read(&record).is_ok());
    assert!(!state, "it is damaged");
    let factor = counts.bytes as f64 / record.len() as f64;
    assert!(factor <= DECODED_FACTOR as f64, "{factor:.1}");
}

/// A content that is stored as it is.
struct Stored {
    media_type: &'static [u8],
    value: Vec<u8>,
}

impl Decide for Stored {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let mut attributes = Vec::new();
        Attribute::MediaType(self.media_type).write(&mut attributes);
        let new =
            NewContent { dot, vtag, now, is_deleted: false, attributes: &attributes, value: &self.value };
        let rules = Rules { allow_mult: false, last_write_wins: true, siblings_max: 1, bytes_max: 1 << 30 };
        model::write(stored, Context::EMPTY, &new, &rules, out).expect("one content");
        Verdict::Write
    }
}

async fn store(engine: &Kept, bucket_type: &str, media_type: &'static [u8], value: Vec<u8>) {
    let bucket = BucketName { bucket_type: bucket_type.as_bytes(), bucket: b"b" };
    let deadline = Instant::now() + Duration::from_secs(60);
    let terms =
        WriteTerms { n: 3, w: 2, pw: 0, dw: 2, node_confirms: 0, durability: Durability::Flushed, deadline };
    engine.write(bucket.object(b"k"), Stored { media_type, value }, &terms).await.expect("written");
}

const SET_PATH: &str = "/types/sets/buckets/b/datatypes/k";
const MAP_PATH: &str = "/types/maps/buckets/b/datatypes/k";

/// A few bytes that change a large record cost a multiple of it, whatever its sketches could hold.
pub(crate) fn a_small_change_allocates_a_multiple_of_the_record() {
    crate::block_on(async {
        const CHANGES: u64 = 10;
        let record = map(1_000, &value(&[5, 14], &[14, 1, 7, 1]));
        let record_bytes = record.len() as u64;
        let engine = Kept::default();
        store(&engine, "maps", b"application/riak_map", record).await;
        let wire = Wire::open(&engine, &types(), false).await;
        wire.post(MAP_PATH, r#"{"update":{"n_counter":1}}"#).is(204).await;
        let before = alula_tally::process();
        for _ in 0..CHANGES {
            wire.post(MAP_PATH, r#"{"update":{"n_counter":1}}"#).is(204).await;
        }
        let bytes = (alula_tally::process() - before).bytes / CHANGES;
        println!("{bytes} bytes allocated for a change of a record of {record_bytes}");
        assert!(bytes <= 16 * record_bytes, "{bytes} for {bytes}");
    });
}

/// An answer that waits for its client holds its own bytes, and nothing of what it was made of.
pub(crate) fn answers_that_wait_hold_their_content_alone() {
    crate::block_on(async {
        const READERS: usize = 12;
        let engine = Kept::default();
        store(&engine, "sets", b"application/riak_set", set(50_000)).await;
        let store = alula_store::Store::open(engine, config(&types())).await.expect("types that can be");
        for path in [SET_PATH, "/types/sets/buckets/b/keys/k"] {
            let client = alula::testing::client(store.routes().expect("routes that agree"));
            let url = format!("http://test{path}");
            let content =
                client.get(&url).send().await.expect("an answer").bytes().await.expect("whole").len();
            let before = alula_tally::process().bytes_live();
            let mut answers = Vec::new();
            for _ in 0..READERS {
                answers.push(client.get(&url).send().await.expect("an answer"));
            }
            let held = (alula_tally::process().bytes_live() - before) as usize / READERS;
            println!("{path}: {held} bytes are held for an answer of {content}");
            // Its content, what of it is under way, and the connection.
            assert!(held <= 3 * content + 256 * 1024, "{path}: {held} for {content}");
            drop(answers);
        }
    });
}

/// The form that a data type takes in memory has a share of the bytes in flight, of which there is none
/// while others hold them.
pub(crate) fn the_decoded_form_waits_for_its_room() {
    crate::block_on_paused(async {
        const MIB: u64 = 1024 * 1024;
        let engine = Kept::default();
        store(&engine, "sets", b"application/riak_set", set(20_000)).await;
        let mut config = config(&types());
        config.bytes_in_flight_max = 3 * MIB;
        let store = alula_store::Store::open(engine, config).await.expect("types that can be");
        let client = TestServer::new(store.routes().expect("routes that agree")).client();
        let whole =
            Content::reader_of(tokio::io::repeat(b'x').take(2 * MIB), 2 * MIB).media_type("text/plain");
        let put = client.put("http://test/buckets/b/keys/large").content(whole);
        assert_eq!(put.send().await.expect("an answer").status(), 204);
        let read = async |path: &str| {
            let sent = client.get(format!("http://test{path}?timeout=500")).send().await;
            sent.expect("an answer").status().as_u16()
        };
        let change = async || {
            let post = client.post(format!("http://test{SET_PATH}?timeout=500"));
            let post = post.header("content-type", "application/json").body(r#"{"add":"a"}"#);
            post.send().await.expect("an answer").status().as_u16()
        };
        let held = client.get("http://test/buckets/b/keys/large").send().await.expect("an answer");
        let object = "/types/sets/buckets/b/keys/k";
        assert_eq!([read(SET_PATH).await, read(object).await, change().await], [503, 503, 503]);
        drop(held);
        // The room comes back when the server sees that the reader is gone.
        let deadline = Instant::now() + Duration::from_secs(600);
        while read(SET_PATH).await == 503 && Instant::now() < deadline {}
        assert_eq!([read(SET_PATH).await, read(object).await, change().await], [200, 200, 204]);
    });
}

/// A data type has a million elements and fields; a larger one of an older store can be read, made smaller
/// and deleted.
pub(crate) fn elements_are_bounded() {
    crate::block_on(async {
        const ELEMENTS_MAX: u32 = 1_000_000;
        let engine = Kept::default();
        let wire = Wire::open(&engine, &types(), false).await;
        let text =
            "The operation was not carried out: there would be more than 1000000 elements and fields\n";
        for elements in [ELEMENTS_MAX, ELEMENTS_MAX + 7] {
            store(&engine, "sets", b"application/riak_set", set(elements)).await;
            wire.post(SET_PATH, r#"{"add":"new"}"#).is(413).await.has_text(text);
            let first = wire.get(SET_PATH).is(200).await.json()["value"][0].take();
            wire.post(SET_PATH, &json!({"remove": first}).to_string()).is(204).await;
            wire.delete("/types/sets/buckets/b/keys/k").is(204).await;
        }
    });
}

/// Riak §13: a map holds 1,024 sketches, wherever in it they lie.
pub(crate) fn sketches_of_a_map_are_bounded() {
    crate::block_on(async {
        assert_eq!(SKETCHES_MAX, 1_024);
        let wire = Wire::open(&Kept::default(), &types(), false).await;
        let sketches = |count: usize| -> Value {
            (0..count).map(|number| (format!("{number}_hll"), json!({"add": "a"}))).collect()
        };
        let text = "The operation was not carried out: the map would hold more than 1024 hlls\n";
        let too_many = json!({"update": {"m_map": {"update": sketches(SKETCHES_MAX + 1)}}});
        wire.post(MAP_PATH, &too_many.to_string()).is(413).await.has_text(text);
        let most = json!({"update": {"m_map": {"update": sketches(SKETCHES_MAX)}}});
        wire.post(MAP_PATH, &most.to_string()).is(204).await;
        wire.post(MAP_PATH, r#"{"update":{"h_hll":{"add":"a"}}}"#).is(413).await.has_text(text);
        wire.post(MAP_PATH, r#"{"update":{"m_map":{"update":{"7_hll":{"add":"b"}}}}}"#).is(204).await;
        wire.post(MAP_PATH, r#"{"update":{"n_counter":1}}"#).is(204).await;
    });
}

/// An operation that asks for far more hlls than a map holds is refused once as many are made.
pub(crate) fn sketches_beyond_the_bound_are_not_made() {
    const ASKED: u32 = 40_000;
    // A field in a map of its own, so that the bound is that of all maps together.
    let hll = |number: u32| {
        let field = Operation::map([("hll", Operation::count(["a"]))], []);
        (number.to_be_bytes(), field)
    };
    let operation = Operation::map((0..ASKED).map(hll), []);
    let dot = Dot::new(Actor::new(1), 1).expect("a count within its bounds");
    let change = Change { dot, now: Moment::from_micros(1), context: None };
    let mut state = State::new(Kind::Map);
    let (changed, counts) = alula_tally::counted(|| state.change(&operation, &change));
    assert_eq!(changed, Err(Unfit::Sketches));
    println!("{} allocations, {} bytes for {ASKED} hlls", counts.allocations, counts.bytes);
    // The map within the map, the sketch and its list of registers, before and after it is ordered.
    assert!(counts.allocations <= 5 * SKETCHES_MAX as u64, "{}", counts.allocations);
}

/// An operation is held in one piece of memory that is no longer than its JSON, and its elements are ordered
/// and carried out within a small multiple of that.
pub(crate) fn an_operation_takes_a_small_multiple_of_its_content() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut over = Vec::new();
    for (shape, path, status, content) in large_operations() {
        let wire = runtime.block_on(Wire::open(&Kept::default(), &types(), false));
        let ask = wire.post(path, &content);
        let (_, peak) = alula_tally::peak(|| runtime.block_on(ask.is(status)));
        let kept = if status == 204 { content.len() } else { 0 };
        let factor = peak as f64 / (content.len() + kept) as f64;
        println!("{shape}: {factor:.1} times {} bytes", content.len() + kept);
        if factor > OPERATION_FACTOR {
            over.push(format!("{shape}: {factor:.1}"));
        }
    }
    assert!(over.is_empty(), "{over:?}");
}

/// The bytes of memory for each byte of an operation, and of the value that it makes, at most.
const OPERATION_FACTOR: f64 = 8.0;

fn large_operations() -> Vec<(String, &'static str, u16, String)> {
    const BYTES: usize = 1_000_000;
    let many = |unit: &dyn Fn(usize) -> String| {
        let mut all = String::new();
        for number in 0.. {
            let next = unit(number);
            if all.len() + next.len() > BYTES {
                return all;
            }
            all.push_str(if all.is_empty() { "" } else { "," });
            all.push_str(&next);
        }
        all
    };
    let letters = |number: usize| {
        let letter = |place: u32| char::from(b'A' + (number / 50_usize.pow(place) % 50) as u8);
        let text: String = (0..3).map(letter).collect();
        text.replace('\\', "~")
    };
    let hlls = "/types/hlls/buckets/b/datatypes/k";
    let mut shapes: Vec<(String, &'static str, u16, String)> = Vec::new();
    for (name, unit) in [
        ("nothing", &(|_| "\"\"".to_owned()) as &dyn Fn(usize) -> String),
        ("two by turns", &|number| ["\"a\"", "\"b\""][number % 2].to_owned()),
        ("numbers", &|number| format!("\"{number}\"")),
        ("three letters", &|number| format!("\"{}\"", letters(number))),
        ("escapes", &|_| "\"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\"".to_owned()),
    ] {
        let all = many(unit);
        shapes.push((format!("added, {name}"), SET_PATH, 204, format!("{{\"add_all\":[{all}]}}")));
        shapes.push((format!("counted, {name}"), hlls, 204, format!("{{\"add_all\":[{all}]}}")));
        let removed = format!("{{\"remove_all\":[{all}]}}");
        shapes.push((format!("removed, {name}"), SET_PATH, 400, removed));
        let refused = format!("{{\"add_all\":[{all}],\"remove\":\"absent\"}}");
        shapes.push((format!("added and refused, {name}"), SET_PATH, 400, refused));
        let last = format!("{{\"add_all\":[{all},1]}}");
        shapes.push((format!("ended by a number, {name}"), SET_PATH, 400, last));
        let later = format!(
            "{{\"update\":{{\"a_set\":{{\"add_all\":[{all}]}},\"b_set\":{{\"remove\":\"absent\"}}}}}}"
        );
        shapes.push((format!("added to a field and refused, {name}"), MAP_PATH, 400, later));
    }
    for field in [
        "_counter\":1",
        "_flag\":\"enable\"",
        "_register\":\"\"",
        "_set\":{\"add\":\"\"}",
        "_hll\":{\"add\":\"\"}",
        "_map\":{\"update\":{\"_flag\":\"enable\"}}",
    ] {
        let (status, last) = if field.contains("hll") { (413, 413) } else { (204, 400) };
        for (order, all) in [
            ("up", many(&|number| format!("\"{}{field}", letters(number)))),
            ("down", many(&|number| format!("\"{}{field}", letters(124_999 - number)))),
        ] {
            let updated = format!("{{\"update\":{{{all}}}}}");
            shapes.push((format!("fields {field} {order}"), MAP_PATH, status, updated));
        }
        let all = many(&|number| format!("\"{}{field}", letters(number)));
        let removed = format!("{{\"update\":{{{all}}},\"remove\":\"absent_flag\"}}");
        shapes.push((format!("fields {field} and one to remove"), MAP_PATH, 400, removed));
        let updated = format!("{{\"update\":{{{all},\"z_set\":{{\"remove\":\"absent\"}}}}}}");
        shapes.push((format!("fields {field}, the last refused"), MAP_PATH, last, updated));
    }
    let names = many(&|number| format!("\"{}_flag\"", letters(number)));
    shapes.push(("removed fields".into(), MAP_PATH, 400, format!("{{\"remove\":[{names}]}}")));
    shapes
}

/// A reader that gives so many spaces and then nothing more.
struct Halted(usize);

impl tokio::io::AsyncRead for Halted {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let count = self.0.min(buffer.remaining());
        buffer.put_slice(&vec![b' '; count]);
        self.0 -= count;
        if count > 0 { std::task::Poll::Ready(Ok(())) } else { std::task::Poll::Pending }
    }
}

/// Returns the bytes that are held, by the clients as well, while contents that do not end arrive.
async fn held_while_arriving(method: &'static str, path: &str, bytes: usize) -> u64 {
    let mut config = config(&types());
    config.bytes_in_flight_max = ARRIVING_MAX;
    let store = alula_store::Store::open(Kept::default(), config).await.expect("types that can be");
    let server = TestServer::new(store.routes().expect("routes that agree"));
    let before = alula_tally::process().bytes_live();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (client, url) = (server.client(), format!("http://test{path}"));
        let content = Content::reader_of(Halted(bytes), bytes as u64 + 1).media_type("application/json");
        clients.spawn(async move { client.request(method, url).content(content).send().await.is_ok() });
    }
    // The clock goes on once nothing else can.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let held = alula_tally::process().bytes_live() - before;
    println!("{method} {path}: {held} bytes are held of contents of {bytes}");
    clients.shutdown().await;
    held as u64
}

/// The bytes in flight of contents that arrive.
const ARRIVING_MAX: u64 = 1024 * 1024;

/// Contents in JSON have their share of the bytes in flight while they arrive, as objects have.
pub(crate) fn json_that_arrives_has_room_or_waits() {
    crate::block_on_paused(async {
        for (method, path, bytes) in [
            ("POST", SET_PATH, 1_000_000),
            ("PUT", "/buckets/b/props", 250_000),
            ("PUT", "/types/sets/props", 250_000),
        ] {
            let of_objects = held_while_arriving("PUT", "/buckets/b/keys/k", bytes).await;
            let held = held_while_arriving(method, path, bytes).await;
            assert!(
                held <= of_objects + 4 * ARRIVING_MAX,
                "{method} {path}: {held}, {of_objects} of objects"
            );
        }
    });
}
