//! The flags for a request: its method, URL and fields.

use std::path::PathBuf;

use clap::{ArgMatches, Args as ClapArgs};

use super::content::places;
use crate::args::{
    ConnectionArgs, ContentArgs, HttpieArgs, OutputArgs, TransferArgs,
    values::{Fields, credentials, fields, method, range},
};

/// The arguments of a command that names a method.
#[derive(ClapArgs, Debug)]
pub(crate) struct FetchArgs {
    /// The URL to ask for; `:8080/path` is on localhost.
    ///
    /// Without a scheme it is http://. `{a,b}` and `[1-9]`, `[01-20:2]`, `[a-z]` stand for several URLs each,
    /// unless -g is given.
    #[arg(required_unless_present_any = ["urls"])]
    pub(crate) url: Option<String>,

    /// More of the request, or more URLs.
    ///
    /// `name==value` is appended to the query. `Name:value` is a field, `Name:` one that is not sent though
    /// it is by default, `Name;` one without a value. `name=value` is a string of the JSON object that is the
    /// content, `name:=json` any other JSON; an `@FILE` behind the separator has the value. `a[b]=c`, `a[]=c`
    /// and `a[0]=c` lead into objects and arrays. With --form they are a form instead, and `name@FILE` in it
    /// is a file. `@FILE` alone is the whole content. A backslash before `=`, `:`, `@` or `;` makes a plain
    /// character of it. Items such as http://HOST, `:8080` and `localhost:8080/path` are further URLs, asked
    /// for on the same connection where that can be.
    #[arg(value_name = "ITEM")]
    pub(crate) items: Vec<String>,

    #[command(flatten)]
    pub(crate) options: Options,
}

/// The arguments of `alula request`.
#[derive(ClapArgs, Debug)]
#[command(override_usage = "alula request [OPTIONS] [METHOD] <URL> [ITEM]...")]
pub(crate) struct AnyArgs {
    /// The method, the URL, items.
    ///
    /// The method is given in capitals, if it is neither GET nor POST; then the URL and items, as `alula help
    /// get` has them.
    #[arg(value_name = "METHOD|URL|ITEM", required_unless_present_any = ["urls"])]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) options: Options,
}

/// The options of all requests.
#[derive(ClapArgs, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) httpie: HttpieArgs,
    #[command(flatten)]
    pub(crate) transfer: TransferArgs,
}

/// The ending of a --referer value that makes redirects name their own referer.
const AUTO: &str = ";auto";

impl RequestArgs {
    /// Returns the referer, unless it is empty.
    pub(crate) fn referer(&self) -> Option<&str> {
        let given = self.referer.as_deref()?;
        let url = given.split_once(AUTO).map_or(given, |(url, _)| url);
        Some(url).filter(|url| !url.is_empty())
    }

    /// Returns true if the request after a redirect names the URL that led to it as its referer.
    pub(crate) fn has_referer_of_redirects(&self) -> bool {
        self.referer.as_ref().is_some_and(|given| given.contains(AUTO))
    }

    /// Returns true if a referer is given, even an empty one.
    pub(crate) fn names_referer(&self) -> bool {
        self.referer.is_some()
    }
}

impl Options {
    /// Records the order of flags whose order matters.
    pub(in crate::args) fn order(&mut self, matches: &ArgMatches) {
        self.content.order(matches);
        self.output.order(matches);
        let words: Vec<usize> =
            ["url", "items", "words"].iter().flat_map(|name| places(matches, name)).collect();
        let before = |place: usize| words.iter().filter(|word| **word < place).count();
        self.request.words_before_urls = places(matches, "urls").into_iter().map(before).collect();
    }
}

#[derive(ClapArgs, Debug, Default)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArgs {
    /// Send this method instead, as it is spelled.
    #[arg(short = 'X', long = "request", value_name = "METHOD", value_parser = method)]
    pub(crate) method: Option<String>,

    /// Ask for the head only, and print it.
    #[arg(short = 'I', long)]
    pub(crate) head: bool,

    /// Send this field, as `name: value`.
    ///
    /// It may be given often, and replaces one that is sent by default. `name:` sends none, `name;` one
    /// without a value. `@FILE` has fields, one on each line; `@-` is stdin.
    #[arg(short = 'H', long = "header", value_name = "FIELD", value_parser = fields)]
    pub(crate) fields: Vec<Fields>,

    /// Send this name as the user agent.
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(crate) user_agent: Option<String>,

    /// Send this URL as the referer.
    ///
    /// With `;auto` behind it each redirect that is followed is the referer of the next request.
    #[arg(short = 'e', long, value_name = "URL", hide_short_help = true)]
    referer: Option<String>,

    /// Send name and password (RFC 7617).
    ///
    /// Over http:// anyone on the way can read them. Without a colon the password is asked for, if stdin is a
    /// terminal, and not shown while it is typed.
    #[arg(short, long, value_name = "NAME:PASSWORD", value_parser = credentials)]
    pub(crate) user: Option<(String, String)>,

    /// Send name and password as a digest (RFC 7616), once the server asks for one.
    ///
    /// With content the first request has none, as with curl.
    #[arg(long, overrides_with = "anyauth", hide_short_help = true)]
    pub(crate) digest: bool,

    /// Send name and password in the best way that the server asks for: as a digest, or else by Basic.
    #[arg(long, hide_short_help = true)]
    pub(crate) anyauth: bool,

    /// Send this token (RFC 6750).
    #[arg(long, alias = "oauth2-bearer", value_name = "TOKEN", conflicts_with = "user")]
    pub(crate) bearer: Option<String>,

    /// Send the name and the password that .netrc at home has for the host, unless some are given.
    #[arg(short, long, visible_alias = "netrc-optional", hide_short_help = true)]
    pub(crate) netrc: bool,

    /// As -n, from this file.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) netrc_file: Option<PathBuf>,

    /// Send cookies, `name=value` or those of a file.
    ///
    /// These cookies (`name=value; name=value`), or those of this file, as Netscape, curl and wget write it,
    /// which also makes cookies kept between requests. A file that is not there holds none.
    #[arg(short = 'b', long = "cookie", value_name = "COOKIES|FILE")]
    pub(crate) cookies: Vec<String>,

    /// Keep cookies, and write them to this file.
    ///
    /// They are kept between requests, and written in the end; `-` is stdout.
    #[arg(short = 'c', long, value_name = "FILE")]
    pub(crate) cookie_jar: Option<PathBuf>,

    /// Leave out the cookies of files that end with the session.
    #[arg(short = 'j', long, hide_short_help = true)]
    pub(crate) junk_session_cookies: bool,

    /// Ask for a part of the content only: bytes FIRST-LAST, FIRST- or the last -N.
    #[arg(short, long, hide_short_help = true, value_name = "RANGE", value_parser = range, allow_hyphen_values = true, conflicts_with = "continue_at")]
    pub(crate) range: Option<String>,

    /// Ask for compressed content, and decode it.
    ///
    /// The codings are gzip, deflate, br and zstd.
    #[arg(long)]
    pub(crate) compressed: bool,

    /// Append this to the query, encoded as --data-urlencode does it, or as it is behind a `+`; may be given
    /// often.
    #[arg(long, value_name = "NAME=VALUE", hide_short_help = true)]
    pub(crate) url_query: Vec<String>,

    /// Put the content of -d into the query.
    ///
    /// The values of -d, --data-raw and --data-urlencode are not sent as content then.
    #[arg(short = 'G', long, conflicts_with = "upload_file")]
    pub(crate) get: bool,

    /// Ask for this URL, too; may be given often.
    #[arg(long = "url", value_name = "URL", hide_short_help = true)]
    pub(crate) urls: Vec<String>,

    /// The number of words before each --url.
    #[arg(skip)]
    pub(crate) words_before_urls: Vec<usize>,

    /// Begin another request, of the same command, with flags of its own; `-:` is the same.
    ///
    /// The requests are sent one after the other, each on its own connection; the first failure is the exit
    /// code.
    #[arg(long, hide_short_help = true)]
    pub(crate) next: bool,

    /// Send `.` and `..` in the path of URLs as they are.
    #[arg(long, hide_short_help = true)]
    pub(crate) path_as_is: bool,

    /// Ask the host of the URL for this, in the place of its path and query.
    #[arg(long, value_name = "TARGET", hide_short_help = true)]
    pub(crate) request_target: Option<String>,

    /// Take `{`, `}`, `[` and `]` in URLs as they are.
    #[arg(short = 'g', long, hide_short_help = true)]
    pub(crate) globoff: bool,

    /// Read more arguments from this file, as curl writes them; `-` is stdin.
    ///
    /// Each line has a flag, with its dashes or without, and its value behind a space, `=` or `:`, in quotes
    /// where it has spaces. A line that begins with `#` is a comment. `url = URL` is a URL. Arguments in
    /// ~/.alularc are read first, unless -q is the first flag.
    #[arg(short = 'K', long, value_name = "FILE", hide_short_help = true)]
    pub(crate) config: Vec<PathBuf>,
}
