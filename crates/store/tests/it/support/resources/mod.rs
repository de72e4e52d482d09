//! A store in memory with a client in each version of HTTP, and requests whose answers are checked.

pub(crate) mod typed;

use std::sync::Arc;

use alula::testing::TestServer;
use alula::{Client, FieldSection};
use alula_store::engine::{Decide, Engine, EngineError, Memory, ObjectName, ReadTerms, WriteTerms, Written};
use alula_store::{Config, Store};
use serde_json::{Map, Value};
use tokio::time::Instant;

/// An engine in memory that can be opened again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Memory>);

impl Engine for Kept {
    type Bytes = <Memory as Engine>::Bytes;
    type Snapshot = <Memory as Engine>::Snapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Self::Bytes>, EngineError> {
        self.0.get(name, terms).await
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Self::Bytes>, EngineError> {
        self.0.write(name, decide, terms).await
    }

    async fn snapshot(&self, deadline: Instant) -> Result<Self::Snapshot, EngineError> {
        self.0.snapshot(deadline).await
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        self.0.settings(deadline).await
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        // A disk takes its time, in which others run.
        tokio::task::yield_now().await;
        self.0.set(name, value, deadline).await
    }

    fn takes_writes(&self) -> bool {
        self.0.takes_writes()
    }

    fn label(&self) -> &'static str {
        self.0.label()
    }
}

/// The properties of a type.
pub(crate) fn properties(json: &Value) -> Map<String, Value> {
    json.as_object().expect("properties are an object").clone()
}

/// Settings with these types.
pub(crate) fn config(types: &[(&str, Value)]) -> Config {
    let mut config = Config::default();
    config.types = types.iter().map(|(name, json)| ((*name).to_owned(), properties(json))).collect();
    config
}

/// A client of a store.
pub(crate) struct Wire {
    client: Client,
    version: &'static str,
}

impl Wire {
    /// Opens a store on what an engine keeps, for a client of HTTP/1.1 or HTTP/2.
    pub(crate) async fn open(engine: &Kept, types: &[(&str, Value)], is_http2: bool) -> Self {
        let store = Store::open(engine.clone(), config(types)).await.expect("types that can be");
        let server = TestServer::new(store.routes().expect("routes that agree"));
        let server = if is_http2 { server.http2() } else { server };
        let version = if is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        Self { client: server.client(), version }
    }

    pub(crate) fn get<'a>(&'a self, path: &'a str) -> Ask<'a> {
        self.ask("GET", path)
    }

    pub(crate) fn put<'a>(&'a self, path: &'a str, json: &str) -> Ask<'a> {
        self.ask("PUT", path).content("application/json", json)
    }

    pub(crate) fn post<'a>(&'a self, path: &'a str, json: &str) -> Ask<'a> {
        self.ask("POST", path).content("application/json", json)
    }

    pub(crate) fn delete<'a>(&'a self, path: &'a str) -> Ask<'a> {
        self.ask("DELETE", path)
    }

    pub(crate) fn ask<'a>(&'a self, method: &'a str, path: &'a str) -> Ask<'a> {
        Ask { wire: self, method, path, fields: Vec::new(), content: Vec::new() }
    }
}

/// Runs a test over both versions, each with a store of its own.
pub(crate) async fn over_both(types: &[(&str, Value)], test: impl AsyncFn(Wire)) {
    for is_http2 in [false, true] {
        test(Wire::open(&Kept::default(), types, is_http2).await).await;
    }
}

/// A request.
pub(crate) struct Ask<'a> {
    wire: &'a Wire,
    method: &'a str,
    path: &'a str,
    fields: Vec<(&'a str, String)>,
    content: Vec<u8>,
}

impl<'a> Ask<'a> {
    pub(crate) fn field(mut self, name: &'a str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self
    }

    pub(crate) fn content(mut self, media_type: &str, content: impl AsRef<[u8]>) -> Self {
        self.content = content.as_ref().to_vec();
        self.fields.retain(|(name, _)| *name != "content-type");
        if media_type.is_empty() { self } else { self.field("content-type", media_type) }
    }

    /// Sends the request and checks the status of the answer.
    pub(crate) async fn is(self, status: u16) -> Answered {
        let what = format!("{} {} {}", self.wire.version, self.method, self.path);
        let url = format!("http://test{}", self.path);
        let call = self.wire.client.request(self.method, url.as_str()).redirects(0);
        let call = self.fields.iter().fold(call, |call, (name, value)| call.header(*name, value));
        let call = if self.content.is_empty() { call } else { call.body(self.content) };
        let mut response = call.send().await.unwrap_or_else(|error| panic!("{what}: {error}"));
        let answered = Answered {
            fields: response.headers().clone(),
            content: response.body().bytes().await.expect("the whole content").to_vec(),
            what,
        };
        assert_eq!(response.status(), status, "{}: {}", answered.what, answered.text());
        answered
    }
}

/// An answer with the status that was expected.
pub(crate) struct Answered {
    what: String,
    fields: FieldSection,
    content: Vec<u8>,
}

impl Answered {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.content).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.content).unwrap_or_else(|error| panic!("{}: {error}", self.what))
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.text(name)
    }

    pub(crate) fn has_text(self, text: &str) -> Self {
        assert_eq!(self.text(), text, "{}", self.what);
        self
    }

    pub(crate) fn has_json(self, json: &Value) -> Self {
        assert_eq!(self.json(), *json, "{}", self.what);
        self
    }

    pub(crate) fn has_field(self, name: &str, value: &str) -> Self {
        assert_eq!(self.field(name), Some(value), "{}: {name}", self.what);
        self
    }

    pub(crate) fn lacks_field(self, name: &str) -> Self {
        assert_eq!(self.field(name), None, "{}: {name}", self.what);
        self
    }
}
