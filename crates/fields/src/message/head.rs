//! The head of a message: control data and fields (RFC 9110 §6.2, §6.3).

use core::{fmt, net::IpAddr};

use crate::{
    error::{FieldError, FieldErrorKind},
    message::{
        authority::Authority, captures::Captures, method::Method, request_form::RequestForm, scheme::Scheme,
        status::Status,
    },
    name::known::KnownName,
    section::{FieldSection, arena::Arena},
    text::bytes,
    value::masked::masked_target,
};

/// Control data and fields of one request or response, made to be swapped and used again.
///
/// The control data lie in one arena as the fields do: a head that is used again allocates nothing once it is
/// warm.
///
/// ```
/// use alula::{Status, fields::Head};
///
/// let mut head = Head::new();
/// head.set_method("GET")?;
/// head.set_path("/index.html?a=1")?;
/// head.fields.append("accept", "*/*")?;
/// assert_eq!((head.method(), head.path(), head.status()), (Some("GET"), Some("/index.html?a=1"), None));
/// head.clear();
/// head.set_status(Status::OK);
/// assert_eq!((head.method(), head.status()), (None, Some(Status::OK)));
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Default, Clone)]
pub struct Head {
    /// The fields.
    pub fields: FieldSection,
    control: Arena,
    spans: [Span; PARTS],
    status: Option<Status>,
    form: RequestForm,
    captures: Captures,
    client: Option<IpAddr>,
    received_bytes: u32,
}

/// The place of a piece of control data; it exists if `is_set`.
#[derive(Copy, Clone, Default)]
struct Span {
    start: u32,
    len: u32,
    is_set: bool,
}

// In the order of the known names, so that the part of a pseudo-field is its id less one.
const AUTHORITY: usize = 0;
const METHOD: usize = 1;
const PATH: usize = 2;
const SCHEME: usize = 3;
const PROTOCOL: usize = 4;
const PARTS: usize = 5;

/// The capacity for method, scheme, authority and path of most requests.
const USUAL_CONTROL_BYTES: usize = 64;
/// The capacity for the fields of a simple client; browsers and proxies send twice as many.
const USUAL_FIELDS: usize = 8;
/// The capacity for the values of these fields.
const USUAL_FIELD_BYTES: usize = 192;

impl Head {
    /// Creates an empty head; allocates nothing.
    pub const fn new() -> Self {
        const UNSET: Span = Span { start: 0, len: 0, is_set: false };
        Self {
            fields: FieldSection::new(),
            control: Arena::new(),
            spans: [UNSET; PARTS],
            status: None,
            form: RequestForm::NONE,
            captures: Captures::NONE,
            client: None,
            received_bytes: 0,
        }
    }

    /// Removes control data and fields and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.fields.clear();
        self.control.clear();
        self.spans = [Span::default(); PARTS];
        self.status = None;
        self.form = RequestForm::NONE;
        self.captures.truncate(0);
        self.client = None;
        self.received_bytes = 0;
    }

    /// Makes this head equal to another one, in its present memory: three copies of bytes.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.fields.copy_from(&other.fields);
        self.control.clear();
        self.control.extend(&other.control);
        self.spans = other.spans;
        self.status = other.status;
        self.form = other.form;
        self.captures = other.captures;
        self.client = other.client;
        self.received_bytes = other.received_bytes;
    }

    /// Sets the number of bytes that it had on the wire.
    #[inline]
    pub fn set_received_bytes(&mut self, bytes: u32) {
        self.received_bytes = bytes;
    }

    /// Returns the bytes that it had on the wire over HTTP/1.1, from the start line to the empty line behind
    /// the fields. 0 for a head that came by HTTP/2, which is compressed together with others, or that did
    /// not come at all.
    #[inline]
    pub const fn received_bytes(&self) -> u32 {
        self.received_bytes
    }

    /// Sets the places of the captures of its path.
    #[inline]
    pub fn set_captures(&mut self, captures: Captures) {
        self.captures = captures;
    }

    /// Returns the captures of its path, if a router has set them.
    #[inline]
    pub const fn captures(&self) -> &Captures {
        &self.captures
    }

    /// Sets the address of the client that a trusted proxy has named.
    #[inline]
    pub fn set_client(&mut self, client: Option<IpAddr>) {
        self.client = client;
    }

    /// Returns the address of the client that a trusted proxy has named.
    #[inline]
    pub const fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// Makes room for a usual head at once, if there is none.
    #[inline]
    pub fn make_room(&mut self) {
        if self.control.capacity() == 0 {
            self.reserve();
        }
    }

    #[cold]
    fn reserve(&mut self) {
        self.control = Arena::with_capacity(USUAL_CONTROL_BYTES);
        self.fields.reserve(USUAL_FIELDS, USUAL_FIELD_BYTES);
    }

    /// Gives memory back when the fields, or the control data, hold more than `bytes_max`.
    pub fn trim(&mut self, bytes_max: usize) {
        self.fields.trim(bytes_max);
        if self.control.capacity() > bytes_max {
            self.control.shrink_to(bytes_max);
        }
    }

    /// Returns the memory held, in bytes, used or not.
    #[inline]
    pub fn capacity_bytes(&self) -> usize {
        self.fields.capacity_bytes() + self.control.capacity()
    }

    /// Returns the method of a request.
    ///
    /// This and the others that answer with text cost a check of it, some instructions per byte, but for the
    /// usual methods and schemes; [`pseudo`](Self::pseudo) costs nothing.
    #[inline]
    pub fn method(&self) -> Option<&str> {
        match self.bytes(METHOD)? {
            b"GET" => Some("GET"),
            b"POST" => Some("POST"),
            other => core::str::from_utf8(other).ok(),
        }
    }

    /// Returns the scheme of a request.
    #[inline]
    pub fn scheme(&self) -> Option<&str> {
        match self.bytes(SCHEME)? {
            b"https" => Some("https"),
            b"http" => Some("http"),
            other => core::str::from_utf8(other).ok(),
        }
    }

    /// Returns the authority of a request: host, and port unless it is the scheme's.
    #[inline]
    pub fn authority(&self) -> Option<&str> {
        self.part(AUTHORITY)
    }

    /// Returns the path and query of a request, or `*`.
    #[inline]
    pub fn path(&self) -> Option<&str> {
        self.part(PATH)
    }

    /// Returns the path and query of a request as bytes, without a check of their encoding.
    #[inline]
    pub fn path_bytes(&self) -> Option<&[u8]> {
        self.bytes(PATH)
    }

    /// Returns the protocol of an extended CONNECT (RFC 8441 §4).
    #[inline]
    pub fn protocol(&self) -> Option<&str> {
        self.part(PROTOCOL)
    }

    /// Returns the status of a response.
    #[inline]
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// Returns the request line as it was written, if it came over HTTP/1.
    #[inline]
    pub fn form(&self) -> RequestForm {
        self.form
    }

    /// Sets the form in which the request was written.
    #[inline]
    pub fn set_form(&mut self, form: RequestForm) {
        self.form = form;
    }

    /// Sets the method; any token, as it is spelled.
    ///
    /// # Errors
    /// When it is no token; nothing is changed then, here and below.
    pub fn set_method(&mut self, method: &str) -> Result<(), FieldError> {
        Method::parse(method)?;
        self.put(METHOD, method.as_bytes());
        Ok(())
    }

    /// Sets the scheme.
    ///
    /// # Errors
    /// When it is none (RFC 3986 §3.1).
    pub fn set_scheme(&mut self, scheme: &str) -> Result<(), FieldError> {
        Scheme::parse(scheme)?;
        self.put(SCHEME, scheme.as_bytes());
        Ok(())
    }

    /// Sets the authority, unchanged.
    ///
    /// # Errors
    /// When it is not host, or host and port.
    pub fn set_authority(&mut self, authority: &str) -> Result<(), FieldError> {
        Authority::parse(authority)?;
        self.put(AUTHORITY, authority.as_bytes());
        Ok(())
    }

    /// Sets path and query, or `*`.
    ///
    /// # Errors
    /// When it is not `*` and does not start with `/`, or has a space, control, `#`, or byte outside ASCII.
    pub fn set_path(&mut self, path: &str) -> Result<(), FieldError> {
        let bytes = path.as_bytes();
        if !bytes::is_path(bytes) || !(bytes.starts_with(b"/") || bytes == b"*") {
            return Err(FieldError::outside(FieldErrorKind::Target, bytes, bytes, bytes::PATH));
        }
        self.put(PATH, bytes);
        Ok(())
    }

    /// Sets the protocol of an extended CONNECT.
    ///
    /// # Errors
    /// When it is no token.
    pub fn set_protocol(&mut self, protocol: &str) -> Result<(), FieldError> {
        let bytes = protocol.as_bytes();
        if !bytes::is_token(bytes) {
            return Err(FieldError::outside(FieldErrorKind::Protocol, bytes, bytes, bytes::TOKEN));
        }
        self.put(PROTOCOL, bytes);
        Ok(())
    }

    /// Sets the status.
    #[inline]
    pub fn set_status(&mut self, status: Status) {
        self.status = Some(status);
    }
}

/// Methods for decoders, which have checked the values already.
impl Head {
    /// Sets the control data of this pseudo-field. Any other name, and an invalid status, is ignored: the
    /// caller has refused it before.
    #[inline]
    pub fn put_pseudo(&mut self, name: KnownName, value: &[u8]) {
        debug_assert!(name.is_pseudo() && value.is_ascii());
        if name == KnownName::PSEUDO_STATUS {
            self.status = Status::parse(value).ok().or(self.status);
        } else if let Some(part) = part_of(name) {
            self.put(part, value);
        }
    }

    /// Sets control data like [`put_pseudo`](Self::put_pseudo), unless it is set already. Returns true if it
    /// was not.
    #[inline(always)]
    pub fn add_pseudo(&mut self, name: KnownName, value: &[u8]) -> bool {
        debug_assert!(name.is_pseudo() && value.is_ascii());
        let Some(span) = self.spans.get_mut(usize::from(PART_OF[usize::from(name.id())])) else {
            let is_new = self.status.is_none();
            self.status = self.status.or_else(|| Status::parse(value).ok());
            return is_new;
        };
        if span.is_set {
            return false;
        }
        *span = Span { start: self.control.len() as u32, len: value.len() as u32, is_set: true };
        self.control.append(value);
        true
    }

    /// Returns the bytes of the control data of this pseudo-field; `None` for `:status`, which is kept as a
    /// number.
    #[inline]
    pub fn pseudo(&self, name: KnownName) -> Option<&[u8]> {
        self.bytes(part_of(name)?)
    }

    /// Returns true if the control data of this pseudo-field is set.
    #[inline]
    pub fn has_pseudo(&self, name: KnownName) -> bool {
        match part_of(name) {
            Some(part) => self.spans[part].is_set,
            None => name == KnownName::PSEUDO_STATUS && self.status.is_some(),
        }
    }

    fn part(&self, part: usize) -> Option<&str> {
        core::str::from_utf8(self.bytes(part)?).ok()
    }

    #[inline]
    fn bytes(&self, part: usize) -> Option<&[u8]> {
        let Span { start, len, is_set } = self.spans[part];
        if is_set { Some(&self.control.room()[start as usize..][..len as usize]) } else { None }
    }

    #[inline]
    fn put(&mut self, part: usize, text: &[u8]) {
        if self.spans[part].is_set {
            self.unset(part);
        }
        let start = self.control.len() as u32;
        self.control.append(text);
        self.spans[part] = Span { start, len: text.len() as u32, is_set: true };
    }

    /// Removes a part from the arena, so that setting a path repeatedly does not fill it.
    #[cold]
    fn unset(&mut self, part: usize) {
        let Span { start, len, .. } = core::mem::take(&mut self.spans[part]);
        self.control.remove(start as usize..(start + len) as usize);
        for span in self.spans.iter_mut().filter(|span| span.start >= start + len) {
            span.start -= len;
        }
    }
}

/// The places of the spans, by the id of a name; [`PARTS`] for what has none.
static PART_OF: [u8; 256] = {
    let mut parts = [PARTS as u8; 256];
    parts[KnownName::PSEUDO_AUTHORITY.id() as usize] = AUTHORITY as u8;
    parts[KnownName::PSEUDO_METHOD.id() as usize] = METHOD as u8;
    parts[KnownName::PSEUDO_PATH.id() as usize] = PATH as u8;
    parts[KnownName::PSEUDO_SCHEME.id() as usize] = SCHEME as u8;
    parts[KnownName::PSEUDO_PROTOCOL.id() as usize] = PROTOCOL as u8;
    parts
};

#[inline]
fn part_of(name: KnownName) -> Option<usize> {
    Some(match name {
        KnownName::PSEUDO_AUTHORITY => AUTHORITY,
        KnownName::PSEUDO_METHOD => METHOD,
        KnownName::PSEUDO_PATH => PATH,
        KnownName::PSEUDO_SCHEME => SCHEME,
        KnownName::PSEUDO_PROTOCOL => PROTOCOL,
        _ => return None,
    })
}

impl fmt::Debug for Head {
    /// Writes the control data, then the fields. Values of a query and secret values are hidden.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = f.debug_struct("Head");
        let parts = [(METHOD, "method"), (SCHEME, "scheme"), (AUTHORITY, "authority"), (PATH, "path")];
        for (part, name) in parts.into_iter().chain([(PROTOCOL, "protocol")]) {
            match self.part(part) {
                Some(path) if part == PATH => head.field(name, &masked_target(path)),
                Some(text) => head.field(name, &text),
                None => &mut head,
            };
        }
        if let Some(status) = self.status {
            head.field("status", &status);
        }
        head.field("fields", &self.fields).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn head() -> Head {
        let mut head = Head::new();
        head.put_pseudo(KnownName::PSEUDO_METHOD, b"GET");
        head.put_pseudo(KnownName::PSEUDO_PATH, b"/");
        head.put_pseudo(KnownName::PSEUDO_SCHEME, b"https");
        head.put_pseudo(KnownName::PSEUDO_AUTHORITY, b"example.com");
        head
    }

    #[test]
    fn a_head_that_is_used_again_has_no_client_of_the_former() {
        let mut head = head();
        let client = Some(IpAddr::from([192, 0, 2, 1]));
        head.set_client(client);
        let mut copy = Head::new();
        copy.copy_from(&head);
        assert_eq!((head.client(), copy.client()), (client, client));
        head.clear();
        copy.copy_from(&head);
        assert_eq!((head.client(), copy.client()), (None, None));
    }

    #[test]
    fn parts_are_kept_apart_when_one_is_replaced() {
        let mut head = head();
        for path in ["/a/longer/path", "/", "/x", "*"] {
            head.set_path(path).unwrap();
            assert_eq!(head.method(), Some("GET"));
            assert_eq!(head.path(), Some(path));
            assert_eq!(head.scheme(), Some("https"));
            assert_eq!(head.authority(), Some("example.com"));
            assert_eq!(head.control.len(), 3 + path.len() + 5 + 11);
        }
        head.set_method("").unwrap_err();
        assert_eq!(head.method(), Some("GET"));
    }

    #[test]
    fn empty_parts_before_others_stay_empty() {
        let mut head = Head::new();
        head.put_pseudo(KnownName::PSEUDO_AUTHORITY, b"");
        head.put_pseudo(KnownName::PSEUDO_METHOD, b"GET");
        head.put_pseudo(KnownName::PSEUDO_AUTHORITY, b"a");
        head.put_pseudo(KnownName::PSEUDO_METHOD, b"PUT");
        assert_eq!((head.authority(), head.method()), (Some("a"), Some("PUT")));
    }

    #[test]
    fn what_is_there_is_known() {
        let mut head = head();
        assert!(head.has_pseudo(KnownName::PSEUDO_METHOD) && !head.has_pseudo(KnownName::PSEUDO_PROTOCOL));
        assert!(!head.has_pseudo(KnownName::PSEUDO_STATUS) && !head.has_pseudo(KnownName::ACCEPT));
        head.put_pseudo(KnownName::PSEUDO_STATUS, b"204");
        assert_eq!(head.status(), Some(Status::NO_CONTENT));
        assert!(head.has_pseudo(KnownName::PSEUDO_STATUS));
        head.set_protocol("websocket").unwrap();
        assert_eq!(head.protocol(), Some("websocket"));
        head.set_form(
            RequestForm::HOST.with_if(true, RequestForm::ABSOLUTE).with_if(false, RequestForm::HTTP_10),
        );
        let mut copy = Head::new();
        copy.copy_from(&head);
        assert_eq!(format!("{:?}", copy.form()), r#"{"absolute", "host"}"#);
        head.clear();
        assert!(KnownName::all().all(|name| !head.has_pseudo(name)));
        assert_eq!(head.form(), RequestForm::NONE);
    }

    #[test]
    fn refusals_name_the_text() {
        let mut head = Head::new();
        for (error, message) in [
            (
                head.set_path("/a b"),
                r#"target "/a b" has byte 0x20 at 2, which no path and query have (RFC 9110 §7.1)"#,
            ),
            (head.set_path(""), r#"target "" has not the form of one (RFC 9110 §7.1)"#),
            (head.set_path("a"), r#"target "a" has not the form of one (RFC 9110 §7.1)"#),
            (
                head.set_protocol("a b"),
                r#"protocol "a b" has byte 0x20 at 1, which no token has (RFC 8441 §4)"#,
            ),
        ] {
            assert_eq!(format!("{}", error.unwrap_err()), message);
        }
        assert_eq!(format!("{head:?}"), "Head { fields: [] }");
    }
}
