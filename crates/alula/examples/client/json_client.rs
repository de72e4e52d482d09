//! A client of an interface that speaks JSON: makes an entry, lists what is there, changes and removes it.
//!
//! `cargo run -p alula --example json_client --features json -- http://127.0.0.1:8080 s3cret`, beside the example `rest_server`
//!
//! Beside reqwest: `json` and `text` of a response take the most bytes that may come, since a server decides
//! how many do. `success` is `error_for_status`, and keeps the response so that what the server says about
//! its refusal can be read.

use std::error::Error;

use alula::Client;
use serde::{Deserialize, Serialize};

/// The most bytes of one answer.
const ANSWER_MAX: usize = 1 << 20;

#[derive(Serialize)]
struct NewTask<'a> {
    title: &'a str,
}

#[derive(Deserialize)]
struct Task {
    id: u64,
    title: String,
    is_done: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let origin = arguments.next().ok_or("which origin?")?;
    let token = arguments.next().ok_or("which token?")?;
    let client = Client::builder().header("authorization", format!("Bearer {token}")).build()?;

    let url = format!("{origin}/tasks");
    let answer = client.post(&url).json(&NewTask { title: "write a client" }).send().await?;
    let task: Task = answer.error_for_status()?.json_max(ANSWER_MAX).await?;
    println!("made {}: {}", task.id, task.title);

    let this = format!("{url}/{}", task.id);
    client.patch(&this).json(&serde_json::json!({ "is_done": true })).send().await?.error_for_status()?;
    let tasks: Vec<Task> = client
        .get(&url)
        .query([("done", true)])
        .send()
        .await?
        .error_for_status()?
        .json_max(ANSWER_MAX)
        .await?;
    for task in &tasks {
        println!("{} {}: {}", if task.is_done { "x" } else { "-" }, task.id, task.title);
    }

    client.delete(&this).send().await?.error_for_status()?;
    match client.get(&this).send().await?.error_for_status() {
        Ok(_) => println!("{this} is still there"),
        Err(refused) => println!("{refused}"),
    }
    Ok(())
}
