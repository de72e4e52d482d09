//! Requests that are checked and planned once, then sent often.

use std::{borrow::Cow, fmt, sync::Arc};

use alula_fields::{
    Decimal, FieldError, FieldSection, Head, Hole as Gap, IntoName, KnownName, Method, RequestHead,
    masked_url,
};
use alula_machine::{Limits, OutBuf, StreamKey};
use alula_net::{self as net, Error, Machine, Refusal, Version, h1};

use crate::{
    client::Client,
    pool::origin::Origin,
    request::{
        Plain,
        auth::Credentials,
        hole_values::{HOLES_MAX, HoleValues},
        host::take_host,
        path::Path,
    },
};

/// A prepared request being made.
pub struct Prepare {
    client: Client,
    origin: Arc<Origin>,
    user: Option<Credentials>,
    parts: Parts,
    /// The first one.
    mistake: Option<Error>,
}

/// A request that was checked, normalised and planned once. Sending it costs its changes only.
///
/// Clones share the plan; send it from as many tasks as you like.
#[derive(Clone)]
pub struct Prepared {
    plan: Arc<Plan>,
}

/// A value of a prepared request that is given with each call; see [`Call::set`](crate::Call::set).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hole(usize);

/// The request in each form in which it may be sent.
struct Plan {
    origin: Arc<Origin>,
    /// The forms, indexed by whether the path is given with the call, then by whether a length is stated.
    forms: [[net::Prepared; 2]; 2],
    /// The parts that it was made of, for a request that differs from all forms.
    made_of: Parts,
    is_idempotent: bool,
    expects_continue: bool,
    /// A field or a hole states the length of the content: it is not stated again.
    states_length: bool,
}

/// The parts that a request is made of.
struct Parts {
    method: String,
    /// The host in place of the URL's authority.
    host: Option<Box<str>>,
    path: String,
    fields: FieldSection,
    holes: Vec<String>,
}

/// The parts of a prepared request, as far as they are shown.
struct MadeOf<'p> {
    method: &'p str,
    origin: &'p str,
    path: &'p str,
    fields: &'p FieldSection,
}

/// The values that are given with one call. Small, since calls are moved about while they are built.
pub(crate) struct Given<'a> {
    path: Option<Cow<'a, str>>,
    /// The values for the first holes: as many as make a prepared request no larger than another.
    first: [Option<&'a [u8]>; FIRST_HOLES],
    /// The values for the other holes, lent by the client once there is one.
    others: Option<Box<HoleValues>>,
    /// The length of the content, or [`UNSTATED`].
    length: u64,
}

/// Holes whose values need no memory that the client lends.
const FIRST_HOLES: usize = 2;

/// The value for a content length that is not stated; no content is that long.
const UNSTATED: u64 = u64::MAX;

impl Prepare {
    fn made_of(&self) -> MadeOf<'_> {
        self.parts.shown(&self.origin)
    }

    pub(crate) fn new(
        client: &Client,
        origin: Arc<Origin>,
        user: Option<Credentials>,
        method: String,
        path: &str,
    ) -> Self {
        let path = path.to_owned();
        let parts = Parts { method, host: None, path, fields: FieldSection::new(), holes: Vec::new() };
        Self { client: client.clone(), origin, user, parts, mistake: None }
    }

    /// Adds a field that is the same in every call; its value is bytes or text. A `host` takes the place of
    /// the URL's; see
    /// [`Call`](crate::Call#hosts). The first mistake is kept for [`build`](Self::build).
    #[doc(alias = "field")]
    #[must_use]
    pub fn header<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        let added = self.parts.fields.append(name, value);
        self.note(added);
        self
    }

    /// Adds a field whose name HTTP/1.1 sends just as it is spelled here; else as [`Self::header`].
    #[must_use]
    pub fn header_spelled(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let added = self.parts.fields.append_spelled(name, value);
        self.note(added);
        self
    }

    /// Adds these fields in place of those of the same names; else as [`Self::header`].
    #[must_use]
    pub fn headers(mut self, headers: &FieldSection) -> Self {
        self.parts.fields.merge(headers);
        self
    }

    fn note(&mut self, added: Result<(), FieldError>) {
        if let (Err(error), None) = (added, &self.mistake) {
            self.mistake = Some(error.into());
        }
    }

    /// Adds a field whose value is given with each call; these fields come after all others.
    ///
    /// # Errors
    /// There are eight holes already.
    pub fn hole(&mut self, name: &str) -> Result<Hole, Error> {
        let holes = &mut self.parts.holes;
        if holes.len() == HOLES_MAX {
            return Err(Error::usage("the prepared request would have more than eight holes"));
        }
        holes.push(name.to_owned());
        Ok(Hole(holes.len() - 1))
    }

    /// The request, ready to be sent.
    ///
    /// # Errors
    /// A field is not valid or cannot be sent, or a hole's name is not valid.
    pub fn build(mut self) -> Result<Prepared, Error> {
        if let Some(mistake) = self.mistake.take() {
            return Err(mistake);
        }
        self.complete()?;
        let states_length = self.parts.states_length();
        let form = |path, length: bool| self.form(path, length && !states_length);
        let forms = [[form(false, false)?, form(false, true)?], [form(true, false)?, form(true, true)?]];
        let plan = Plan {
            origin: self.origin,
            forms,
            is_idempotent: Method::parse(&self.parts.method).is_ok_and(Method::is_idempotent),
            expects_continue: self.parts.fields.expects_continue(),
            states_length,
            made_of: self.parts,
        };
        Ok(Prepared { plan: Arc::new(plan) })
    }

    /// Adds what the client adds by itself; a hole counts as a field.
    fn complete(&mut self) -> Result<(), Error> {
        let policy = &self.client.settings().policy;
        let Parts { method, host, fields, holes, .. } = &mut self.parts;
        let given = fields.len();
        let mut all = fields.clone();
        for name in &*holes {
            all.append(&**name, "")?;
        }
        // The holes stand in as empty fields, so that no default of the same name is added.
        let holes = given..all.len();
        if let Some(user) = &self.user {
            user.add(&mut all)?;
        }
        policy.add_fields(&mut all)?;
        policy.add_credentials(&self.origin.prefix, &mut all)?;
        if !all.contains(KnownName::USER_AGENT) {
            policy.user_agent.add_to(&mut all);
        }
        let mut place = 0..;
        all.retain(|_| !place.next().is_some_and(|place| holes.contains(&place)));
        *fields = all;
        if fields.contains(KnownName::HOST) {
            *host = take_host(fields, method == "CONNECT", &self.origin)?;
        }
        Ok(())
    }

    fn form(&self, path: bool, length: bool) -> Result<net::Prepared, Error> {
        let head = RequestHead {
            method: &self.parts.method,
            scheme: self.origin.scheme,
            authority: self.parts.host.as_deref().unwrap_or(self.origin.authority()),
            path: &self.parts.path,
            protocol: None,
            fields: &self.parts.fields,
        };
        let mut holes = Vec::new();
        holes.extend(path.then_some(Gap::Path));
        holes.extend(self.parts.holes.iter().map(|name| Gap::Field(name)));
        holes.extend(length.then_some(Gap::Field("content-length")));
        net::Prepared::new(&head, &holes, self.client.settings().protocol.http1.spelling)
    }
}

impl Parts {
    fn shown<'p>(&'p self, origin: &'p Origin) -> MadeOf<'p> {
        MadeOf { method: &self.method, origin: &origin.prefix, path: &self.path, fields: &self.fields }
    }

    fn states_length(&self) -> bool {
        let is_length = |name: &String| name.eq_ignore_ascii_case("content-length");
        self.fields.contains(KnownName::CONTENT_LENGTH) || self.holes.iter().any(is_length)
    }
}

impl Prepared {
    fn made_of(&self) -> MadeOf<'_> {
        self.plan.made_of.shown(&self.plan.origin)
    }

    #[inline]
    pub(crate) fn origin(&self) -> &Arc<Origin> {
        &self.plan.origin
    }

    pub(crate) fn is_idempotent(&self) -> bool {
        self.plan.is_idempotent
    }

    pub(crate) fn expects_continue(&self) -> bool {
        self.plan.expects_continue
    }

    /// Returns true if the length of the content comes from a field or a hole of its own.
    pub(crate) fn states_length(&self) -> bool {
        self.plan.states_length
    }

    pub(crate) fn method(&self) -> &str {
        &self.plan.made_of.method
    }

    pub(crate) fn path<'g>(&'g self, given: &'g Given<'_>) -> &'g str {
        given.path.as_deref().unwrap_or(&self.plan.made_of.path)
    }

    /// The same request, built step by step in `head`. No length is stated yet.
    #[cold]
    pub(crate) fn to_plain<'a>(&self, given: &Given<'a>, mut head: Box<Head>) -> Result<Plain<'a>, Error> {
        let Parts { method, host, fields, holes, .. } = &self.plan.made_of;
        head.fields.copy_from(fields);
        for (hole, name) in holes.iter().enumerate() {
            head.fields.append(&**name, given.value(hole).unwrap_or_default())?;
        }
        let path = match &given.path {
            Some(Cow::Owned(path)) => Path::Owned(path.clone()),
            Some(Cow::Borrowed(path)) => Path::Given(path),
            None => Path::Owned(self.plan.made_of.path.clone()),
        };
        let mut plain = Plain::new(self.plan.origin.clone(), Cow::Owned(method.clone()), path);
        plain.head = Some(head);
        if host.is_some() {
            plain.rare_mut().host.clone_from(host);
        }
        Ok(plain)
    }

    pub(crate) fn send(
        &self,
        given: &Given<'_>,
        machine: &mut Machine,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        self.filled(given, |form, values| machine.send_prepared(form, values, end, out))
    }

    /// Checks what no connection of this version would send.
    #[cold]
    pub(crate) fn check(
        &self,
        given: &Given<'_>,
        version: Version,
        end: bool,
        limits: &Limits,
    ) -> Result<(), Refusal> {
        self.filled(given, |form, values| form.check(version, values, end, limits))
    }

    /// Hands the form and the values for its holes to `then`.
    #[inline]
    fn filled<T>(
        &self,
        given: &Given<'_>,
        then: impl FnOnce(&net::Prepared, &[&[u8]]) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let length = Some(given.length).filter(|length| *length != UNSTATED);
        let form = &self.plan.forms[usize::from(given.path.is_some())][usize::from(length.is_some())];
        // The usual case, without holes: the form is sent as it was made, with nothing to gather.
        if given.path.is_none() && length.is_none() && self.plan.made_of.holes.is_empty() {
            return then(form, &[]);
        }
        let length = length.map(Decimal::of);
        let mut values: [&[u8]; HOLES_MAX + 2] = [&[]; HOLES_MAX + 2];
        let mut count = 0;
        let path = given.path.as_deref().map(str::as_bytes);
        let fields = (0..self.plan.made_of.holes.len()).map(|hole| given.value(hole));
        for value in
            path.into_iter().map(Some).chain(fields).chain(length.as_ref().map(|it| Some(it.as_bytes())))
        {
            values[count] = value.ok_or(h1::SendError::Holes)?;
            count += 1;
        }
        then(form, &values[..count])
    }
}

impl Default for Given<'_> {
    fn default() -> Self {
        Self { path: None, first: [None; FIRST_HOLES], others: None, length: UNSTATED }
    }
}

impl<'a> Given<'a> {
    pub(crate) fn path(&mut self, path: Cow<'a, str>) {
        self.path = Some(path);
    }

    pub(crate) fn set(&mut self, client: &Client, hole: Hole, value: &'a [u8]) {
        match self.first.get_mut(hole.0) {
            Some(first) => *first = Some(value),
            None => self.others.get_or_insert_with(|| client.lend_hole_values()).set(hole.0, value),
        }
    }

    /// Gives the memory of the values back.
    #[inline]
    pub(crate) fn give_back(&mut self, client: &Client) {
        if let Some(values) = self.others.take() {
            client.give_hole_values(values);
        }
    }

    fn value(&self, hole: usize) -> Option<&[u8]> {
        match self.first.get(hole) {
            Some(first) => *first,
            None => self.others.as_ref()?.get(hole),
        }
    }

    pub(crate) fn length(&mut self, length: u64) {
        self.length = length;
    }
}

impl fmt::Debug for Prepare {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made_of().show(f.debug_struct("Prepare"))
    }
}

impl fmt::Debug for Prepared {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made_of().show(f.debug_struct("Prepared"))
    }
}

impl MadeOf<'_> {
    fn show(&self, mut request: fmt::DebugStruct<'_, '_>) -> fmt::Result {
        let url = masked_url(&[self.origin, self.path].concat());
        request.field("method", &self.method).field("url", &url).field("fields", self.fields);
        request.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_by_their_holes_wherever_they_lie() {
        let client = Client::new().unwrap();
        let values: Vec<String> = (0..HOLES_MAX).map(|hole| hole.to_string()).collect();
        let mut given = Given::default();
        for (hole, value) in values.iter().enumerate().rev() {
            given.set(&client, Hole(hole), value.as_bytes());
        }
        assert!(values.iter().enumerate().all(|(hole, value)| given.value(hole) == Some(value.as_bytes())));
        given.give_back(&client);
        assert_eq!((given.value(0), given.value(FIRST_HOLES)), (Some(&b"0"[..]), None));
    }
}
