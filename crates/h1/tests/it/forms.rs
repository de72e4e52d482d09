//! How a request was written is told of each head: of one that was read, and of one that came again.

use alula_fields::{Head, RequestForm, ResponseHead, Status};
use alula_h1::{Config, Connection, Event};
use alula_machine::{OutBuf, Time};

const NONE: RequestForm = RequestForm::NONE;
const HOST: RequestForm = RequestForm::HOST;

/// Heads without content whose connection goes on, and their forms.
const REQUESTS: [(&str, RequestForm); 6] = [
    ("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n", HOST),
    ("GET http://a/1 HTTP/1.1\r\nHost: a\r\n\r\n", HOST.with(RequestForm::ABSOLUTE)),
    ("OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", RequestForm::HTTP_10),
    (
        "GET http://a/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        RequestForm::HTTP_10.with(RequestForm::ABSOLUTE),
    ),
    ("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n", HOST),
    ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", NONE.with(RequestForm::HTTP_10)),
];

/// Hands over a head in these pieces, answers it, and returns its form.
fn form_of<'p>(machine: &mut Connection, pieces: impl IntoIterator<Item = &'p [u8]>) -> RequestForm {
    let (mut head, mut out, mut input) = (Head::new(), OutBuf::new(), Vec::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        let received = machine.receive(&input, Time::ZERO).unwrap();
        if let Some(Event::Head { stream, .. }) = received.event {
            machine.take_head(stream, &mut head).unwrap();
            let answer = ResponseHead { status: Status::NO_CONTENT, fields: &Default::default() };
            machine.send_response(stream, &answer, true, &mut out).unwrap();
        }
        let consumed = received.consumed;
        input.drain(..consumed);
    }
    head.form()
}

#[test]
fn forms_are_told_of_heads_that_are_read_and_of_those_that_come_again() {
    let mut whole = Connection::server(Config::default());
    let mut cut = Connection::server(Config::default());
    for (request, form) in REQUESTS.iter().flat_map(|row| [row; 3]) {
        assert_eq!(form_of(&mut whole, [request.as_bytes()]), *form, "{request}");
        assert_eq!(form_of(&mut cut, request.as_bytes().chunks(1)), *form, "{request}, byte by byte");
    }
}

#[test]
fn a_tunnel_names_an_authority_and_is_no_uri() {
    let mut machine = Connection::server(Config::default());
    let request = b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
    assert_eq!(form_of(&mut machine, [&request[..]]), HOST);
}
