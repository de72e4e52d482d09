//! Our client in this process, with everything it sends and receives on record.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alula::h2::{FrameKind, FrameSummary};
use alula::{Client, Error, FieldSection, Limits, Response, Status};
use tokio::runtime::{Builder, Runtime};

use super::servers::Served;
use super::way::Way;
use crate::poll;

/// Longer than any exchange over loopback takes, however loaded the machine is.
const EXCHANGE_MAX: Duration = Duration::from_secs(30);

type Frames = Arc<Mutex<Vec<FrameSummary>>>;

/// A client and the frames of its connections.
pub struct Session {
    /// What the client's connections run on.
    pub runtime: Runtime,
    /// The client.
    pub client: Client,
    frames: Frames,
}

/// A whole response.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: Status,
    /// Its fields.
    pub fields: FieldSection,
    /// Its content.
    pub content: Vec<u8>,
    /// Its trailers.
    pub trailers: FieldSection,
}

/// Why there is no whole response, and what had come of its content.
#[derive(Debug)]
pub struct Broken {
    /// Why.
    pub error: Error,
    /// What had come.
    pub content: Vec<u8>,
}

impl Session {
    /// A client with the default limits.
    #[must_use]
    pub fn new(at: &Served, way: Way) -> Self {
        Self::with_limits(at, way, Limits::client())
    }

    /// A client with these limits.
    ///
    /// # Panics
    /// When no client can be made.
    #[must_use]
    pub fn with_limits(at: &Served, way: Way, limits: Limits) -> Self {
        let frames = Frames::default();
        let record = Arc::clone(&frames);
        let mut builder =
            Client::builder().http2_prior_knowledge(true).limits(limits).timeout(EXCHANGE_MAX).on_frame(
                move |frame| {
                    record.lock().unwrap_or_else(PoisonError::into_inner).push(*frame);
                },
            );
        if way == Way::Tls {
            let authority = std::fs::read(at.certificates.authority()).expect("our own file");
            builder = builder.add_roots_pem(&authority).expect("our own certificate");
        }
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        Self { runtime, client: builder.build().expect("a client"), frames }
    }

    /// Fetches to the end.
    ///
    /// # Errors
    /// Why there is no whole response.
    pub fn get(&self, url: &str) -> Result<Answer, Broken> {
        self.runtime.block_on(async {
            let response = self.client.get(url).send().await.map_err(Broken::from)?;
            whole(response).await
        })
    }

    /// As [`Self::get`], and the content must be this.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn expect(&self, url: &str, content: &str) -> Answer {
        let answer = self.get(url).unwrap_or_else(|broken| panic!("{url}: {broken:?}"));
        assert_eq!(String::from_utf8_lossy(&answer.content), content, "{url}");
        answer
    }

    /// How many frames of the kind were sent or received.
    #[must_use]
    pub fn frames(&self, sent: bool, kind: FrameKind) -> usize {
        self.count(|frame| frame.sent == sent && frame.kind == kind)
    }

    /// How many connections there have been: each begins with one SETTINGS frame of ours that acknowledges
    /// nothing.
    #[must_use]
    pub fn connections(&self) -> usize {
        const ACK: u8 = 1;
        self.count(|frame| frame.sent && frame.kind == FrameKind::SETTINGS && frame.flags & ACK == 0)
    }

    /// Waits for a frame of the kind to come.
    ///
    /// # Panics
    /// When none comes within 10 seconds.
    #[track_caller]
    pub fn wait_for(&self, kind: FrameKind) {
        let come = || self.lock().iter().any(|frame| !frame.sent && frame.kind == kind).then_some(());
        assert!(poll::within(Duration::from_secs(10), come).is_some(), "no {kind} came");
    }

    /// Counts once nothing more is recorded: what has been answered is on record a moment later only.
    fn count(&self, is_one: impl Fn(&FrameSummary) -> bool) -> usize {
        let (mut length, mut times) = (0, 0);
        let settled = poll::within(Duration::from_secs(10), || {
            let now = self.lock().len();
            times = if now == length { times + 1 } else { 0 };
            length = now;
            (times == 3).then_some(())
        });
        settled.expect("the frames of an idle client end");
        self.lock().iter().filter(|frame| is_one(frame)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FrameSummary>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a response to its end.
///
/// # Errors
/// Why it has none.
pub async fn whole(mut response: Response) -> Result<Answer, Broken> {
    let mut content = Vec::new();
    let (status, fields) = (response.status(), response.headers().clone());
    loop {
        match response.body().chunk().await {
            Ok(Some(chunk)) => content.extend_from_slice(chunk),
            Ok(None) => break,
            Err(error) => return Err(Broken { error, content }),
        }
    }
    let trailers = response.body().trailers().await?.cloned().unwrap_or_default();
    Ok(Answer { status, fields, content, trailers })
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self { error, content: Vec::new() }
    }
}
