//! Twenty-eight lines as a user of reqwest types them. Twenty-one compile. Beside each of the others stands
//! the call that does, with what rustc 1.95 says of the guess: two it answers with our name, and all seven
//! are aliases in the documentation, whose search leads to it.

use std::{net::SocketAddr, time::Duration};

use alula::{
    BodyStream, Bytes, Call, Client, ClientBuilder, Error, FieldSection, Multipart, Response, Version,
};

const SECOND: Duration = Duration::from_secs(1);

/// The guesses about a call.
fn calls(client: &Client, fields: &FieldSection) -> [Call<'static>; 0] {
    let call = || client.post("http://a.example/");
    let _ = call().timeout(SECOND);
    let _ = call().header("accept", "text/html");
    let _ = call().headers(fields);
    let _ = call().query([("page", "2")]);
    let _ = call().bearer_auth("token");
    let _ = call().form([("user", "me")]);
    let _ = call().multipart(Multipart::new().text("name", "value"));
    let _ = call().body("x");
    []
}

/// The guesses about a client.
fn builders(builder: ClientBuilder, fields: &FieldSection) -> ClientBuilder {
    builder
        .user_agent("me/1.0")
        .connect_timeout(SECOND)
        // `.default_headers(fields)`: method not found in `ClientBuilder`
        .headers(fields)
        // `.pool_idle_timeout(SECOND)`: method not found in `ClientBuilder`
        .keep_idle(SECOND)
        // `.redirect(Policy::none())`: there is a method `redirects` with a similar name
        .redirects(0)
        // `.danger_accept_invalid_certs(true)`: method not found in `ClientBuilder`
        .trust_anything()
        // `.gzip(true)`: method not found in `ClientBuilder`
        .decompress(true)
}

/// The guesses about a response.
async fn responses(response: impl Fn() -> Response) -> Result<BodyStream, Error> {
    let _: Bytes = response().bytes().await?;
    let _: u32 = response().json::<u32>().await?;
    let _: String = response().text().await?;
    let _: u16 = response().status().as_u16();
    let _: bool = response().status() == 404;
    let _: Response = response().error_for_status()?;
    let _: bool = response().headers().get("x").is_some();
    let _: Option<u64> = response().content_length();
    let _: Version = response().version();
    let _: Option<&[u8]> = response().chunk().await?;
    // `.url()`: method not found in `alula::Response`
    let _: Option<&str> = response().final_url();
    // `.remote_addr()`: there is a method `remote_address` with a similar name
    let _: Option<SocketAddr> = response().remote_address();
    Ok(response().bytes_stream())
}

/// The guesses that do not compile, and the methods that have them as aliases, with their files in
/// `crates/client/src`.
const ALIASES: [(&str, &str, &str); 7] = [
    ("default_headers", "headers", "builder/policy.rs"),
    ("pool_idle_timeout", "keep_idle", "builder/pool.rs"),
    ("redirect", "redirects", "builder/policy.rs"),
    ("danger_accept_invalid_certs", "trust_anything", "builder/tls.rs"),
    ("gzip", "decompress", "builder/decoding.rs"),
    ("url", "final_url", "response/redirected.rs"),
    ("remote_addr", "remote_address", "response/mod.rs"),
];

#[test]
fn the_other_guesses_are_aliases() {
    for (guess, method, file) in ALIASES {
        let path = format!("{}/../client/src/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).unwrap();
        let definition = format!("pub fn {method}(");
        let before = source.split(&definition).next().unwrap();
        let attributes = before.rsplit("///").next().unwrap();
        let is_alias = attributes.contains("#[doc(alias") && attributes.contains(&format!("\"{guess}\""));
        assert!(source.contains(&definition) && is_alias, "{guess} does not lead to {method} of {path}");
    }
}

/// The test is that they compile; those that need no server are called.
#[test]
fn guesses_compile() {
    let builder = builders(Client::builder(), &FieldSection::new());
    let _ = calls(&builder.build().unwrap(), &FieldSection::new());
    drop(responses(|| unreachable!("nothing is polled")));
}
