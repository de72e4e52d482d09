//! The check of users and their permissions, made before anything else of a request is read (Riak §1.11).
//!
//! Riak looks at parameters and fields first, and answers 400 where a request is wrong as well as not
//! allowed. Here a peer without credentials makes the store read no more than the head.

use std::fmt::Write as _;

use alula::{Answer, Exchange, KnownName, Next, Scratch, Status, Version, Wrap};

use crate::access::{Access, Credentials, Identity, Login, Permission, Permissions, Place, Refusal};
use crate::engine::{BucketName, Engine};
use crate::http::answer::fail::{Cut, Fail};
use crate::http::resource::{Needs, Resource};
use crate::http::target::Target;
use crate::store::Store;

/// The credentials that a client is asked for: Riak's clients compare it as a whole.
const CHALLENGE: &str = "Basic realm=\"Riak\"";

const NO_TLS: &str = "This store has users, whose passwords it takes only over TLS: use https://\n";

/// The `retry-after`, in seconds, when too many hashes wait.
const CROWDED_RETRY: &str = "1";

/// Returns the layer of a resource that checks the permissions of its user.
pub(in crate::http) fn layer<S: Send + Sync + 'static>(access: Access, resource: Resource) -> impl Wrap<S> {
    move |exchange: Exchange<S>, next: Next<S>| {
        let access = access.clone();
        async move {
            let needs = resource.needs(exchange.request());
            if needs != Needs::Nothing {
                let login = login(&access, &exchange)?;
                let identity = login.finish().await.map_err(refused)?;
                exchange.note_user(identity.name());
                // Requests for which the user has no permission use up the rate as well.
                identity.count(&access).map_err(refused)?;
                if let Needs::Permissions(permissions) = needs {
                    check(&identity, permissions, &exchange)?;
                }
            }
            next.run(exchange).await.map_err(Fail::Answer)
        }
    }
}

/// The user of a request, if there are users.
pub(in crate::http) struct Reader(Option<Identity>);

impl Reader {
    /// Begins to find the user again.
    pub(in crate::http) fn begin<E: Engine>(exchange: &Exchange<Store<E>>) -> Result<Option<Login>, Fail> {
        let state = exchange.state();
        let access = state.shared().config.access.as_ref();
        access.map(|access| login(access, exchange)).transpose()
    }

    pub(in crate::http) async fn finish(login: Option<Login>) -> Result<Self, Fail> {
        match login {
            Some(login) => Ok(Self(Some(login.finish().await.map_err(refused)?))),
            None => Ok(Self(None)),
        }
    }

    /// Refuses to read the objects of a bucket that the user may not read.
    ///
    /// # Errors
    /// 403 with the name of the bucket.
    pub(in crate::http) fn check(&self, bucket: BucketName<'_>) -> Result<(), Fail> {
        let Some(identity) = &self.0 else { return Ok(()) };
        let place = Place { bucket_type: bucket.bucket_type, bucket: Some(bucket.bucket) };
        match identity.lacks(Permissions::of(Permission::Get), place) {
            Some(permission) => Err(denied(identity, permission, place)),
            None => Ok(()),
        }
    }
}

/// Begins to find the user of a request: by its credentials if it has any, right or wrong, else by the
/// certificate of its client.
fn login<S>(access: &Access, exchange: &Exchange<S>) -> Result<Login, Fail> {
    let request = exchange.request();
    if !access.takes_clear_text() && request.scheme() != Some("https") {
        return Err(Fail::Answer(without_tls(request.version())));
    }
    if request.headers().get(KnownName::AUTHORIZATION).is_none() && access.knows_certificates() {
        let mut der = Scratch::lend();
        if exchange.read_peer_certificate(&mut der) {
            return access.login_by_certificate(&der).map_err(refused);
        }
    }
    let credentials = Credentials::read(request.headers()).ok_or(Refusal::Unknown);
    credentials.and_then(|credentials| access.login(credentials, exchange.client_address())).map_err(refused)
}

/// Checks that a user has permissions in the bucket, or in the type, that a request names.
fn check<S>(identity: &Identity, permissions: Permissions, exchange: &Exchange<S>) -> Result<(), Fail> {
    let target = Target::of(exchange)?;
    let BucketName { bucket_type, bucket } = target.bucket();
    // A route without a bucket is about all of the type.
    let is_of_bucket = exchange.route().is_some_and(|route| route.contains("{bucket}"));
    let place = Place { bucket_type, bucket: is_of_bucket.then_some(bucket) };
    match identity.lacks(permissions, place) {
        Some(permission) => Err(denied(identity, permission, place)),
        None => Ok(()),
    }
}

fn denied(identity: &Identity, permission: Permission, place: Place<'_>) -> Fail {
    let mut text = format!("Permission denied: user '{}' does not have '{permission}' on ", identity.name());
    let _ = write!(text, "{}", Cut(place.bucket_type));
    if let Some(bucket) = place.bucket {
        let _ = write!(text, "/{}", Cut(bucket));
    }
    text.push('\n');
    Fail::text(Status::FORBIDDEN, text)
}

fn refused(refusal: Refusal) -> Fail {
    let answer = match refusal {
        Refusal::Unknown => {
            text(Status::UNAUTHORIZED, "Send the name and the password of a user of this store.\n")
                .header(KnownName::WWW_AUTHENTICATE, CHALLENGE)
        }
        Refusal::Crowded => text(Status::SERVICE_UNAVAILABLE, "Too many passwords are being checked.\n")
            .header(KnownName::RETRY_AFTER, CROWDED_RETRY),
        Refusal::TooMany(wait) => text(
            Status::TOO_MANY_REQUESTS,
            "Too many requests of this user, or too many wrong passwords from this address.\n",
        )
        // In whole seconds (RFC 9110 §10.2.3), and no shorter than the wait.
        .header(KnownName::RETRY_AFTER, wait.as_nanos().div_ceil(1_000_000_000).max(1).to_string()),
    };
    Fail::Answer(answer)
}

/// Answers with the protocol that is needed (RFC 9110 §15.5.22), over HTTP/2 in words alone (RFC 9113
/// §8.2.2).
fn without_tls(version: Version) -> Answer {
    let answer = text(Status::UPGRADE_REQUIRED, NO_TLS);
    match version {
        Version::Http2 => answer,
        _ => answer.header(KnownName::UPGRADE, "TLS/1.2, HTTP/1.1").header(KnownName::CONNECTION, "upgrade"),
    }
}

fn text(status: Status, text: &str) -> Answer {
    Answer::new(status).header(KnownName::CONTENT_TYPE, "text/plain").content(text)
}
