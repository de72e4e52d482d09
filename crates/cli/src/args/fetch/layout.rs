//! The flags for the layout and colours of what is shown.

use clap::{Args as ClapArgs, ValueEnum};
use encoding_rs::Encoding;

#[derive(ClapArgs, Debug, Default)]
pub(crate) struct LayoutArgs {
    /// Choose colours for a light or a dark background.
    ///
    /// Without the flag COLORFGBG decides, if the terminal sets it, and else colours are used that stand out
    /// from both. The terminal's own sixteen are used by `ansi`.
    #[arg(long, value_name = "STYLE", default_value = "auto", hide_short_help = true)]
    pub(crate) style: Style,

    /// Show fields and members of JSON in the order of their names, where they are laid out.
    #[arg(long, overrides_with = "unsorted", hide_short_help = true)]
    sorted: bool,

    /// Show fields and members in the order in which they came; this is what is done without the flag.
    #[arg(long, hide_short_help = true)]
    unsorted: bool,

    /// Change how it is laid out: `json.indent:2`, `json.format:false`, `json.sort_keys:true`,
    /// `headers.sort:true`.
    ///
    /// Several stand between commas; the last one counts.
    #[arg(long, value_name = "OPTIONS", value_parser = format_options, hide_short_help = true)]
    format_options: Vec<FormatOptions>,

    /// Lay out and colour each line of JSON as soon as it is there.
    ///
    /// Without the flag JSON is held until it is whole.
    #[arg(long, hide_short_help = true)]
    pub(crate) stream: bool,

    /// Read the content that is shown in this coding, whatever the response says.
    #[arg(long, value_name = "CHARSET", value_parser = charset, hide_short_help = true)]
    pub(crate) response_charset: Option<&'static Encoding>,

    /// Show the content as one of this media type, whatever the response says.
    #[arg(long, value_name = "TYPE", value_parser = media_type, hide_short_help = true)]
    pub(crate) response_mime: Option<String>,
}

/// For which background the colours are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Style {
    /// As COLORFGBG says, or for both.
    #[default]
    Auto,
    /// The terminal's own sixteen colours.
    Ansi,
    /// For a dark background.
    #[value(alias = "pie-dark")]
    Dark,
    /// For a light background.
    #[value(alias = "pie-light")]
    Light,
}

/// The layout of JSON and fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Layout {
    pub(crate) is_json_formatted: bool,
    /// Spaces for each level.
    pub(crate) indent: u8,
    pub(crate) sorts_keys: bool,
    pub(crate) sorts_fields: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { is_json_formatted: true, indent: 4, sorts_keys: false, sorts_fields: false }
    }
}

/// Changes to a layout, in their order.
#[derive(Clone, Debug, Eq, PartialEq)]
struct FormatOptions(Vec<FormatOption>);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FormatOption {
    JsonFormat(bool),
    JsonIndent(u8),
    JsonSortKeys(bool),
    HeadersSort(bool),
}

impl LayoutArgs {
    pub(crate) fn layout(&self) -> Layout {
        let mut layout = Layout { sorts_keys: self.sorted, sorts_fields: self.sorted, ..Layout::default() };
        for option in self.format_options.iter().flat_map(|options| &options.0) {
            match *option {
                FormatOption::JsonFormat(on) => layout.is_json_formatted = on,
                FormatOption::JsonIndent(spaces) => layout.indent = spaces,
                FormatOption::JsonSortKeys(on) => layout.sorts_keys = on,
                FormatOption::HeadersSort(on) => layout.sorts_fields = on,
            }
        }
        layout
    }
}

fn format_options(text: &str) -> Result<FormatOptions, String> {
    text.split(',').map(format_option).collect::<Result<_, _>>().map(FormatOptions)
}

fn format_option(text: &str) -> Result<FormatOption, String> {
    let complain = || {
        format!(
            "{text:?} is none of json.format, json.indent, json.sort_keys and headers.sort, with `:` and a value"
        )
    };
    let (name, value) = text.split_once(':').ok_or_else(complain)?;
    let on = || value.parse::<bool>().map_err(|_| format!("{name} is true or false"));
    Ok(match name {
        "json.format" => FormatOption::JsonFormat(on()?),
        "json.indent" => {
            let spaces = value.parse().ok().filter(|spaces| *spaces <= 16);
            FormatOption::JsonIndent(spaces.ok_or_else(|| format!("{name} is a number up to 16"))?)
        }
        "json.sort_keys" => FormatOption::JsonSortKeys(on()?),
        "headers.sort" => FormatOption::HeadersSort(on()?),
        _ => return Err(complain()),
    })
}

fn charset(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| "not a coding that browsers know".to_owned())
}

fn media_type(text: &str) -> Result<String, String> {
    match text.split_once('/') {
        Some((kind, rest)) if !kind.is_empty() && !rest.is_empty() => Ok(text.to_owned()),
        _ => Err("written as TYPE/SUBTYPE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_change_the_layout_in_their_order() {
        let layout = |sorted: bool, options: &[&str]| {
            let format_options = options.iter().map(|text| format_options(text).unwrap()).collect();
            LayoutArgs { sorted, format_options, ..LayoutArgs::default() }.layout()
        };
        assert_eq!(layout(false, &[]), Layout::default());
        let sorted = Layout { sorts_keys: true, sorts_fields: true, ..Layout::default() };
        assert_eq!(layout(true, &[]), sorted);
        let narrow = Layout { indent: 2, sorts_fields: false, ..sorted };
        assert_eq!(layout(true, &["json.indent:8,headers.sort:false", "json.indent:2"]), narrow);
        let plain = Layout { is_json_formatted: false, sorts_keys: true, ..Layout::default() };
        assert_eq!(layout(false, &["json.format:false,json.sort_keys:true"]), plain);
        for wrong in [
            "",
            "json",
            "json.indent:x",
            "json.indent:17",
            "json.format:1",
            "xml.indent:2",
            "json.format:true,",
        ] {
            assert!(format_options(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn codings_are_those_of_browsers() {
        assert_eq!(charset("latin1").unwrap().name(), "windows-1252");
        assert!(charset("klingon").is_err() && charset("").is_err());
        assert!(media_type("a/b").is_ok() && media_type("json").is_err() && media_type("/").is_err());
    }
}
