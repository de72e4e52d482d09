//! Forms of many parts as servers read them: the same parts however they come, files that are whole or not
//! there, and limits on what a form may have.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use alula::{
    Answer, Exchange, Multipart, MultipartLimits, Part, Router, Sent, Status,
    routing::post,
    testing::{TestServer, Wire},
};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("alula-forms-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Tells what each part is, and its length: that of parts named `skip` is not read, and that of files named
/// `half` only begun.
async fn tell(mut exchange: Exchange<PathBuf>) -> Result<Sent, Answer> {
    let folder = exchange.state().clone();
    let mut told = String::new();
    let mut form = exchange.multipart()?.limits(MultipartLimits { parts: 5, ..MultipartLimits::default() });
    while let Some(mut part) = form.next_part().await? {
        let name = part.name().unwrap_or_default().into_owned();
        let media_type = part.media_type().unwrap_or("-").to_owned();
        let content = match (&*name, part.file_name()) {
            ("skip", _) => "skipped".to_owned(),
            ("half", _) => format!("begun: {}", part.chunk().await?.is_some()),
            ("file", Some(file)) => format!("{file}: {}", part.save_to(folder.join(&file)).await?),
            ("bytes", _) => format!("{} bytes", part.bytes().await?.len()),
            _ => part.text().await?,
        };
        told += &format!("{name} ({media_type}) {content}\n");
    }
    Ok(exchange.respond(Status::OK).text(told).await?)
}

fn server(folder: &Path) -> TestServer {
    let routes = Router::with_state(folder.to_owned());
    TestServer::new(routes.route("/", post(tell).content_max(8 << 20)).build().unwrap())
}

fn noise(bytes: usize) -> Vec<u8> {
    // What nearly is a delimiter is content.
    b"\r\n--alul\r\n-\r\r\n--b\0".iter().copied().cycle().take(bytes).collect()
}

#[tokio::test]
async fn parts_are_read_over_both_versions_however_they_come() {
    let folder = Folder::new("parts");
    for (wire, is_http2) in [
        (Wire::new(), false),
        (Wire::new(), true),
        (Wire::new().pieces_of(1), false),
        (Wire::new().pieces_of(777), true),
    ] {
        let server = server(&folder.0).to_server(wire);
        let client = if is_http2 { server.http2() } else { server }.client();
        let form = Multipart::new()
            .text("title", "Ä \r\n--title")
            .part("skip", Part::bytes(noise(3_000)).file_name("a").media_type("image/png"))
            .part("half", Part::bytes(noise(3_000)))
            .part("file", Part::bytes(noise(30_000)).file_name("C:\\pictures/../\u{202e}a\".bin"))
            .part("bytes", Part::bytes(noise(3_000)));
        let mut response = client.post("http://test/").multipart(form).send().await.unwrap();
        let told = "title (-) Ä \r\n--title\nskip (image/png) skipped\nhalf (-) begun: true\n\
                    file (-) a%22.bin: 30000\nbytes (-) 3000 bytes\n";
        assert_eq!((response.status().as_u16(), &*response.text().await.unwrap()), (200, told));
        assert_eq!(folder.names(), ["a%22.bin"]);
        assert_eq!(fs::read(folder.0.join("a%22.bin")).unwrap(), noise(30_000));
    }
}

/// Posts a form that is written by hand. Returns the status and the content.
async fn post_raw(folder: &Folder, media_type: &str, content: impl AsRef<[u8]>) -> (u16, String) {
    let client = server(&folder.0).client();
    let call = client.post("http://test/").header("content-type", media_type);
    let mut response = call.send_body(content.as_ref()).await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn a_file_is_whole_or_not_there() {
    let folder = Folder::new("whole");
    let begun = "--b\r\ncontent-disposition: form-data; name=file; filename=a\r\n\r\nhalf";
    for end in ["", "\r\n--b", "\r\n--b x\r\n", "\r\n--b\n\r\n"] {
        let (status, told) =
            post_raw(&folder, "multipart/form-data; boundary=b", &format!("{begun}{end}")).await;
        assert_eq!((status, folder.names().len()), (400, 0), "{end:?}: {told}");
    }
    // A connection that breaks drops the handler, and the file with it.
    let server = server(&folder.0).to_server(Wire::new().reset_after(50_000));
    let form = Multipart::new().part("file", Part::bytes(noise(100_000)).file_name("a"));
    assert!(server.client().post("http://test/").multipart(form).send().await.is_err());
    fs::write(folder.0.join("a"), "old").unwrap();
    let (status, _) =
        post_raw(&folder, "multipart/form-data; boundary=b", &format!("{begun}\r\n--b--")).await;
    assert_eq!((status, fs::read(folder.0.join("a")).unwrap()), (200, b"half".to_vec()));
    let alone = async {
        while folder.names() != ["a"] {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(PATIENCE, alone).await.is_ok(), "{:?}", folder.names());
}

#[tokio::test]
async fn a_form_is_bounded() {
    let folder = Folder::new("bounded");
    let part = |name: &str, content: &str| {
        format!("--b\r\ncontent-disposition: form-data; name={name}\r\n\r\n{content}\r\n")
    };
    let form = "multipart/form-data; boundary=b";
    let long_head = format!("--b\r\nx: {}\r\n\r\n", "y".repeat(17_000));
    for (content, expected) in [
        (part("a", "b").repeat(5) + "--b--", 200),
        (part("a", "b").repeat(6) + "--b--", 400),
        (part("text", &"x".repeat((1 << 20) + 1)) + "--b--", 413),
        (part("bytes", &"x".repeat((1 << 20) + 1)) + "--b--", 413),
        (part("skip", &"x".repeat((8 << 20) + 1)) + "--b--", 413),
        (long_head, 400),
    ] {
        let (status, told) = post_raw(&folder, form, &content).await;
        assert_eq!(status, expected, "{} bytes: {told}", content.len());
    }
    let not_text = [part("text", "").trim_end().as_bytes(), b"\r\n\r\n\xff\r\n--b--"].concat();
    assert_eq!(post_raw(&folder, form, not_text).await.0, 400);
}

#[tokio::test]
async fn another_media_type_is_refused_before_it_is_read() {
    let folder = Folder::new("types");
    let long = format!("multipart/form-data; boundary={}", "b".repeat(71));
    for media_type in
        ["text/plain; boundary=b", "multipart/form-data", "multipart/form-data; boundary=\"\"", &long]
    {
        let (status, told) = post_raw(&folder, media_type, "--b--").await;
        assert_eq!(status, 415, "{media_type}: {told}");
    }
    for media_type in
        ["Multipart/Form-Data;boundary=b", "multipart/form-data; x=\";boundary=c\"; boundary=\"b\""]
    {
        assert_eq!(post_raw(&folder, media_type, "--b--").await, (200, String::new()), "{media_type}");
    }
}
