//! libcurl: by its easy interface one request at a time on one handle, by its multi interface many on as
//! many.

use std::hint::black_box;
use std::time::Duration;

use alula_testkit::lists::REQUEST;
use curl::easy::{Easy2, Handler, HttpVersion, List, WriteError};
use curl::multi::{Easy2Handle, Multi};

use crate::clients::asking::Asking;
use crate::clients::request::url;
use crate::measure::Run;

/// Lets content go.
struct Sink;

impl Handler for Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, WriteError> {
        Ok(black_box(bytes).len())
    }
}

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let easy = || easy(asking, port).expect("options that libcurl has");
    if asking.in_flight > 1 {
        let mut many = Many::of((0..asking.in_flight).map(|_| easy()).collect());
        return Box::new(move |count| many.ask(count).expect("all answers"));
    }
    let easy = easy();
    Box::new(move |count| {
        for _ in 0..count {
            easy.perform().expect("an answer");
            assert_eq!(easy.response_code().expect("a status"), 200);
        }
    })
}

fn easy(asking: Asking, port: u16) -> Result<Easy2<Sink>, curl::Error> {
    let (mut easy, mut fields) = (Easy2::new(Sink), List::new());
    for (name, value) in REQUEST {
        fields.append(&format!("{name}: {value}"))?;
    }
    easy.url(&url(port))?;
    easy.http_version(if asking.is_http1 { HttpVersion::V11 } else { HttpVersion::V2PriorKnowledge })?;
    // On a connection of HTTP/2 that is there, instead of on one more.
    easy.pipewait(!asking.is_http1)?;
    easy.http_headers(fields)?;
    easy.proxy("")?;
    Ok(easy)
}

/// Handles that each have a request in flight, or none.
struct Many {
    multi: Multi,
    idle: Vec<Easy2<Sink>>,
    /// By token.
    busy: Vec<Option<Easy2Handle<Sink>>>,
    ended: Vec<usize>,
}

impl Many {
    fn of(idle: Vec<Easy2<Sink>>) -> Self {
        let busy = idle.iter().map(|_| None).collect();
        Self { multi: Multi::new(), ended: Vec::with_capacity(idle.len()), idle, busy }
    }

    fn ask(&mut self, count: u64) -> Result<(), curl::MultiError> {
        let (mut started, mut answered) = (0, 0);
        for token in 0..self.busy.len() {
            if started < count {
                let easy = self.idle.pop().expect("all are idle");
                self.start(token, easy)?;
                started += 1;
            }
        }
        while answered < count {
            self.multi.perform()?;
            self.find_ended();
            if self.ended.is_empty() {
                self.multi.wait(&mut [], Duration::from_secs(10))?;
            }
            while let Some(token) = self.ended.pop() {
                answered += 1;
                let easy = self.end(token)?;
                if started < count {
                    self.start(token, easy)?;
                    started += 1;
                } else {
                    self.idle.push(easy);
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, token: usize, easy: Easy2<Sink>) -> Result<(), curl::MultiError> {
        let mut handle = self.multi.add2(easy)?;
        handle.set_token(token).expect("a handle takes a token");
        self.busy[token] = Some(handle);
        Ok(())
    }

    fn find_ended(&mut self) {
        let ended = &mut self.ended;
        self.multi.messages(|message| {
            if let Some(result) = message.result() {
                result.expect("an answer");
                ended.push(message.token().expect("every handle has one"));
            }
        });
    }

    fn end(&mut self, token: usize) -> Result<Easy2<Sink>, curl::MultiError> {
        let handle = self.busy[token].take().expect("it was started");
        let easy = self.multi.remove2(handle)?;
        assert_eq!(easy.response_code().expect("a status"), 200);
        Ok(easy)
    }
}
