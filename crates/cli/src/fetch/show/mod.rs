//! The parts of an exchange that are printed, and their form: formatted on a terminal, unchanged elsewhere.

mod charset;
mod head;
mod json;
mod palette;
mod request;
mod sink;
mod sorted;

use std::io::{IsTerminal as _, stderr, stdout};

use alula::{KnownName, Response, fields::parameters};
use encoding_rs::Encoding;

use super::output::destination::Destination;
use crate::{
    args::{ColorWhen, Layout, OutputArgs, Pretty},
    terminal::Painted,
};
use charset::Charset;
pub(super) use head::{Head, name_of, request_head, response_head, trailers};
use palette::Palette;
pub(super) use request::request;
pub(super) use sink::Sink;

/// The length above which JSON is not formatted.
pub(super) const LAID_OUT_MAX: usize = 16 * 1024 * 1024;

/// The parts to print, and their formatting.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Show {
    pub(super) request_head: bool,
    pub(super) request_content: bool,
    pub(super) head: bool,
    pub(super) content: bool,
    /// Facts about the exchange, such as its time.
    pub(super) meta: bool,
    pub(super) is_laid_out: bool,
    pub(super) is_coloured: bool,
    /// The output is a terminal: control characters in heads are escaped, and text without a line end gets
    /// one, so that the prompt begins a line.
    pub(super) is_on_terminal: bool,
    /// The content also goes to a terminal, and the user did not ask for raw bytes: control characters are
    /// escaped.
    pub(super) is_seen: bool,
    pub(super) layout: Layout,
    palette: Palette,
    /// JSON is formatted line by line as it comes.
    is_stream: bool,
    /// The encoding of content, whatever the response says.
    charset: Option<&'static Encoding>,
    /// Whether content is JSON, whatever the response says.
    is_json: Option<bool>,
}

/// The part of the content that is held back before it is formatted or coloured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Holding {
    /// Nothing is held back.
    Nothing,
    /// An incomplete line is held back.
    Lines,
    /// All content is held back until it is complete.
    Whole,
}

impl Show {
    pub(super) fn of(args: &OutputArgs, method: &str, to: &Destination) -> Self {
        let is_terminal = stdout().is_terminal();
        // Elsewhere there are colours only when they are asked for, and then only NO_COLOR speaks against
        // them.
        let auto = match is_terminal {
            true => anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never,
            false => std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let is_told = args.verbose > 0 && stderr().is_terminal();
        Self::decide(args, method, to, (is_terminal, is_told), auto)
    }

    /// Returns the settings for heads without colours, as -D writes them.
    pub(super) fn plain(is_on_terminal: bool) -> Self {
        Self { is_on_terminal, ..Self::default() }
    }

    /// Returns the settings for a request that is printed and not sent.
    pub(super) fn of_request(args: &OutputArgs, to: &Destination) -> Self {
        let show = Self::of(args, "", to);
        match args.print {
            Some(_) => show,
            None => Self { request_head: true, request_content: true, ..show },
        }
    }

    /// Decides the parts to print: depends on whether stdout is a terminal, and whether -v prints heads
    /// already.
    fn decide(
        args: &OutputArgs,
        method: &str,
        to: &Destination,
        (is_terminal, is_told): (bool, bool),
        auto: bool,
    ) -> Self {
        let is_terminal = is_terminal && to.path().is_none();
        let parts = args.print.as_deref().unwrap_or(match () {
            () if method == "HEAD" => "h",
            () if args.include || (is_terminal && !is_told) => "hb",
            () => "b",
        });
        let colours_wanted = match args.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => (is_terminal || args.pretty.is_some() && to.path().is_none()) && auto,
        };
        let (layout, colours) = match args.pretty {
            None => (is_terminal, colours_wanted),
            Some(Pretty::All) => (true, colours_wanted),
            Some(Pretty::Format) => (true, false),
            Some(Pretty::Colors) => (false, colours_wanted),
            Some(Pretty::None) => (false, false),
        };
        Self {
            request_head: parts.contains('H'),
            request_content: parts.contains('B'),
            head: parts.contains('h'),
            content: parts.contains('b'),
            meta: parts.contains('m'),
            is_laid_out: layout,
            is_coloured: colours,
            is_on_terminal: is_terminal,
            is_seen: is_terminal && matches!(to, Destination::Stdout { is_forced: false }),
            layout: args.layout.layout(),
            palette: Palette::of(args.layout.style, std::env::var("COLORFGBG").ok().as_deref()),
            is_stream: args.layout.stream,
            charset: args.layout.response_charset,
            is_json: args.layout.response_mime.as_ref().map(|media_type| is_json(media_type.as_bytes())),
        }
    }

    /// Returns how much of this content is held back.
    pub(super) fn holding(&self, response: &Response) -> Holding {
        let media_type = response.headers().get(KnownName::CONTENT_TYPE).unwrap_or_default();
        let is_changed = self.content && (self.is_laid_out || self.is_coloured);
        match is_changed && self.is_json.unwrap_or_else(|| is_json(media_type)) {
            false => Holding::Nothing,
            true if self.is_stream => Holding::Lines,
            true => Holding::Whole,
        }
    }

    /// Returns the encoding of this content.
    pub(super) fn charset_of(&self, response: &Response) -> Charset {
        Charset::of(response, self)
    }

    /// Formats JSON for display, if it is JSON.
    pub(super) fn json(&self, bytes: &[u8]) -> Option<Painted> {
        json::shown(bytes, self)
    }

    /// Creates an empty painted text for this output.
    pub(super) fn painted(&self) -> Painted {
        Painted::new(self.is_on_terminal, self.is_coloured)
    }
}

/// Returns true for `application/json`, `text/json` or `…+json`, whatever the parameters.
pub(super) fn is_json(media_type: &[u8]) -> bool {
    let essence = parameters::main(media_type).to_ascii_lowercase();
    essence == b"application/json" || essence == b"text/json" || essence.ends_with(b"+json")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Args, Command};

    fn decide(flags: &[&str], method: &str, to: &Destination, is_terminal: bool, auto: bool) -> Show {
        let line = ["alula", "get", "a"].iter().chain(flags);
        let Command::Get(args) = Args::try_parse_from(line).unwrap().command else { unreachable!() };
        let is_told = args.options.output.verbose > 0;
        Show::decide(&args.options.output, method, to, (is_terminal, is_told), auto)
    }

    #[test]
    fn a_terminal_is_shown_more_than_a_pipe() {
        let stdout = Destination::Stdout { is_forced: false };
        let file = Destination::named(std::path::Path::new("a"));
        for (flags, method, to, is_terminal, auto, parts, layout, colours) in [
            (&[][..], "GET", &stdout, false, false, "b", false, false),
            (&[], "GET", &stdout, true, true, "hb", true, true),
            (&[], "GET", &stdout, true, false, "hb", true, false),
            (&[], "GET", &file, true, true, "b", false, false),
            (&[], "HEAD", &stdout, false, false, "h", false, false),
            (&["-i"], "GET", &stdout, false, false, "hb", false, false),
            (&["-i"], "GET", &file, true, true, "hb", false, false),
            (&["-v"], "GET", &stdout, true, true, "b", true, true),
            (&["-v", "-i"], "GET", &stdout, true, true, "hb", true, true),
            (&["-p", "HB"], "GET", &stdout, true, true, "HB", true, true),
            (&["-p", "mb"], "GET", &stdout, false, true, "bm", false, false),
            (&["-p", ""], "GET", &stdout, true, true, "", true, true),
            (&["--color=always"], "GET", &stdout, false, false, "b", false, true),
            (&["--color=never"], "GET", &stdout, true, true, "hb", true, false),
            (&["--pretty=all"], "GET", &stdout, false, true, "b", true, true),
            (&["--pretty=all"], "GET", &stdout, false, false, "b", true, false),
            (&["--pretty=format"], "GET", &stdout, true, true, "hb", true, false),
            (&["--pretty=colors"], "GET", &stdout, true, true, "hb", false, true),
            (&["--pretty=none"], "GET", &stdout, true, true, "hb", false, false),
        ] {
            let show = decide(flags, method, to, is_terminal, auto);
            let shown = [
                ('H', show.request_head),
                ('B', show.request_content),
                ('h', show.head),
                ('b', show.content),
                ('m', show.meta),
            ];
            let shown: String =
                shown.iter().filter(|(_, is_shown)| *is_shown).map(|(part, _)| part).collect();
            assert_eq!((&*shown, show.is_laid_out, show.is_coloured), (parts, layout, colours), "{flags:?}");
        }
    }

    #[test]
    fn json_is_known_by_its_media_type() {
        for right in
            ["application/json", "Application/JSON; charset=utf-8", "application/problem+json", "text/json"]
        {
            assert!(is_json(right.as_bytes()), "{right}");
        }
        for wrong in ["", "text/plain", "application/jsonl", "application/x-ndjson", "text/html; a=b+json"] {
            assert!(!is_json(wrong.as_bytes()), "{wrong}");
        }
    }
}
