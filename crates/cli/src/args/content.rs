//! What is sent after the head of a request.

use clap::Args as ClapArgs;

#[derive(ClapArgs, Debug, Default)]
#[command(next_help_heading = "Content")]
pub(crate) struct ContentArgs {
    /// Send this text, or this file; `@-` is stdin.
    ///
    /// The octets of the file after the `@` are sent as they are. Given several times, they are joined by `&`. The content-type is
    /// that of a form (application/x-www-form-urlencoded) unless -H gives another.
    #[arg(short, long, aliases = ["data-binary", "data-ascii"], value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(crate) data: Vec<String>,

    /// As -d, but an `@` is only an `@`.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) data_raw: Vec<String>,

    /// As -d, percent-encoded: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`. They come after what -d gives.
    #[arg(long, value_name = "DATA", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) data_urlencode: Vec<String>,

    /// Send JSON, and ask for it.
    ///
    /// As -d, joined by nothing, with content-type and accept of application/json.
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true, conflicts_with_all = ["data", "data_raw", "data_urlencode"])]
    pub(crate) json: Vec<String>,

    /// Send a form with this part in it.
    ///
    /// `NAME=TEXT`, `NAME=@FILE`, or `NAME=<FILE` for a text from a file; `;type=` and `;filename=` may follow. The form is one of
    /// many parts (multipart/form-data).
    #[arg(short = 'F', long = "part", value_name = "NAME=TEXT|@FILE", allow_hyphen_values = true,
          conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "get"])]
    pub(crate) parts: Vec<String>,

    /// Send the items `name=value` as a form, not as JSON.
    ///
    /// With a file among them (`name@FILE`) it is one of many parts.
    #[arg(long)]
    pub(crate) form: bool,

    /// As --form, always as one of many parts.
    #[arg(long, hide_short_help = true)]
    pub(crate) multipart: bool,

    /// Send this file to be stored; `-` is stdin.
    ///
    /// It is sent by PUT unless another method is named; a URL that ends in `/` is given the file's name.
    #[arg(short = 'T', long, value_name = "FILE", conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "form", "multipart", "parts"])]
    pub(crate) upload_file: Option<String>,
}
