//! A to-do service with JSON and state, in memory: `cargo run -p alula --example todo --features json,query,server`.
//!
//! The difference from axum: a handler has the exchange and asks it for what it needs; its error becomes the answer.

use std::{collections::BTreeMap, io, sync::Mutex};

use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::get};
use serde::{Deserialize, Serialize};

type Items = Mutex<BTreeMap<u64, Item>>;

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Item {
    title: String,
    #[serde(default)]
    done: bool,
}

#[derive(Deserialize)]
struct Page {
    from: Option<u64>,
    limit: Option<usize>,
}

async fn list(exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let page: Page = exchange.request().query_as()?;
    let items = exchange.state().lock().unwrap().clone();
    let page: Vec<_> = items.range(page.from.unwrap_or(0)..).take(page.limit.unwrap_or(50)).collect();
    Ok(exchange.respond(Status::OK).json(&page).await?)
}

async fn create(mut exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let (item, state) = (item_of(&mut exchange).await?, exchange.state());
    let id = state.lock().unwrap().last_key_value().map_or(1, |(id, _)| id + 1);
    state.lock().unwrap().insert(id, item.clone());
    Ok(exchange.respond(Status::CREATED).header("location", format!("/items/{id}")).json(&item).await?)
}

async fn read(exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let id: u64 = exchange.param_as("id")?;
    let item = exchange.state().lock().unwrap().get(&id).cloned().ok_or(Status::NOT_FOUND)?;
    Ok(exchange.respond(Status::OK).json(&item).await?)
}

async fn replace(mut exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let (id, item): (u64, _) = (exchange.param_as("id")?, item_of(&mut exchange).await?);
    *exchange.state().lock().unwrap().get_mut(&id).ok_or(Status::NOT_FOUND)? = item.clone();
    Ok(exchange.respond(Status::OK).json(&item).await?)
}

async fn remove(exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let id: u64 = exchange.param_as("id")?;
    exchange.state().lock().unwrap().remove(&id).ok_or(Status::NOT_FOUND)?;
    Ok(exchange.respond(Status::NO_CONTENT).send("").await?)
}

async fn item_of(exchange: &mut Exchange<Items>) -> Result<Item, Answer> {
    let item: Item = exchange.json().await?;
    let has_title = !item.title.trim().is_empty();
    has_title
        .then_some(item)
        .ok_or_else(|| Answer::new(Status::UNPROCESSABLE_CONTENT).detail("the title is empty"))
}

pub(crate) fn router() -> Router<Items> {
    Router::with_state(Items::default())
        .route("/items", get(list).post(create).content_max(1000))
        .route("/items/{id}", get(read).put(replace).delete(remove).content_max(1000))
}

#[tokio::main]
async fn main() -> io::Result<()> {
    Server::bind("127.0.0.1:8080").await?.serve(router().build().map_err(io::Error::other)?).await
}
