//! The plan of a run: everything derived from the arguments before anything is opened or sent.

pub(in crate::fetch) mod condition;
pub(in crate::fetch) mod curl;
pub(in crate::fetch) mod date;
pub(in crate::fetch) mod glob;
pub(in crate::fetch) mod items;
pub(in crate::fetch) mod members;
pub(in crate::fetch) mod nested;
pub(in crate::fetch) mod netrc;
pub(in crate::fetch) mod offline;
pub(in crate::fetch) mod session;
pub(in crate::fetch) mod target;
pub(in crate::fetch) mod zone;

use std::time::{Duration, Instant};

use anstyle::Style;

use super::{
    content::{self, Content, encode, stdin::Deadline},
    plan::{glob::Globbed, items::Item, netrc::Netrc, session::Kept, target::Target},
    send::{
        basic::basic,
        cookies,
        login::Login,
        lookup::{self, StandIn},
        tries::Tries,
    },
};
use crate::{
    args::{AnyArgs, FetchArgs, FieldArg, METHODS, Options, OutputArgs, RequestArgs, is_in_capitals},
    failure::exit::{Exit, Failure},
    terminal,
};

const USER_AGENT: &str = concat!("alula/", env!("CARGO_PKG_VERSION"));

/// A request, and the targets to send it to in turn.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) method: String,
    /// The method of a target without a file, if others have one.
    method_without_upload: Option<&'static str>,
    pub(super) targets: Vec<Target>,
    pub(super) fields: Vec<(String, String)>,
    content: Option<Content>,
    /// The files of -T; each target names its own.
    uploads: Vec<Content>,
    pub(super) session: Option<Kept>,
    /// The host of the URL, whose addresses are used for the field `host`.
    pub(super) stand_in: Option<StandIn>,
    /// The content is sent in chunks, even if its length is known.
    pub(super) is_chunked: bool,
    pub(super) login: Login,
    /// The name and the password of -u, unless they are sent at once.
    user: Option<(String, String)>,
    /// The time that reading stdin into memory took.
    reading_took: Duration,
}

/// The words of the command line.
struct Words<'a> {
    /// The method of the command, or the word that `request` was given.
    method: Option<&'a str>,
    /// True if the command names the method, so that unsuitable content is a mistake.
    is_command: bool,
    url: Option<&'a str>,
    items: &'a [String],
    /// The words before the URL: the name of the method.
    before_url: usize,
}

impl Plan {
    /// Returns the plan for a command with a method of its own.
    pub(crate) fn of(method: &str, args: &FetchArgs) -> Result<Self, Failure> {
        let (url, items) = (args.url.as_deref(), &*args.items);
        let words = Words { method: Some(method), is_command: true, url, items, before_url: 0 };
        Self::new(&words, &args.options)
    }

    /// Returns the plan for `alula request`.
    pub(crate) fn of_any(args: &AnyArgs) -> Result<Self, Failure> {
        let (method, rest) = match &*args.words {
            [first, rest @ ..] if !rest.is_empty() && is_in_capitals(first) => (Some(first.as_str()), rest),
            // The name of a command behind flags.
            [first, rest @ ..] if !rest.is_empty() => {
                (METHODS.into_iter().find(|it| it.eq_ignore_ascii_case(first)), rest)
            }
            all => (None, all),
        };
        let rest = if method.is_none() { &args.words } else { rest };
        if let [word] = rest
            && METHODS.contains(&word.as_str())
        {
            return Err(usage(format_args!("{word} is a method, and the URL is missing")));
        }
        let (url, items) =
            rest.split_first().map_or((None, rest), |(url, items)| (Some(url.as_str()), items));
        let before_url = usize::from(method.is_some());
        Self::new(&Words { method, is_command: false, url, items, before_url }, &args.options)
    }

    fn new(words: &Words<'_>, options: &Options) -> Result<Self, Failure> {
        let (url, items) = items::read(words.url, words.items)?;
        let began = Instant::now();
        let deadline = Deadline::of(options.connection.max_time);
        let urls = in_order(words, url, &options.request);
        let mut query = query(&items, options, deadline)?;
        let mut content = if options.request.get {
            query.extend(content::as_query(&options.content, deadline)?);
            None
        } else {
            Content::of(&options.content, &items, deadline)?
        };
        let (places, mut uploads) = Content::uploads(&options.content, options.request.globoff)?;
        let method = method(words, options, content.is_some() || !uploads.is_empty())?;
        let mut targets = paired(targets(&urls, &query, options)?, &uploads, &places, words.is_command);
        let of_url = targets.first().and_then(|target| target.credentials.clone());
        take_from_netrc(&mut targets, &options.request)?;
        check_stdin(&targets, content.as_ref(), &uploads)?;
        let given = given(&items, &options.request);
        let conditions = condition::fields(&options.transfer, &options.output)?;
        let mut fields = fields(&given, &options.request, content.as_ref(), conditions);
        let is_chunked = (content.is_some() || !uploads.is_empty()) && take_chunked(&mut fields);
        let stand_in = lookup::stand_in(&mut fields, &mut targets)?;
        let session = Kept::of(options, &given, of_url.as_ref(), &targets)?;
        if let Some(session) = &session {
            with_session(session, &given, &options.request, &mut fields)?;
        }
        let (login, user) = login(session.as_ref(), &options.request);
        // A digest and another try send the content again: stdin has to be in memory by then.
        let is_sent_often = login != Login::Basic || Tries::are_meant(options, &method);
        let is_form = content.as_ref().is_some_and(|content| content.source.is_form_of_stdin());
        let is_sent = !options.output.print_curl;
        if (is_sent_often || is_form) && is_sent {
            content.iter_mut().chain(&mut uploads).try_for_each(|content| content.hold(deadline))?;
        }
        let is_named = words.is_command || words.method.is_some() || options.request.method.is_some();
        let method_without_upload = (!uploads.is_empty() && !is_named).then_some("GET");
        Ok(Self {
            method,
            method_without_upload,
            targets,
            fields,
            content,
            uploads,
            session,
            stand_in,
            is_chunked,
            login,
            user,
            reading_took: began.elapsed(),
        })
    }

    /// Returns the method of the request to a target.
    pub(super) fn method_for(&self, target: &Target) -> &str {
        match target.upload {
            None => self.method_without_upload.unwrap_or(&self.method),
            Some(_) => &self.method,
        }
    }

    /// Returns the deadline of the request at this place, which begins now. The first one has been waiting
    /// while stdin was read.
    pub(super) fn deadline(&self, place: usize, max_time: Option<Duration>) -> Deadline {
        let took = if place == 0 { self.reading_took } else { Duration::ZERO };
        Deadline::after(max_time, took)
    }

    /// Returns the content of the request to a target.
    pub(super) fn content_for(&self, target: &Target) -> Option<&Content> {
        match target.upload {
            Some(at) => self.uploads.get(at),
            None => self.content.as_ref(),
        }
    }

    /// Warns that there are more files than URLs.
    pub(super) fn warn_of_outputs(&self, args: &OutputArgs) {
        let urls = self.targets.last().map_or(0, |target| target.place + 1);
        if args.names.len() > urls && !args.silent {
            let told = b"alula: more -o and -O than URLs: the last ones are not written";
            terminal::tell(Style::new(), told);
        }
    }

    /// Returns true if there is content other than a file of -T.
    pub(super) fn posts(&self) -> bool {
        self.content.is_some()
    }

    /// Returns the name and the password for a target that asks for them.
    pub(super) fn user_for(&self, target: &Target) -> Option<(String, String)> {
        let has_authorization =
            self.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let is_asked_for = self.login != Login::Basic && !has_authorization;
        self.user.clone().or_else(|| target.credentials.clone()).filter(|_| is_asked_for)
    }

    /// Returns the fields for a target: credentials in its URL count if no others are given.
    pub(super) fn fields_for(&self, target: &Target) -> Vec<(String, String)> {
        let mut fields = self.fields.clone();
        let has_authorization = fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let is_basic = self.login == Login::Basic && !has_authorization;
        if let Some((name, password)) = target.credentials.as_ref().filter(|_| is_basic) {
            fields.push(("authorization".to_owned(), basic(name, password)));
        }
        fields
    }
}

fn usage(sentence: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

fn query(items: &[Item], options: &Options, deadline: Deadline) -> Result<Vec<String>, Failure> {
    let mut query: Vec<String> = Vec::new();
    for argument in &options.request.url_query {
        query.push(match argument.strip_prefix('+') {
            Some(encoded) => encoded.to_owned(),
            None => encode::argument(argument, deadline)?,
        });
    }
    for item in items {
        if let Item::Query { name, value } = item {
            query.push(encode::pair(name, value.text()?.as_bytes()));
        }
    }
    Ok(query)
}

/// Returns the URLs in the order in which they were given: the words from `url` on, and the values of --url.
fn in_order<'a>(words: &Words<'a>, url: Option<&'a str>, args: &'a RequestArgs) -> Vec<&'a str> {
    let all = words.url.into_iter().chain(words.items.iter().map(String::as_str)).enumerate();
    let is_first = |at: usize, word: &str| at == 0 && Some(word) == url;
    let typed = all.filter(|(at, word)| is_first(*at, word) || items::is_url(word));
    let typed = typed.map(|(at, word)| (words.before_url + at, 1, word));
    let by_flag = args.words_before_urls.iter().zip(&args.urls).map(|(before, url)| (*before, 0, &**url));
    let mut urls: Vec<(usize, u8, &str)> = typed.chain(by_flag).collect();
    urls.sort_by_key(|(words, kind, _)| (*words, *kind));
    urls.into_iter().map(|(.., url)| url).collect()
}

/// Returns a target for each file of -T that belongs to its URL, or the target alone. By a command with a
/// method of its own the last files are for all others, too. `places` has the place of each file's flag.
fn paired(targets: Vec<Target>, uploads: &[Content], places: &[usize], is_command: bool) -> Vec<Target> {
    let last = places.last().copied();
    let mut all: Vec<Target> = Vec::new();
    for of_url in targets.chunk_by(|one, other| one.place == other.place) {
        let place = of_url.first().map(|target| target.place).filter(|place| places.contains(place));
        let place = place.or(last.filter(|_| is_command));
        let files = (0..uploads.len()).filter(|at| Some(places[*at]) == place);
        let before = all.len();
        for at in files {
            all.extend(of_url.iter().map(|target| target.sent(at, &uploads[at])));
        }
        if all.len() == before {
            all.extend_from_slice(of_url);
        }
    }
    all
}

fn targets(urls: &[&str], query: &[String], options: &Options) -> Result<Vec<Target>, Failure> {
    let args = &options.request;
    let mut targets = Vec::new();
    for (place, url) in urls.iter().copied().enumerate() {
        let meant = if args.globoff {
            vec![Globbed::plain(url)]
        } else {
            glob::expanded(url).map_err(|sentence| usage(sentence).curl(3))?
        };
        for Globbed { url, values } in meant {
            let url = target::with_scheme(&url, options.httpie.default_scheme);
            let mut target = Target { place, values, ..Target::of(&url, query)? };
            if options.connection.proto.is_some_and(|all| !all.have(target.url.scheme())) {
                return Err(target::forbidden(&url));
            }
            if args.path_as_is {
                target.keep_path(&url);
            }
            target.path_as_is = args.request_target.clone().or(target.path_as_is);
            targets.push(target);
        }
    }
    Ok(targets)
}

fn method(words: &Words<'_>, options: &Options, has_content: bool) -> Result<String, Failure> {
    if let Some(method) = &options.request.method {
        return Ok(method.clone());
    }
    let is_upload = !options.content.upload_file.is_empty();
    let method = match words.method {
        // -I wins over the name of the command, as with curl.
        _ if options.request.head => "HEAD",
        Some(method) => method,
        None if is_upload => "PUT",
        None if has_content => "POST",
        None => "GET",
    };
    let has_none = matches!(method, "GET" | "HEAD") && (words.is_command || options.request.head);
    if has_content && has_none {
        let other = if is_upload { "put" } else { "post" };
        return Err(usage(format_args!(
            "{method} goes without content: `alula {other}` sends it, -G puts it into the query, and -X {method} sends it still"
        )));
    }
    Ok(method.to_owned())
}

/// Gives targets without credentials those of the user's .netrc, if it is to be read.
fn take_from_netrc(targets: &mut [Target], args: &RequestArgs) -> Result<(), Failure> {
    let netrc = Netrc::of(args)?;
    for target in targets {
        target.credentials = target.credentials.take().or_else(|| netrc.credentials(target.url.host_str()?));
    }
    Ok(())
}

fn check_stdin(targets: &[Target], content: Option<&Content>, uploads: &[Content]) -> Result<(), Failure> {
    let takes_stdin = |target: &&Target| {
        let content = target.upload.map_or(content, |at| uploads.get(at));
        content.is_some_and(|content| content.source.has_stdin())
    };
    match targets.iter().filter(takes_stdin).count() {
        0 | 1 => Ok(()),
        _ => Err(usage("what comes from stdin can be sent to one URL only")),
    }
}

/// Returns the scheme of the credentials, and the name and the password that are not sent at once.
fn login(session: Option<&Kept>, args: &RequestArgs) -> (Login, Option<(String, String)>) {
    if let Some(user) = session.and_then(Kept::digest_user) {
        return (Login::Digest, Some(user));
    }
    let login = Login::of(args);
    (login, args.user.clone().filter(|_| login != Login::Basic))
}

/// Removes the field `transfer-encoding: chunked`, which the connection sends itself; returns true if it was
/// there.
fn take_chunked(fields: &mut Vec<(String, String)>) -> bool {
    let is_other = |(name, value): &(String, String)| {
        !(name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked"))
    };
    let before = fields.len();
    fields.retain(is_other);
    fields.len() < before
}

/// Returns the fields of flags and items.
fn given<'a>(items: &'a [Item], args: &'a RequestArgs) -> Vec<&'a FieldArg> {
    let of_items =
        items.iter().filter_map(|item| if let Item::Field(field) = item { Some(field) } else { None });
    args.fields.iter().flat_map(|fields| &fields.0).chain(of_items).collect()
}

/// Returns the default fields, unless they are replaced, then the given fields.
fn fields(
    given: &[&FieldArg],
    args: &RequestArgs,
    content: Option<&Content>,
    conditions: Vec<(&'static str, String)>,
) -> Vec<(String, String)> {
    let is_given = |name: &str| given.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    let mut fields: Vec<(String, String)> = defaults(args, content)
        .into_iter()
        .chain(conditions)
        .filter(|(name, _)| !is_given(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    fields.extend(given.iter().filter_map(|field| Some((field.name.clone(), field.value.clone()?))));
    fields
}

/// Adds the fields of a session that were not given. Cookies and credentials that are given are those of the
/// session by now.
fn with_session(
    session: &Kept,
    given: &[&FieldArg],
    args: &RequestArgs,
    fields: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    let by_item = |name: &str| given.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    let by_flag = |name: &str| match () {
        () if name.eq_ignore_ascii_case("user-agent") => args.user_agent.is_some(),
        () => name.eq_ignore_ascii_case("referer") && args.names_referer(),
    };
    fields.retain(|(name, _)| !(by_item("cookie") && name.eq_ignore_ascii_case("cookie")));
    for (name, value) in session.fields(|name| by_item(name) || by_flag(name))? {
        fields.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        fields.push((name, value));
    }
    Ok(())
}

fn defaults(args: &RequestArgs, content: Option<&Content>) -> Vec<(&'static str, String)> {
    let user_agent = Some(args.user_agent.clone().unwrap_or_else(|| USER_AGENT.to_owned()));
    let accept = content.and_then(|content| content.accept).unwrap_or("*/*");
    let user = args.user.as_ref().filter(|_| Login::of(args) == Login::Basic);
    let basic = user.map(|(name, password)| basic(name, password));
    let bearer = args.bearer.as_ref().map(|token| format!("Bearer {token}"));
    let range = args.range.as_ref().map(|range| format!("bytes={range}"));
    let all = [
        ("user-agent", user_agent.filter(|name| !name.is_empty())),
        ("accept", Some(accept.to_owned())),
        ("content-type", content.and_then(|content| content.media_type.clone())),
        ("referer", args.referer().map(str::to_owned)),
        ("authorization", basic.or(bearer)),
        ("range", range),
        ("cookie", cookies::given(args)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};

    fn plan(line: &[&str]) -> Result<Plan, Failure> {
        let args = Args::tried(line);
        match args.unwrap_or_else(|error| panic!("{error}")).command {
            Command::Get(args) => Plan::of("GET", &args),
            Command::Head(args) => Plan::of("HEAD", &args),
            Command::Post(args) => Plan::of("POST", &args),
            Command::Put(args) => Plan::of("PUT", &args),
            Command::Delete(args) => Plan::of("DELETE", &args),
            Command::Request(args) => Plan::of_any(&args),
            other => panic!("{other:?}"),
        }
    }

    fn value_of(plan: &Plan, name: &str) -> Vec<String> {
        let fields = plan.fields_for(&plan.targets[0]).into_iter();
        fields.filter(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    #[test]
    fn the_method_follows_from_command_flags_and_content() {
        for (line, method) in [
            (&["get", "a"][..], "GET"),
            (&["get", "a", "-I"], "HEAD"),
            (&["get", "a", "-X", "purge"], "purge"),
            (&["get", "a", "-X", "GET", "-d", "b"], "GET"),
            (&["get", "a", "-G", "-d", "b"], "GET"),
            (&["post", "a"], "POST"),
            (&["post", "a", "-T", "b"], "POST"),
            (&["delete", "a", "b=c"], "DELETE"),
            (&["request", "a"], "GET"),
            (&["request", "a", "b==c", "D:e"], "GET"),
            (&["request", "a", "b=c"], "POST"),
            (&["request", "a", "-d", "b"], "POST"),
            (&["request", "a", "--json", "{}"], "POST"),
            (&["request", "a", "-T", "b"], "PUT"),
            (&["request", "a", "-F", "b=c"], "POST"),
            (&["request", "a", "-I"], "HEAD"),
            (&["request", "PURGE", "a"], "PURGE"),
            (&["request", "GET", "a", "b=c"], "GET"),
            (&["request", "put", "a"], "PUT"),
            (&["request", "get"], "GET"),
            (&["request", "M-SEARCH", "a"], "M-SEARCH"),
            (&["request", "LOCALHOST"], "GET"),
            (&["request", "-X", "QUERY", "a", "b=c"], "QUERY"),
        ] {
            assert_eq!(plan(line).unwrap().method, method, "{line:?}");
        }
        for line in [
            &["get", "a", "b=c"][..],
            &["get", "a", "-d", "b"],
            &["get", "a", "-T", "b"],
            &["get", "a", "-F", "b=c"],
            &["post", "http://a", "http://b", "-F", "c=@-"],
            &["head", "a", "-d", "b"],
            &["post", "a", "-I", "-d", "b"],
            &["request", "a", "nothing"],
            &["post", "a", "-d", "b", "c=d"],
            &["put", "http://a", "http://b", "-T", "-"],
            &["get", "a", "http://b", "Host:c"],
            &["get", "a", "Host:1.2.3.4"],
            &["get", "a", "Host:b/c"],
        ] {
            assert!(plan(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn fields_that_are_given_replace_those_that_are_not() {
        for (line, name, values) in [
            (&["get", "a"][..], "user-agent", &[USER_AGENT][..]),
            (&["get", "a", "-A", "me"], "user-agent", &["me"]),
            (&["get", "a", "-A", ""], "user-agent", &[]),
            (&["get", "a", "-H", "User-Agent:"], "user-agent", &[]),
            (&["get", "a", "User-Agent:me"], "user-agent", &["me"]),
            (&["get", "a", "accept;"], "accept", &[""]),
            (&["get", "a", "X:1", "-H", "X: 2"], "x", &["2", "1"]),
            (&["get", "a", "-e", "b"], "referer", &["b"]),
            (&["get", "a", "-r", "0-5"], "range", &["bytes=0-5"]),
            (
                &["get", "a", "-u", "Aladdin:open sesame"],
                "authorization",
                &["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
            ),
            (&["get", "Aladdin:open%20sesame@a"], "authorization", &["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]),
            (&["get", "b:c@a", "--bearer", "t"], "authorization", &["Bearer t"]),
            (&["get", "a", "-b", "b=c", "-b", "d=e; f=g"], "cookie", &["b=c; d=e; f=g"]),
            (&["get", "a", "-b", "file"], "cookie", &[]),
            (&["post", "a", "-d", "b"], "content-type", &[content::FORM]),
            (&["post", "a", "-d", "b", "-H", "content-type: text/x"], "content-type", &["text/x"]),
            (&["post", "a", "-d", "b", "-H", "content-type:"], "content-type", &[]),
            (&["post", "a", "--json", "1"], "content-type", &[content::JSON]),
            (&["post", "a", "--json", "1"], "accept", &[content::JSON]),
            (&["post", "a", "b=c"], "content-type", &[content::JSON]),
            (&["put", "a", "-T", "b.txt"], "content-type", &[]),
            (&["put", "a", "@b.txt"], "content-type", &["text/plain"]),
        ] {
            assert_eq!(value_of(&plan(line).unwrap(), name), values, "{line:?}");
        }
    }

    #[test]
    fn credentials_come_from_netrc_last() {
        let path = std::env::temp_dir().join(format!("alula-netrc-{}", std::process::id()));
        std::fs::write(&path, "machine a login Aladdin password \"open sesame\"").unwrap();
        let file = path.to_str().unwrap();
        for (line, value) in [
            (&["get", "a", "--netrc-file", file][..], Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
            (&["get", "b", "--netrc-file", file], None),
            (&["get", "n:p@a", "--netrc-file", file], Some("Basic bjpw")),
            (&["get", "a", "-u", "n:p", "--netrc-file", file], Some("Basic bjpw")),
            (&["get", "a", "Authorization:x", "--netrc-file", file], Some("x")),
        ] {
            let found = value_of(&plan(line).unwrap(), "authorization");
            assert_eq!(found.first().map(String::as_str), value, "{line:?}");
        }
        std::fs::remove_file(path).unwrap();
        assert!(plan(&["get", "a", "--netrc-file", "no such file"]).is_err());
    }

    #[test]
    fn urls_take_the_query_and_the_name_of_a_file() {
        for (line, urls) in [
            (&["get", "a?b", "c==d e", "--url-query", "f=g h"][..], &["http://a/?b&f=g+h&c=d+e"][..]),
            (&["get", "a", "-G", "-d", "b=c", "--data-urlencode", "d=e f"], &["http://a/?b=c&d=e+f"]),
            (&["put", "a/", "-T", "some/b.txt"], &["http://a/b.txt"]),
            (&["put", "a/c", "-T", "b.txt"], &["http://a/c"]),
            (&["get", "a", "https://b/c", "d==e"], &["http://a/?d=e", "https://b/c?d=e"]),
            (&["get", "a:1/x", "http://a:1/y", "Host:b"], &["http://b/x", "http://b/y"]),
            (&["get", "1.2.3.4", "-H", "host: b:2"], &["http://b:2/"]),
        ] {
            let plan = plan(line).unwrap();
            let given: Vec<&str> = plan.targets.iter().map(|target| target.url.as_str()).collect();
            assert_eq!(given, urls, "{line:?}");
        }
    }
}
