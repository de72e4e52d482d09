//! The cases over HTTP/2, asked by our client.

use std::time::Duration;

use alula::{Client, Content, Error, FieldSection};

use super::{
    answer::Answer,
    case::{Ask, Case, Expected},
    check::check_always,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// Asks each of them, and says what is not as it must be.
pub(crate) fn play_all(cases: &[&Case], port: u16) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let builder = Client::builder().redirects(0).http2_prior_knowledge(true);
    let client = builder.build().expect("a client");
    let difference = |case: &&Case| {
        let ask = case.ask.as_ref()?;
        let answer = runtime.block_on(asked(&client, port, ask)).map_err(|error| error.to_string());
        let wanted = case.expected().last()?;
        let difference = answer.and_then(|answer| {
            without_framing(wanted).check(&answer)?;
            check_always(&answer)
        });
        let difference = difference.err()?;
        Some(format!("{} (RFC {}): {difference}", case.name, case.section))
    };
    cases.iter().filter_map(difference).collect()
}

async fn asked(client: &Client, port: u16, ask: &Ask) -> Result<Answer, Error> {
    let url = format!("http://127.0.0.1:{port}{}", ask.path);
    let mut call = client.request(ask.method, url).timeout(PATIENCE);
    for (name, value) in &ask.fields {
        call = call.header(*name, *value);
    }
    let mut response = match ask.content {
        "" => call.send().await?,
        content => call.content(Content::bytes(content)).send().await?,
    };
    let mut content = Vec::new();
    while let Some(chunk) = response.body().chunk().await? {
        content.extend_from_slice(chunk);
    }
    let trailers = response.body().trailers().await?.map(pairs).unwrap_or_default();
    Ok(Answer { status: response.status().as_u16(), fields: pairs(response.headers()), content, trailers })
}

fn pairs(fields: &FieldSection) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fields.iter().map(|field| (text(field.name_bytes()), text(field.value()))).collect()
}

/// Drops the fields that HTTP/2 does without (RFC 9113 §8.2.2).
fn without_framing(wanted: &Expected) -> Expected {
    let mut wanted = wanted.clone();
    let is_field = |(name, _): &(&str, &str)| !matches!(*name, "connection" | "transfer-encoding");
    wanted.has.retain(is_field);
    wanted.holds.retain(is_field);
    wanted
}
