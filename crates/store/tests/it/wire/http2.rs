//! Requests over HTTP/2, by Alula's own client.

use std::time::Duration;

use alula::{Client, Content, Error, FieldSection, Limits};
use tokio::runtime::Runtime;

use crate::wire::answer::Answer;

/// A server that says nothing for so long will say nothing.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// A client that knows beforehand that the server speaks HTTP/2.
pub(crate) fn client(limits: Limits) -> Client {
    let builder = Client::builder().redirects(0).limits(limits).http2_prior_knowledge(true);
    builder.build().expect("the settings are in order")
}

/// Asks, and reads the answer to its end.
///
/// # Errors
/// There is no answer.
pub(crate) fn ask(
    runtime: &Runtime,
    client: &Client,
    (method, url): (&str, &str),
    fields: &[(String, Vec<u8>)],
    content: Option<&[u8]>,
) -> Result<Answer, String> {
    let asked = async {
        let mut call = client.request(method, url).timeout(SILENCE_MAX);
        for (name, value) in fields {
            call = call.header(name.as_str(), value);
        }
        let mut response = match content {
            Some(content) => call.content(Content::bytes(content)).send().await?,
            None => call.send().await?,
        };
        let mut content = Vec::new();
        while let Some(chunk) = response.body().chunk().await? {
            content.extend_from_slice(chunk);
        }
        Ok::<_, Error>(Answer {
            status: response.status().as_u16(),
            fields: pairs(response.headers()),
            content,
        })
    };
    runtime.block_on(asked).map_err(|error| error.to_string())
}

fn pairs(fields: &FieldSection) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fields.iter().map(|field| (text(field.name_bytes()), text(field.value()))).collect()
}
