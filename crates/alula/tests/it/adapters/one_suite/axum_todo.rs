//! The to-do service with axum.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

type Items = Arc<Mutex<BTreeMap<u64, Item>>>;
type Result<T> = std::result::Result<T, Response>;

#[derive(Clone, Deserialize, Serialize)]
struct Item {
    title: String,
    #[serde(default)]
    done: bool,
}

#[derive(Deserialize)]
struct Page {
    from: Option<u64>,
    limit: Option<usize>,
}

/// An item that has a title; JSON whatever its media type says.
struct Brought(Item);

impl<S: Send + Sync> FromRequest<S> for Brought {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let bytes =
            axum::body::Bytes::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        let item: Item = serde_json::from_slice(&bytes)
            .map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()).into_response())?;
        match item.title.trim() {
            "" => Err((StatusCode::UNPROCESSABLE_ENTITY, "the title is empty").into_response()),
            _ => Ok(Self(item)),
        }
    }
}

async fn list(Query(page): Query<Page>, State(items): State<Items>) -> Json<Vec<(u64, Item)>> {
    let items = items.lock().unwrap();
    let page = items.range(page.from.unwrap_or(0)..).take(page.limit.unwrap_or(50));
    Json(page.map(|(id, item)| (*id, item.clone())).collect())
}

async fn create(
    State(items): State<Items>,
    Brought(item): Brought,
) -> (StatusCode, [(HeaderName, String); 1], Json<Item>) {
    let mut items = items.lock().unwrap();
    let id = items.last_key_value().map_or(1, |(id, _)| id + 1);
    items.insert(id, item.clone());
    (StatusCode::CREATED, [(header::LOCATION, format!("/items/{id}"))], Json(item))
}

async fn read(Path(id): Path<u64>, State(items): State<Items>) -> Result<Json<Item>> {
    items.lock().unwrap().get(&id).cloned().map(Json).ok_or(StatusCode::NOT_FOUND.into_response())
}

async fn replace(
    Path(id): Path<u64>,
    State(items): State<Items>,
    Brought(item): Brought,
) -> Result<Json<Item>> {
    match items.lock().unwrap().get_mut(&id) {
        Some(there) => *there = item.clone(),
        None => return Err(StatusCode::NOT_FOUND.into_response()),
    }
    Ok(Json(item))
}

async fn remove(Path(id): Path<u64>, State(items): State<Items>) -> StatusCode {
    items.lock().unwrap().remove(&id).map_or(StatusCode::NOT_FOUND, |_| StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> Router {
    Router::new()
        .route("/items", get(list).post(create))
        .route("/items/{id}", get(read).put(replace).delete(remove))
        .layer(DefaultBodyLimit::max(1000))
        .with_state(Items::default())
}
