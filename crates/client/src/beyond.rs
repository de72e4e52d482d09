//! What a call does beyond its first exchange: sends again what was not acted on, and follows redirects.
//!
//! Rule: whoever is handed the first outcome as it is never comes here, so that all of this may allocate.

use tokio::time::Instant;
use url::Url;

use alula_net::Error;

use crate::{
    Call, Response,
    redirected::Redirected,
    redirects::{Step, drain, refused, rewrite},
};

/// How often a request that the peer cannot have acted on is sent again by itself.
const TRIES_MAX: u32 = 3;

/// The way that a call has gone.
#[derive(Default)]
struct Trail {
    /// The tries at the present URL.
    tries: u32,
    /// The URL that is asked now, once a redirect made it known.
    url: Option<Url>,
    redirects: u16,
}

/// What comes after a response.
enum Next {
    /// Nothing: it is the caller's.
    Done(Response),
    /// Another request, with the content or without.
    Request { keeps_content: bool },
}

impl Call<'_> {
    /// Whether the outcome of the first try is handed on as it is.
    #[inline]
    pub(crate) fn is_settled(outcome: &Result<Response, Error>) -> bool {
        outcome.as_ref().is_ok_and(|response| !response.status().is_redirection())
    }

    /// Goes on from the outcome of the first try to what the caller is told.
    pub(crate) async fn go_on(
        &mut self,
        mut outcome: Result<Response, Error>,
        mut content: Option<&[u8]>,
        ends_at: Option<Instant>,
    ) -> Result<Response, Error> {
        let mut trail = Trail { tries: 1, ..Trail::default() };
        loop {
            match outcome {
                Err(error) if trail.tries < TRIES_MAX && self.may_try_again(&error) => trail.tries += 1,
                Err(error) => return Err(error),
                Ok(response) => match self.after(response, &mut trail).await? {
                    Next::Done(response) => return Ok(trail.sign(response)),
                    Next::Request { keeps_content } => content = content.filter(|_| keeps_content),
                },
            }
            outcome = self.attempt(content, ends_at).await;
        }
    }

    /// Follows the response if it redirects.
    async fn after(&mut self, response: Response, trail: &mut Trail) -> Result<Next, Error> {
        let Some(step) = self.step(&response, trail)? else { return Ok(Next::Done(response)) };
        drain(response).await;
        self.turn(&step)?;
        trail.tries = 1;
        trail.redirects += 1;
        trail.url = Some(step.to);
        Ok(Next::Request { keeps_content: !step.drops_content })
    }

    fn step(&self, response: &Response, trail: &mut Trail) -> Result<Option<Step>, Error> {
        if self.redirects_max == 0 || !response.status().is_redirection() {
            return Ok(None);
        }
        let from = match &mut trail.url {
            Some(url) => url,
            none => none.insert(self.request.url().ok_or(refused("what was asked for is no URL"))?),
        };
        let redirects = &self.client.settings().policy.redirects;
        redirects.step(response, self.request.method(), from, (trail.redirects, self.redirects_max))
    }

    /// Makes the request the one that comes after.
    fn turn(&mut self, step: &Step) -> Result<(), Error> {
        let (origin, path) = self.client.locate_url(&step.to)?;
        let plain = self.request.make_plain(self.client)?;
        let leaves = !plain.origin.is_same_as(&origin);
        let is_bared = plain.origin.scheme == "https" && origin.scheme == "http";
        if let Some(head) = &mut plain.head {
            rewrite(&mut head.fields, step, leaves, is_bared);
        }
        plain.method = step.method.after(plain.method);
        plain.origin = origin;
        plain.path = path;
        Ok(())
    }
}

impl Trail {
    /// Notes in the response by which way it was come to.
    fn sign(self, mut response: Response) -> Response {
        if let Some(url) = self.url.filter(|_| self.redirects > 0) {
            response.redirected = Some(Box::new(Redirected { url: url.into(), count: self.redirects }));
        }
        response
    }
}
