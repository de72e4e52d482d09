//! The last field section that was sent, as it is on the wire.

use alula_fields::{FieldSection, RequestHead};
use alula_h2::{Config, Connection};
use alula_machine::OutBuf;

fn request<'a>(path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method: "GET", scheme: "http", authority: "a", path, protocol: None, fields }
}

#[test]
fn each_head_is_read_back_from_its_block() {
    let mut client = Connection::client(Config { keep_sent_head: true, ..Config::default() });
    let mut fields = FieldSection::new();
    fields.append("x-odd", " 1 ").unwrap();
    fields.append_sensitive("authorization", "s").unwrap();
    let mut out = OutBuf::new();
    assert_eq!(client.sent_head(), b"");
    // The second is made of references to what the first entered into the table.
    for path in ["/one", "/two", "/two"] {
        client.send_request(&request(path, &fields), true, &mut out).unwrap();
        let pseudo = format!(":method: GET\r\n:scheme: http\r\n:authority: a\r\n:path: {path}\r\n");
        let expected = format!("{pseudo}x-odd: 1\r\nauthorization: s\r\n");
        assert_eq!(String::from_utf8_lossy(client.sent_head()), expected);
    }
    // One that takes CONTINUATION frames (RFC 9113 §6.10).
    let long = "~".repeat(40_000);
    fields.append("x-long", &long).unwrap();
    client.send_request(&request("/", &fields), true, &mut out).unwrap();
    assert!(client.sent_head().ends_with(format!("x-long: {long}\r\n").as_bytes()));
}

#[test]
fn nothing_is_kept_when_nobody_wants_it() {
    let mut client = Connection::client(Config::default());
    client.send_request(&request("/", &FieldSection::new()), true, &mut OutBuf::new()).unwrap();
    assert_eq!(client.sent_head(), b"");
}
