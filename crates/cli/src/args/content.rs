//! What is sent after the head of a request.

use clap::Args as ClapArgs;

#[derive(ClapArgs, Debug, Default)]
#[command(next_help_heading = "Content")]
pub(crate) struct ContentArgs {
    /// Send this text, or the octets of the file after an `@`, as they are; `@-` is stdin. Given several times, they are
    /// joined by `&`. The content-type is that of a form (application/x-www-form-urlencoded) unless -H gives another.
    #[arg(short, long, alias = "data-binary", value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(crate) data: Vec<String>,

    /// As -d, but an `@` is only an `@`.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) data_raw: Vec<String>,

    /// As -d, percent-encoded: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`. They come after what -d gives.
    #[arg(long, value_name = "DATA", allow_hyphen_values = true)]
    pub(crate) data_urlencode: Vec<String>,

    /// As -d, joined by nothing, with content-type and accept of application/json.
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true, conflicts_with_all = ["data", "data_raw", "data_urlencode"])]
    pub(crate) json: Vec<String>,

    /// Send a form of many parts with this one in it: `NAME=TEXT`, `NAME=@FILE`, or `NAME=<FILE` for a text from a file;
    /// `;type=` and `;filename=` may follow.
    #[arg(short = 'F', long = "part", value_name = "NAME=TEXT|@FILE", allow_hyphen_values = true,
          conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "get"])]
    pub(crate) parts: Vec<String>,

    /// Send the items `name=value` as a form instead of JSON; with a file among them (`name@FILE`) as one of many parts.
    #[arg(long)]
    pub(crate) form: bool,

    /// As --form, always as one of many parts.
    #[arg(long)]
    pub(crate) multipart: bool,

    /// Send the file to be stored at the URL, by PUT unless another method is named; a URL that ends in `/` is given the
    /// file's name. `-` is stdin.
    #[arg(short = 'T', long, value_name = "FILE", conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "form", "multipart", "parts"])]
    pub(crate) upload_file: Option<String>,
}
