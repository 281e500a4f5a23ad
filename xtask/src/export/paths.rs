//! Paths that say how somebody's machine is laid out.

/// Folders below which people keep what is theirs.
const PRIVATE: [&str; 8] = [
    "/data",
    "/home",
    "/mnt",
    "/opt",
    "/root",
    "/srv",
    "/tmp",
    "/workspace",
];

/// What stands in for any folder below them.
const NEUTRAL: &str = "/app";

/// A text with every private folder replaced and the file names kept; `None` where there is none.
pub(super) fn neutralised(text: &str) -> Option<String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, path, behind)) = next_private(rest) {
        result.push_str(before);
        result.push_str(NEUTRAL);
        result.push_str(&path[path.rfind('/').unwrap_or_default()..]);
        rest = behind;
    }
    (rest.len() != text.len()).then(|| result + rest)
}

/// The text around the first private path that is not neutral yet.
fn next_private(text: &str) -> Option<(&str, &str, &str)> {
    let start = PRIVATE
        .iter()
        .flat_map(|folder| text.match_indices(folder))
        .filter(|(at, folder)| {
            let is_start = !text[..*at]
                .ends_with(|before: char| before.is_alphanumeric() || "_-.~".contains(before));
            is_start && text[at + folder.len()..].starts_with('/')
        })
        .map(|(at, _)| at)
        .min()?;
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`,;:()[]{}<>|".contains(c);
    let length = text[start..].find(ends).unwrap_or(text.len() - start);
    let (path, behind) = text[start..].split_at(length);
    Some((&text[..start], path, behind))
}

#[cfg(test)]
mod tests {
    use super::neutralised;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(neutralised(text).as_deref(), expected);
    }

    #[test]
    fn folders_go_and_file_names_stay() {
        check("/home/somebody/code/run.py", Some("/app/run.py"));
        check(
            "see /tmp/nsys/1395_stdout.log and /opt/x/stderr.log, both",
            Some("see /app/1395_stdout.log and /app/stderr.log, both"),
        );
        check("file:///opt/app/h265.mp4", Some("file:///app/h265.mp4"));
        check("--config=/mnt/a/b.yml", Some("--config=/app/b.yml"));
    }

    #[test]
    fn other_text_is_left_alone() {
        check("void at::native::kernel<float, 4>(int)", None);
        check("/usr/lib/x86_64-linux-gnu/libc.so.6", None);
        check("/usr/local/opt/x", None);
        check("/tmp", None);
        check("kworker/0:0-events", None);
    }
}
