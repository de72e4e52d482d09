//! An interface that speaks JSON: tasks in memory that are listed, made, changed and removed.
//!
//! `cargo run -p alula --example rest_server --features json,server -- 127.0.0.1:8080`
//!
//! Beside axum: one function answers all requests, and `match` is its router. It reads JSON of at most 64
//! KiB, and an error that it returns is the answer: 415 to another media type, 400 to what is no JSON, 413 to
//! more, and 500 and a line on standard error to all else.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use alula::{Error, Exchange, Sent, Server, Status};
use serde::{Deserialize, Serialize};

#[derive(Default)]
struct Tasks {
    last: AtomicU64,
    all: Mutex<BTreeMap<u64, Task>>,
}

#[derive(Clone, Serialize)]
struct Task {
    id: u64,
    title: String,
    is_done: bool,
}

#[derive(Deserialize)]
struct Change {
    title: Option<String>,
    is_done: Option<bool>,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let server = Server::bind(&address).await?;
    println!("http://{}/tasks", server.address()?);
    let tasks = Arc::<Tasks>::default();
    server.serve(move |exchange| answer(exchange, tasks.clone())).await
}

async fn answer(mut exchange: Exchange, tasks: Arc<Tasks>) -> Result<Sent, Error> {
    let request = exchange.request();
    let (path, query) = request.path().split_once('?').unwrap_or((request.path(), ""));
    let id = path.strip_prefix("/tasks/").and_then(|id| id.parse().ok());
    match (request.method(), path, id) {
        ("GET", "/tasks", _) => {
            let is_done = query.strip_prefix("done=").and_then(|done| done.parse().ok());
            json(exchange, Status::OK, &tasks.list(is_done)).await
        }
        ("POST", "/tasks", _) => match read(&mut exchange).await? {
            Change { title: Some(title), is_done } => {
                let task = tasks.make(title, is_done.unwrap_or(false));
                json(exchange, Status::CREATED, &task).await
            }
            Change { title: None, .. } => {
                exchange.respond(Status::UNPROCESSABLE_CONTENT).send("a task has a title\n").await
            }
        },
        ("GET", _, Some(id)) => match tasks.get(id) {
            Some(task) => json(exchange, Status::OK, &task).await,
            None => missing(exchange).await,
        },
        ("PATCH", _, Some(id)) => match tasks.change(id, read(&mut exchange).await?) {
            Some(task) => json(exchange, Status::OK, &task).await,
            None => missing(exchange).await,
        },
        ("DELETE", _, Some(id)) => match tasks.remove(id) {
            true => exchange.respond(Status::NO_CONTENT).send("").await,
            false => missing(exchange).await,
        },
        (_, "/tasks", _) => {
            exchange.respond(Status::METHOD_NOT_ALLOWED).header("allow", "GET, POST").send("").await
        }
        _ => missing(exchange).await,
    }
}

async fn read(exchange: &mut Exchange) -> Result<Change, Error> {
    exchange.json_max(64 * 1024).await
}

async fn json(exchange: Exchange, status: Status, value: &impl Serialize) -> Result<Sent, Error> {
    exchange.respond(status).json(value).await
}

async fn missing(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::NOT_FOUND).send("no such task\n").await
}

impl Tasks {
    fn list(&self, is_done: Option<bool>) -> Vec<Task> {
        let all = self.all.lock().unwrap();
        all.values().filter(|task| is_done.is_none_or(|done| done == task.is_done)).cloned().collect()
    }

    fn make(&self, title: String, is_done: bool) -> Task {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let task = Task { id, title, is_done };
        self.all.lock().unwrap().insert(id, task.clone());
        task
    }

    fn get(&self, id: u64) -> Option<Task> {
        self.all.lock().unwrap().get(&id).cloned()
    }

    fn change(&self, id: u64, change: Change) -> Option<Task> {
        let mut all = self.all.lock().unwrap();
        let task = all.get_mut(&id)?;
        task.title = change.title.unwrap_or_else(|| task.title.clone());
        task.is_done = change.is_done.unwrap_or(task.is_done);
        Some(task.clone())
    }

    fn remove(&self, id: u64) -> bool {
        self.all.lock().unwrap().remove(&id).is_some()
    }
}
