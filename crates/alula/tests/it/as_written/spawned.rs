//! Calls that are handed to a task or a thread: they own what they need, unless something is lent to them.

use alula::{Call, Client, Hole, Response, blocking};

use super::{blocking_client, clients, said, said_at_once, start};

fn is_send_static<T: Send + 'static>(_: &T) {}

/// A call outlives the handle on the client, and the prepared request, that it was made with.
fn item(client: Client, url: String) -> Call<'static> {
    client.get(url).header("x-key", "1")
}

fn prepared(client: &Client, origin: &str) -> (Call<'static>, Hole) {
    let mut request = client.prepare("GET", format!("{origin}/prepared")).unwrap();
    let hole = request.hole("x-id").unwrap();
    (client.call(&request.build().unwrap()), hole)
}

#[tokio::test]
async fn a_call_is_sent_in_a_task_of_its_own() {
    let origin = start();
    for client in clients() {
        let call = item(client.clone(), format!("{origin}/a"));
        is_send_static(&call);
        let sending = call.send();
        is_send_static(&sending);
        assert_eq!(said(tokio::spawn(sending).await.unwrap()).await, "GET /a");

        let (call, hole) = prepared(&client, &origin);
        let sent = tokio::spawn(call.set(hole, "7").send());
        assert_eq!(said(sent.await.unwrap()).await, "GET /prepared");

        let sent = tokio::spawn(client.post(format!("{origin}/b")).send_body("content"));
        assert_eq!(said(sent.await.unwrap()).await, "POST /b content");
        let sent = tokio::spawn(client.put(format!("{origin}/c")).body("more").send());
        assert_eq!(said(sent.await.unwrap()).await, "PUT /c more");
        let opened = tokio::spawn(client.post(format!("{origin}/d")).open());
        let (writer, pending) = opened.await.unwrap().unwrap();
        let response = tokio::spawn(pending.response());
        writer.finish_content("last").await.unwrap();
        assert_eq!(said(response.await.unwrap()).await, "POST /d last");

        // The last handle on the client is gone before the call is sent.
        let call = item(client, format!("{origin}/alone"));
        assert_eq!(said(tokio::spawn(call.send()).await.unwrap()).await, "GET /alone");
    }
}

#[test]
fn a_call_that_waits_is_sent_from_a_thread_of_its_own() {
    let origin = start();
    let client = blocking_client();
    let call: blocking::Call<'static> = client.get(format!("{origin}/a"));
    is_send_static(&call);
    let other = std::thread::spawn(move || call.send());
    assert_eq!(said_at_once(other.join().unwrap()), "GET /a");
    let call = client.get(format!("{origin}/alone"));
    drop(client);
    assert_eq!(said_at_once(call.send()), "GET /alone");
}

/// A call copies no borrowed value: the value bounds the life of the call alone.
#[tokio::test]
async fn a_call_may_borrow_its_url_and_its_values() {
    async fn send<'u>(client: Client, url: &'u str) -> Result<Response, alula::Error> {
        let call: Call<'u> = client.get(url);
        call.send().await
    }
    let [client, _] = clients();
    let url = format!("{}/lent", start());
    assert_eq!(said(send(client, &url).await).await, "GET /lent");
}
