//! One client: its connection, its bucket, and its requests, each timed and its status checked.

use std::time::{Duration, Instant};

use alula::{Call, Client as Http, Response};
use alula_testkit::objects::{Field, MEDIA_TYPE};

use crate::failure::Failure;
use crate::options::Options;
use crate::times::{Kind, Times};

/// The time after which a server that does not answer has failed.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The `accept` of a client of Riak: siblings all at once.
const ACCEPT: &str = "multipart/mixed, */*;q=0.9";

/// The bytes of a wrong answer that are shown.
const SAID_MAX: usize = 200;

/// One of the clients.
pub(crate) struct Client {
    /// Shared with others where they share a connection.
    http: Http,
    /// The address of the bucket.
    bucket: String,
    id: String,
    pub(crate) times: Times,
}

/// An object as it was answered.
pub(crate) struct Found {
    pub(crate) fields: Vec<Field>,
    pub(crate) value: Vec<u8>,
}

impl Client {
    /// One with a connection and a bucket of its own.
    pub(crate) fn new(address: &str, number: u64, options: &Options) -> Result<Self, Failure> {
        Ok(Self::with(connection(options)?, address, number, &options.bucket_of(number)))
    }

    /// One on a connection that others may have too.
    pub(crate) fn with(http: Http, address: &str, number: u64, bucket: &str) -> Self {
        let bucket = format!("http://{address}/buckets/{bucket}");
        Self { http, bucket, id: format!("load{number:04}"), times: Times::default() }
    }

    /// Has siblings kept, as the workload wants them. A server without properties may say that it has none,
    /// if that is allowed.
    pub(crate) async fn set_properties(&mut self, is_needed: bool) -> Result<(), Failure> {
        let url = format!("{}/props", self.bucket);
        let put = self.http.put(&url).header("content-type", "application/json");
        let mut response = put.body(r#"{"props":{"allow_mult":true,"n_val":1}}"#).send().await?;
        read(&mut response).await?;
        match response.status().as_u16() {
            204 => Ok(()),
            400..=499 | 501 if !is_needed => Ok(()),
            status => Err(format!("PUT {url} was answered with {status}").into()),
        }
    }

    pub(crate) async fn get(&mut self, key: &str) -> Result<Found, Failure> {
        let url = format!("{}/keys/{key}", self.bucket);
        let start = Instant::now();
        let mut response = self.http.get(&url).header("accept", ACCEPT).send().await?;
        let value = read(&mut response).await?;
        self.times.add(Kind::Get, start.elapsed());
        expect(&response, 200, &url, &value)?;
        Ok(Found { fields: fields(&response), value })
    }

    /// Writes a new object.
    pub(crate) async fn put(&mut self, key: &str, fields: &[Field], value: &[u8]) -> Result<(), Failure> {
        self.write(Kind::Put, key, fields, value).await
    }

    /// Writes an object back, with the context that is among its fields.
    pub(crate) async fn update(&mut self, key: &str, fields: &[Field], value: &[u8]) -> Result<(), Failure> {
        self.write(Kind::Update, key, fields, value).await
    }

    async fn write(&mut self, kind: Kind, key: &str, fields: &[Field], value: &[u8]) -> Result<(), Failure> {
        let url = format!("{}/keys/{key}", self.bucket);
        let start = Instant::now();
        let call = self.http.put(&url).header("content-type", MEDIA_TYPE).header("x-riak-clientid", &self.id);
        let mut response = with_fields(call, fields).body(value).send().await?;
        let said = read(&mut response).await?;
        self.times.add(kind, start.elapsed());
        expect(&response, 204, &url, &said)
    }

    /// Counts the keys of the bucket as they come, and keeps none.
    pub(crate) async fn count_keys(&mut self) -> Result<u64, Failure> {
        let url = format!("{}/keys?keys=stream", self.bucket);
        let mut response = self.http.get(&url).send().await?;
        expect(&response, 200, &url, b"")?;
        // Parts of the form `{"keys":["K1","K2"]}`.
        let (mut quotes, mut parts) = (0, 0);
        while let Some(chunk) = response.chunk().await? {
            quotes += chunk.iter().filter(|byte| **byte == b'"').count() as u64;
            parts += chunk.iter().filter(|byte| **byte == b'{').count() as u64;
        }
        Ok(quotes / 2 - parts)
    }

    /// The keys of an index between two terms, in the order in which they came.
    pub(crate) async fn query(&mut self, index: &str, low: &str, high: &str) -> Result<Vec<String>, Failure> {
        let url = format!("{}/index/{index}/{low}/{high}", self.bucket);
        let start = Instant::now();
        let mut response = self.http.get(&url).send().await?;
        let json = read(&mut response).await?;
        self.times.add(Kind::Query, start.elapsed());
        expect(&response, 200, &url, &json)?;
        Ok(keys(&String::from_utf8(json)?))
    }
}

/// A connection once it is used, of one version of HTTP.
pub(crate) fn connection(options: &Options) -> Result<Http, Failure> {
    let builder = Http::builder().http2_prior_knowledge(options.is_http2).http2_connections_max(1);
    Ok(builder.timeout(ANSWER_MAX).build()?)
}

fn with_fields<'a>(call: Call<'a>, fields: &[Field]) -> Call<'a> {
    fields.iter().fold(call, |call, (name, value)| call.header(name.as_str(), value))
}

/// The whole content.
async fn read(response: &mut Response) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(chunk);
    }
    Ok(bytes)
}

fn expect(response: &Response, wanted: u16, url: &str, said: &[u8]) -> Result<(), Failure> {
    match response.status().as_u16() {
        status if status == wanted => Ok(()),
        status => {
            let said = String::from_utf8_lossy(&said[..said.len().min(SAID_MAX)]);
            Err(format!("{url} was answered with {status} and not with {wanted}: {said}").into())
        }
    }
}

/// The fields that an object is written back with.
fn fields(response: &Response) -> Vec<Field> {
    let kept = ["x-riak-index-", "x-riak-meta-", "x-riak-vclock"];
    let is_kept = |name: &[u8]| kept.iter().any(|kept| name.starts_with(kept.as_bytes()));
    let fields = response.headers().iter().filter(|field| is_kept(field.name_bytes()));
    fields.map(|field| (field.name().to_string(), field.value().to_vec())).collect()
}

/// The keys in `{"keys":["K1","K2"]}`; none of the workload's needs an escape.
fn keys(json: &str) -> Vec<String> {
    let list = json.split_once('[').map_or("", |(_, list)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_an_answer() {
        assert_eq!(keys(r#"{"keys":["K1", "K2"]}"#), ["K1", "K2"]);
        assert_eq!(keys(r#"{"keys":[]}"#), [""; 0]);
    }
}
