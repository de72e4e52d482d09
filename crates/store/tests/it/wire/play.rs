//! Plays a case: sends its requests and holds the answers against what must come back.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::wire::answer::Answer;
use crate::wire::case::{Case, Expected, Request, Step};
use crate::wire::http1::{self, Connection};
use crate::wire::http2;
use crate::wire::pattern::Pattern;
use crate::wire::stores::{self, Stores};
use crate::wire::variables::Variables;

/// The longest wait for what happens by itself.
const AWAITED_MAX: Duration = Duration::from_secs(10);
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// Plays a case with this bucket.
///
/// # Errors
/// The first thing that is not as it must be.
pub(crate) fn play(case: &Case, version: Version, stores: &Stores, bucket: &str) -> Result<(), String> {
    let mut player = Player::new(case, version, stores, bucket);
    case.steps.iter().try_for_each(|step| player.step(step))?;
    player.check_unexpected()
}

struct Player<'s> {
    stores: &'s Stores,
    host: String,
    transport: Transport,
    variables: Variables,
    /// Answers that nothing was held against yet.
    answers: VecDeque<Answer>,
    last: Option<&'s Request>,
}

enum Transport {
    Http1(Connection),
    Http2(alula::Client),
}

impl<'s> Player<'s> {
    fn new(case: &Case, version: Version, stores: &'s Stores, bucket: &str) -> Self {
        let address = stores.address(case.store);
        let transport = match version {
            Version::Http1 => Transport::Http1(Connection::new(address)),
            Version::Http2 => Transport::Http2(http2::client(stores::limits())),
        };
        let (mut variables, host) = (Variables::default(), address.to_string());
        for (name, value) in [
            ("b", bucket),
            ("host", &host),
            ("key", &format!("/buckets/{bucket}/keys/k")),
            ("mult", &format!("/types/mult/buckets/{bucket}/keys/k")),
        ] {
            variables.set(name, value);
        }
        Self { stores, host, transport, variables, answers: VecDeque::new(), last: None }
    }

    fn step(&mut self, step: &'s Step) -> Result<(), String> {
        match step {
            Step::Ask(request) => {
                self.check_unexpected()?;
                self.last = Some(request);
                let answer = self.ask(request)?;
                self.variables.take(&answer);
                self.answers.push_back(answer);
                Ok(())
            }
            Step::Send(bytes) => {
                let bytes = self.bytes(bytes)?;
                self.connection()?.send(&bytes)
            }
            Step::Expect(expected) if expected.is_awaited => self.await_answer(expected),
            Step::Expect(expected) => {
                let answer = self.next_answer()?;
                expected.check(&answer, &self.variables)
            }
        }
    }

    /// Fails if a request that was to be carried out was not.
    fn check_unexpected(&mut self) -> Result<(), String> {
        match self.answers.pop_front() {
            Some(answer) if answer.status >= 400 => Err(format!("a request before: {answer}")),
            _ => Ok(()),
        }
    }

    fn next_answer(&mut self) -> Result<Answer, String> {
        if let Some(answer) = self.answers.pop_front() {
            return Ok(answer);
        }
        let answer = self.connection()?.answer(false)?;
        self.variables.take(&answer);
        Ok(answer)
    }

    fn await_answer(&mut self, expected: &Expected) -> Result<(), String> {
        let (begun, mut answer) = (Instant::now(), self.next_answer()?);
        let request = self.last.ok_or("there is no request to repeat")?;
        loop {
            match expected.check(&answer, &self.variables) {
                Err(_) if begun.elapsed() < AWAITED_MAX => {}
                outcome => return outcome,
            }
            self.stores.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
            answer = self.ask(request)?;
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, String> {
        let path = self.bytes(&request.path)?;
        let fields = request.fields.iter().map(|(name, value)| Ok((name.clone(), self.bytes(value)?)));
        let fields = fields.collect::<Result<Vec<_>, String>>()?;
        let content = request.content.as_deref().map(|content| self.bytes(content)).transpose()?;
        let (method, content) = (&*request.method, content.as_deref());
        match &mut self.transport {
            Transport::Http1(connection) => {
                connection.send(&http1::request((method, &path[..]), &self.host, &fields, content))?;
                loop {
                    let answer = connection.answer(method == "HEAD")?;
                    if answer.status >= 200 {
                        return Ok(answer);
                    }
                }
            }
            Transport::Http2(client) => {
                let url = format!("http://{}{}", self.host, String::from_utf8_lossy(&path));
                http2::ask(&self.stores.runtime, client, (method, &url), &fields, content)
            }
        }
    }

    fn bytes(&self, text: &str) -> Result<Vec<u8>, String> {
        Pattern::read(text, &self.variables)?.into_bytes()
    }

    fn connection(&mut self) -> Result<&mut Connection, String> {
        match &mut self.transport {
            Transport::Http1(connection) => Ok(connection),
            Transport::Http2(_) => Err("an answer more than there are requests".into()),
        }
    }
}
