//! The steps after the first response: retries and redirects.
//!
//! Rule: a call whose first outcome is final never comes here, so all of this may allocate.

pub(crate) mod outcome;
pub(crate) mod redirects;
pub(crate) mod retries;
mod verdict;

use std::{
    borrow::Cow,
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use alula_fields::{KnownName, Status};
use alula_net::{Error, Retry};
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::{
    follow::{
        outcome::Setback,
        redirects::{Step, drain, may_redirect, refer, refused, rewrite},
        retries::{Retries, Wait},
    },
    observe::event::ExchangeEvent,
    pool::origin::Origin,
    request::call::{Call, CallTimes},
    response::{Response, redirected::Redirected},
    send::{attempt, may_try_again},
};
use verdict::{Verdict, reasons};

/// The number of times that a request which the peer cannot have acted on is sent again by itself.
const TRIES_MAX: u32 = 3;

/// The way that a call has gone.
#[derive(Default)]
struct Trail {
    /// The tries in all; to go on elsewhere is none.
    tries: u32,
    /// The tries at the present URL.
    tries_here: u32,
    /// The URL that is asked now, once a redirect made it known.
    url: Option<Url>,
    redirects: u16,
    /// The peer has left the last try out, and took others on its connection: it was no try.
    is_left_out: bool,
    /// The requests that were redirected, each as the hash of what tells it apart: there may be many, and
    /// their peer chose them.
    redirected: HashSet<u64>,
    hasher: RandomState,
    /// A server has answered that it is not the one for the present request, which was sent again on another
    /// connection.
    was_misdirected: bool,
    /// The peer may have acted on a try of the present request that failed.
    is_doubtful: bool,
}

/// The step after an outcome.
enum Next {
    /// The call ends with this outcome.
    Done(Result<Response, Error>),
    /// The same request is sent again.
    Again,
    /// A redirected request is sent, with the content or without.
    Other { keeps_content: bool },
}

/// Returns true if the outcome of the first try is handed on as it is.
#[inline]
pub(crate) fn is_settled(call: &Call<'_>, response: &Response) -> bool {
    let status = response.status();
    let may_go_on =
        may_redirect(status) || status == Status::MISDIRECTED_REQUEST || call.rules_of_retries().is_some();
    status.is_success() || !may_go_on
}

/// Goes on from the outcome of the first try to what the caller is told.
pub(crate) async fn go_on(
    call: &mut Call<'_>,
    mut outcome: Result<Response, Error>,
    mut content: Option<&[u8]>,
    times: CallTimes,
) -> Result<Response, Error> {
    let ends_at = times.ends_at;
    let mut trail = Trail { tries: 1, tries_here: 1, ..Trail::default() };
    loop {
        let next = match outcome {
            Ok(response) => after_response(call, response, ends_at, &mut trail).await?,
            Err(error) => after_error(call, error, ends_at, &mut trail).await,
        };
        match next {
            Next::Done(Ok(response)) => return Ok(trail.sign(response, call.request.origin()?)),
            Next::Done(Err(error)) if trail.is_doubtful => return Err(error.after_doubtful_try()),
            Next::Done(Err(error)) => return Err(error),
            // A request that the peer left out while it served others was no try: it costs none.
            Next::Again if std::mem::take(&mut trail.is_left_out) => {}
            Next::Again => {
                trail.tries += 1;
                trail.tries_here += 1;
            }
            Next::Other { keeps_content } => {
                (trail.tries_here, trail.is_doubtful, trail.was_misdirected) = (1, false, false);
                content = content.filter(|_| keeps_content);
                if !keeps_content {
                    call.parts.drop_content();
                }
            }
        }
        outcome = attempt(call, content, times).await;
    }
}

/// Sends again what failed, if it may be: at once where the peer cannot have acted on it, else after a
/// while.
async fn after_error(call: &Call<'_>, error: Error, ends_at: Option<Instant>, trail: &mut Trail) -> Next {
    let verdict = verdict_on_error(call, &error, ends_at, trail);
    tell_of(call, Setback::Failed(&error), &verdict);
    match verdict {
        Verdict::Again(None) => Next::Again,
        Verdict::Again(Some(at)) => {
            sleep_until(at).await;
            Next::Again
        }
        Verdict::Withheld(_) | Verdict::Unasked => Next::Done(Err(error)),
    }
}

fn verdict_on_error(call: &Call<'_>, error: &Error, ends_at: Option<Instant>, trail: &mut Trail) -> Verdict {
    let has_rules = call.rules_of_retries().is_some();
    let unless = |reason| if has_rules { Verdict::Withheld(reason) } else { Verdict::Unasked };
    // Remembered also where this request cannot be sent again.
    let wants_http1 = error.asks_for_http1() && falls_back(call);
    if call.parts.content_is_spent() {
        return unless(reasons::CONTENT);
    }
    // The final error must not claim that nothing was carried out if an earlier try may have been.
    trail.is_doubtful |= error.retry() == Retry::IfIdempotent;
    if wants_http1 && trail.tries_here < TRIES_MAX {
        return Verdict::Again(None);
    }
    trail.is_left_out = error.is_left_out();
    if (trail.is_left_out || trail.tries_here < TRIES_MAX) && may_try_again(call, error) {
        return Verdict::Again(None);
    }
    match error.retry() {
        Retry::Pointless => return unless(reasons::POINTLESS),
        Retry::IfIdempotent if !call.request.is_idempotent() => return unless(reasons::NOT_IDEMPOTENT),
        Retry::IfIdempotent | Retry::Safe => {}
    }
    match call.rules_of_retries() {
        Some(retries) => ready_after(call, retries, retries.wait(trail.tries), ends_at, trail),
        None => Verdict::Unasked,
    }
}

/// Asks the origin over HTTP/1.1 from now on. Returns false if the client does not speak it.
fn falls_back(call: &Call<'_>) -> bool {
    call.request.origin().is_ok_and(|origin| origin.require_http1())
}

/// Sends again after a response that says to come later, or follows one that redirects.
async fn after_response(
    call: &mut Call<'_>,
    response: Response,
    ends_at: Option<Instant>,
    trail: &mut Trail,
) -> Result<Next, Error> {
    if is_misdirected(call, &response, trail) {
        // The next try must not share this connection: the server does not serve the origin on it.
        response.leave_connection();
        drain(response, call.watcher()).await;
        return Ok(Next::Again);
    }
    let verdict = verdict_on_response(call, &response, ends_at, trail);
    tell_of(call, Setback::Answered(response.status()), &verdict);
    if let Verdict::Again(Some(at)) = verdict {
        drain(response, call.watcher()).await;
        trail.is_doubtful = true;
        sleep_until(at).await;
        return Ok(Next::Again);
    }
    let Some(step) = step(call, &response, trail)? else { return Ok(Next::Done(Ok(response))) };
    if !step.drops_content && call.parts.content_is_spent() {
        return Err(refused(
            "the content was sent and cannot be sent again: give bytes or a file instead of a reader",
        ));
    }
    drain(response, call.watcher()).await;
    trail.redirected.insert(trail.hasher.hash_one(identity(call)?));
    turn(call, &step, trail.url.as_ref())?;
    call.settle()?;
    if trail.redirected.contains(&trail.hasher.hash_one(identity(call)?)) {
        return Err(refused("it leads back to a request that was sent before: a loop"));
    }
    trail.redirects += 1;
    trail.url = Some(step.to);
    Ok(Next::Other { keeps_content: !step.drops_content })
}

/// Returns true, once, if the request is to be sent again on another connection: its method does not
/// matter, since the server has not acted on it (RFC 9110 §15.5.20).
fn is_misdirected(call: &Call<'_>, response: &Response, trail: &mut Trail) -> bool {
    let status = response.status();
    let goes_elsewhere = status == Status::MISDIRECTED_REQUEST
        && !call.parts.content_is_spent()
        && !std::mem::replace(&mut trail.was_misdirected, true);
    if goes_elsewhere {
        tell_of(call, Setback::Answered(status), &Verdict::Again(None));
    }
    goes_elsewhere
}

fn verdict_on_response(
    call: &Call<'_>,
    response: &Response,
    ends_at: Option<Instant>,
    trail: &Trail,
) -> Verdict {
    let Some(retries) = call.rules_of_retries() else { return Verdict::Unasked };
    match retries.wait_after(trail.tries, response) {
        Wait::Unasked => Verdict::Unasked,
        _ if call.parts.content_is_spent() => Verdict::Withheld(reasons::CONTENT),
        _ if !call.request.is_idempotent() => Verdict::Withheld(reasons::NOT_IDEMPOTENT),
        Wait::TooLong => Verdict::Withheld(reasons::ASKED_LONGER),
        Wait::For(wait) => ready_after(call, retries, wait, ends_at, trail),
    }
}

/// Decides on another try after a wait that was found to be right.
fn ready_after(
    call: &Call<'_>,
    retries: &Retries,
    wait: Duration,
    ends_at: Option<Instant>,
    trail: &Trail,
) -> Verdict {
    let ready_at = Instant::now().checked_add(wait);
    let in_time = ready_at.filter(|at| ends_at.is_none_or(|ends_at| *at < ends_at));
    match in_time {
        _ if trail.tries >= retries.tries_max => Verdict::Withheld(reasons::TRIES),
        None => Verdict::Withheld(reasons::TIME),
        // The budget is asked last, so that a try that would not be made anyway takes nothing from it.
        Some(_) if !call.client.settings().policy.budget.take() => Verdict::Withheld(reasons::BUDGET),
        at => Verdict::Again(at),
    }
}

fn tell_of(call: &Call<'_>, setback: Setback<'_>, verdict: &Verdict) {
    let Some(watcher) = call.watcher() else { return };
    match verdict {
        Verdict::Withheld(reason) => watcher.event(&ExchangeEvent::NotRetried(setback, reason)),
        Verdict::Unasked => {}
        Verdict::Again(_) => {
            watcher.event(&ExchangeEvent::Retrying(setback, verdict.wait().unwrap_or_default()));
        }
    }
}

fn step(call: &Call<'_>, response: &Response, trail: &mut Trail) -> Result<Option<Step>, Error> {
    if call.parts.redirects_max == 0 || !may_redirect(response.status()) {
        return Ok(None);
    }
    let from = match &mut trail.url {
        Some(url) => url,
        none => none.insert(call.request.url().ok_or_else(|| refused("what was asked for is no URL"))?),
    };
    let redirects = &call.client.settings().policy.redirects;
    let counts = (trail.redirects, call.parts.redirects_max);
    redirects.step(response, call.request.method(), from, counts, call.watcher())
}

/// Returns what tells the request apart from others that this call sends.
fn identity(call: &mut Call<'_>) -> Result<Vec<u8>, Error> {
    let bare = call.client.settings().policy.user_agent.alone();
    Ok(call.request.make_plain(&call.client)?.identity(bare))
}

/// Makes the request the one that comes after the one to this URL.
fn turn(call: &mut Call<'_>, step: &Step, from: Option<&Url>) -> Result<(), Error> {
    let (origin, path) = call.client.locate_from(call.request.origin()?, &step.to)?;
    let policy = &call.client.settings().policy;
    let plain = call.request.make_plain(&call.client)?;
    let leaves = !plain.origin.is_same_as(&origin);
    let trusts_all = policy.redirects.trusts_all;
    let is_bared = plain.origin.scheme == "https" && origin.scheme == "http";
    #[cfg(feature = "cookies")]
    // Cookies are chosen anew for the new URL, from the jar and not from the last request.
    plain.take_cookies_out()?;
    let fields = &mut plain.head_mut(&call.client).fields;
    rewrite(fields, step, leaves && !trusts_all, is_bared);
    if let Some(from) = from.filter(|_| policy.redirects.has_referer) {
        refer(fields, from, is_bared)?;
    }
    if leaves {
        // A host that the caller chose was meant for the first origin alone (RFC 9110 §7.2).
        fields.retain(|field| field.known() != Some(KnownName::HOST));
    }
    policy.add_credentials(&origin.prefix, fields)?;
    if step.method == redirects::Method::Get {
        plain.method = Cow::Borrowed("GET");
    }
    if leaves && let Some(rare) = &mut plain.rare {
        rare.host = None;
    }
    plain.origin = origin;
    plain.path = path;
    #[cfg(feature = "cookies")]
    call.add_cookies()?;
    Ok(())
}

impl Trail {
    /// Notes in the response by which way it was come to.
    fn sign(self, mut response: Response, origin: &Origin) -> Response {
        if let Some(url) = self.url.filter(|_| self.redirects > 0) {
            let url = origin.url_for_caller(url);
            response.redirected = Some(Box::new(Redirected { url, count: self.redirects }));
        }
        response
    }
}
