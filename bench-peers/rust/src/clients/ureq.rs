//! ureq, which blocks: with a thread for each request in flight, all on one agent.

use std::hint::black_box;
use std::io::Read;

use alula_testkit::lists::REQUEST;
use ureq::Agent;

use crate::clients::asking::{Asking, threads};
use crate::clients::request::url;
use crate::measure::Run;

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    assert!(asking.is_http1, "it speaks nothing else");
    let connections = asking.in_flight as usize;
    let config = Agent::config_builder()
        .proxy(None)
        .max_idle_connections(connections)
        .max_idle_connections_per_host(connections);
    let (agent, url) = (Agent::new_with_config(config.build()), url(port));
    threads(asking.in_flight, move |requests| {
        let mut buffer = vec![0; 65_536];
        for _ in 0..requests {
            ask(&agent, &url, &mut buffer);
        }
    })
}

fn ask(agent: &Agent, url: &str, buffer: &mut [u8]) {
    let mut call = agent.get(url);
    for (name, value) in REQUEST {
        call = call.header(name, value);
    }
    let mut answer = call.call().expect("an answer");
    assert_eq!(answer.status(), 200);
    let mut content = answer.body_mut().as_reader();
    while content.read(buffer).expect("whole content") > 0 {
        black_box(&buffer);
    }
}
