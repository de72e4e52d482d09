//! libcurl by its easy interface, one request at a time on one handle.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use curl::easy::{Easy, HttpVersion, List};

use crate::measure::Run;
use crate::request::url;

pub(crate) fn run(port: u16) -> Run {
    let easy = easy(port).expect("options that libcurl has");
    Box::new(move |count| {
        for _ in 0..count {
            easy.perform().expect("an answer");
            assert_eq!(easy.response_code().expect("a status"), 200);
        }
    })
}

fn easy(port: u16) -> Result<Easy, curl::Error> {
    let (mut easy, mut fields) = (Easy::new(), List::new());
    for (name, value) in REQUEST {
        fields.append(&format!("{name}: {value}"))?;
    }
    easy.url(&url(port))?;
    easy.http_version(HttpVersion::V2PriorKnowledge)?;
    easy.http_headers(fields)?;
    easy.proxy("")?;
    easy.write_function(|octets| Ok(black_box(octets).len()))?;
    Ok(easy)
}
