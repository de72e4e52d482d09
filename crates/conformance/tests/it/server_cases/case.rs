//! A case: the bytes that a peer sends on one connection, and the answers that must come back.

/// One row of the list.
#[derive(Clone)]
pub(crate) struct Case {
    /// A name that no other case has.
    pub(crate) name: &'static str,
    /// The section of the rule, such as `9112 §3.2`.
    pub(crate) section: &'static str,
    /// The steps, in their order.
    pub(crate) steps: Vec<Step>,
    /// The state of the connection after the steps.
    pub(crate) end: End,
    /// The request, where it can be asked over HTTP/2 as well.
    pub(crate) ask: Option<Ask>,
}

/// One step of a case.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Closes the sending side.
    HalfClose,
    /// Reads one answer, which must be like this.
    Expect(Expected),
}

/// The state of a connection after the last answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// It answers one more request.
    Open,
    /// The server has closed it without another byte, and its last answer says `connection: close`.
    Closed,
    /// The server has closed it without another byte.
    Silent,
}

/// A request whose parts are known, so that a client can send it over another version.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) fields: Vec<(&'static str, &'static str)>,
    pub(crate) content: &'static str,
}

/// What an answer must be like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) status: u16,
    /// True for an answer to HEAD, which has no content.
    pub(crate) to_head: bool,
    /// Fields with their values, several of one name joined by a comma.
    pub(crate) has: Vec<(&'static str, &'static str)>,
    /// Fields whose value does not matter, or only a part of it.
    pub(crate) holds: Vec<(&'static str, &'static str)>,
    /// Fields that must not be there.
    pub(crate) lacks: Vec<&'static str>,
    pub(crate) content: Option<&'static str>,
    /// Texts that the content must hold.
    pub(crate) within: Vec<&'static str>,
    /// A field behind the content.
    pub(crate) trailer: Option<(&'static str, &'static str)>,
}

/// Sends these bytes, and nothing else unless another step does.
pub(crate) fn raw(name: &'static str, section: &'static str, bytes: impl AsRef<[u8]>) -> Case {
    let steps = vec![Step::Send(bytes.as_ref().to_vec())];
    Case { name, section, steps, end: End::Open, ask: None }
}

/// Asks for a path; over HTTP/2 as well, unless [`Case::http1_only`] is called.
pub(crate) fn ask(
    name: &'static str,
    section: &'static str,
    method: &'static str,
    path: &'static str,
) -> Case {
    let ask = Ask { method, path, fields: Vec::new(), content: "" };
    Case { name, section, steps: vec![Step::Send(ask.bytes())], end: End::Open, ask: Some(ask) }
}

/// Asks for a path by GET.
pub(crate) fn get(name: &'static str, section: &'static str, path: &'static str) -> Case {
    ask(name, section, "GET", path)
}

/// The request.
impl Case {
    /// Adds a field to the request.
    pub(crate) fn with(self, name: &'static str, value: &'static str) -> Self {
        self.change(|ask| ask.fields.push((name, value)))
    }

    /// Gives the request content of a stated length.
    pub(crate) fn body(self, content: &'static str) -> Self {
        self.change(|ask| ask.content = content)
    }

    fn change(mut self, change: impl FnOnce(&mut Ask)) -> Self {
        let ask = self.ask.as_mut().expect("a request whose parts are known");
        change(ask);
        self.steps[0] = Step::Send(ask.bytes());
        self
    }

    /// Leaves HTTP/2 out: the rule is one of HTTP/1.1.
    pub(crate) fn http1_only(mut self) -> Self {
        self.ask = None;
        self
    }

    /// Sends more bytes, after the answers before it have come.
    pub(crate) fn sends(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    /// Closes the sending side of the connection.
    pub(crate) fn half_closes(mut self) -> Self {
        self.steps.push(Step::HalfClose);
        self
    }
}

/// The answers.
impl Case {
    /// Expects an answer with this status; what follows is about it.
    pub(crate) fn answers(mut self, status: u16) -> Self {
        self.steps.push(Step::Expect(Expected { status, ..Expected::default() }));
        self
    }

    /// Expects 200 with this content and no other.
    pub(crate) fn gives(self, content: &'static str) -> Self {
        self.answers(200).content(content)
    }

    /// Expects an answer with this status, with which the server closes the connection.
    pub(crate) fn refused(self, status: u16) -> Self {
        self.answers(status).closes()
    }

    /// Expects an answer to HEAD.
    pub(crate) fn answers_head(mut self, status: u16) -> Self {
        self.steps.push(Step::Expect(Expected { status, to_head: true, ..Expected::default() }));
        self
    }

    /// The answer has this field with this value.
    pub(crate) fn has(self, name: &'static str, value: &'static str) -> Self {
        self.expect(|it| it.has.push((name, value)))
    }

    /// The answer has this field, and its value holds this text.
    pub(crate) fn holds(self, name: &'static str, text: &'static str) -> Self {
        self.expect(|it| it.holds.push((name, text)))
    }

    /// The answer does not have this field.
    pub(crate) fn lacks(self, name: &'static str) -> Self {
        self.expect(|it| it.lacks.push(name))
    }

    /// The answer has this content and no other.
    pub(crate) fn content(self, content: &'static str) -> Self {
        self.expect(|it| it.content = Some(content))
    }

    /// The content of the answer holds this text.
    pub(crate) fn within(self, text: &'static str) -> Self {
        self.expect(|it| it.within.push(text))
    }

    /// The answer has this field behind its content.
    pub(crate) fn trailer(self, name: &'static str, value: &'static str) -> Self {
        self.expect(|it| it.trailer = Some((name, value)))
    }

    fn expect(mut self, change: impl FnOnce(&mut Expected)) -> Self {
        let Some(Step::Expect(last)) = self.steps.last_mut() else { panic!("{}: no answer yet", self.name) };
        change(last);
        self
    }

    /// The server closes the connection after the last answer, and says so in it.
    pub(crate) fn closes(mut self) -> Self {
        self.end = End::Closed;
        self
    }

    /// The server closes the connection without a word more.
    pub(crate) fn ends(mut self) -> Self {
        self.end = End::Silent;
        self
    }

    /// Returns the answers that are expected, the last of them final.
    pub(crate) fn expected(&self) -> impl Iterator<Item = &Expected> {
        self.steps.iter().filter_map(|step| match step {
            Step::Expect(expected) => Some(expected),
            _ => None,
        })
    }
}

impl Ask {
    /// The request as HTTP/1.1 has it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let fields: String = self.fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = match self.content.len() {
            0 if matches!(self.method, "GET" | "HEAD" | "OPTIONS" | "DELETE" | "TRACE") => String::new(),
            bytes => format!("Content-Length: {bytes}\r\n"),
        };
        let Self { method, path, content, .. } = self;
        format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{fields}{length}\r\n{content}").into_bytes()
    }
}
