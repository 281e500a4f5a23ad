//! Finds the command lines of a script or document, and what surrounds them.

use super::grammar;
use super::launch_text::LaunchText;
use super::shell::{self, Glyph, Quote, Word};
use super::{GstCommand, Liveness};
use crate::error::{Error, ErrorKind};
use crate::line_index::LineIndex;

/// Reads every command of a text.
pub(super) fn commands(text: &[u8], index: &LineIndex) -> Vec<GstCommand> {
    let mentions = mentions(text);
    let exports = exports(text);
    let ends = mentions
        .iter()
        .skip(1)
        .map(|next| next.start)
        .chain([text.len()]);
    mentions
        .iter()
        .zip(ends)
        .filter_map(|(mention, end)| {
            let mut command = command(text, index, mention, end)?;
            let before = exports.partition_point(|(offset, _)| *offset <= mention.start);
            let exported = exports[..before].iter().map(|(_, set)| set.clone());
            command.environment.splice(..0, exported);
            Some(command)
        })
        .collect()
}

/// Where the program is named.
struct Mention {
    /// The first byte of the word, its path included.
    start: usize,
    /// The first byte of the program's name.
    name: usize,
    /// The first byte behind the name.
    end: usize,
    /// The byte before the word: a quote decides where the command ends.
    before: Option<u8>,
}

/// Finds the places where the program is named as a word of its own.
fn mentions(text: &[u8]) -> Vec<Mention> {
    const NAME: &[u8] = b"gst-launch";
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..]
        .windows(NAME.len())
        .position(|window| window == NAME)
    {
        let name = from + found;
        from = name + NAME.len();
        let version = usize::from(text[from..].starts_with(b"-1.0")) * 4;
        let end = from + version;
        let start = text[..name]
            .iter()
            .rposition(|byte| {
                !(byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'.' | b'-'))
            })
            .map_or(0, |before| before + 1);
        let own_word = start == name || text[name - 1] == b'/';
        let followed = matches!(text.get(end), Some(b' ' | b'\t' | b'\\'));
        let before = start.checked_sub(1).map(|before| text[before]);
        let begins_word = before.is_none_or(|byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\r' | b'`' | b'"' | b'\'' | b'('
            )
        });
        if own_word && followed && begins_word {
            out.push(Mention {
                start,
                name,
                end,
                before,
            });
        }
    }
    out
}

/// Reads the command at a mention; `None` if no pipeline follows.
fn command(text: &[u8], index: &LineIndex, mention: &Mention, limit: usize) -> Option<GstCommand> {
    let line_start = text[..mention.start]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1);
    let lead = String::from_utf8_lossy(&text[line_start..mention.start]);
    let decoration = ["#", "//", "*"]
        .into_iter()
        .find(|sign| lead.trim_start().starts_with(sign));
    let liveness = match decoration {
        Some("#" | "//") => Liveness::CommentedOut,
        _ => Liveness::Live,
    };
    let glyphs = undecorated(shell::glyphs(text, mention.end..limit), decoration);
    let glyphs = match mention.before {
        Some(b'"') => shell::inside_double_quotes(&glyphs),
        Some(quote @ (b'\'' | b'`')) => up_to(&glyphs, char::from(quote)),
        _ => glyphs,
    };
    let mut fault = None;
    let graph = match shell::split(&glyphs) {
        Ok(split) => {
            let mut words = arguments(split.words, &lead);
            if !words.iter().any(links) {
                return None;
            }
            fault = split.missing_continuation.map(|offset| {
                let message =
                    "the line ends in `!` without a `\\`, so the shell ends the command here";
                Error::new(ErrorKind::Refused, message).at(index.place(text, offset))
            });
            let in_string = matches!(mention.before, Some(b'"' | b'\''));
            if in_string && let Some(link) = words.pop_if(|last| last.text() == "!") {
                let message = "the string ends in `!`: what follows is put together elsewhere";
                let place = index.place(text, link.span.start);
                // The program knows the rest; the command is not at fault.
                fault = Some(Error::new(ErrorKind::Declined, message).at(place));
            }
            grammar::parse(&LaunchText::from_words(&words))
        }
        Err(_) if !first_line(&glyphs).any(|glyph| glyph.c == '!') => return None,
        Err(error) => Err(error),
    };
    let environment = lead.split_whitespace().filter_map(assignment).collect();
    Some(GstCommand {
        place: index.place(text, mention.name),
        liveness,
        environment,
        graph: graph.map_err(|(error, offset)| error.at(index.place(text, offset))),
        fault,
    })
}

/// Whether a word shows that a pipeline was meant: prose has its exclamation marks at the ends of
/// words, and no `=` in them.
fn links(word: &Word) -> bool {
    let text = word.text();
    let inside = text.trim_end_matches('!');
    inside.is_empty() && !text.is_empty()
        || inside.contains('!')
        || text.ends_with('!') && text.contains('=')
}

/// The characters up to the first line end.
fn first_line(glyphs: &[Glyph]) -> impl Iterator<Item = &Glyph> {
    glyphs.iter().take_while(|glyph| glyph.c != '\n')
}

/// Takes the comment sign off the lines that continue a command in a comment.
fn undecorated(glyphs: Vec<Glyph>, decoration: Option<&str>) -> Vec<Glyph> {
    let Some(sign) = decoration else {
        return glyphs;
    };
    let mut out = Vec::with_capacity(glyphs.len());
    let mut rest = glyphs.as_slice();
    while let Some(newline) = rest.iter().position(|glyph| glyph.c == '\n') {
        out.extend_from_slice(&rest[..=newline]);
        rest = &rest[newline + 1..];
        let blanks = rest
            .iter()
            .take_while(|glyph| matches!(glyph.c, ' ' | '\t'))
            .count();
        let has_sign = rest[blanks..]
            .iter()
            .map(|glyph| glyph.c)
            .take(sign.len())
            .eq(sign.chars());
        if has_sign {
            rest = &rest[blanks + sign.len()..];
        }
    }
    out.extend_from_slice(rest);
    out
}

/// The characters before a closing quote, marked as quoted.
fn up_to(glyphs: &[Glyph], quote: char) -> Vec<Glyph> {
    let inside = glyphs.iter().take_while(|glyph| glyph.c != quote);
    // Backticks of Markdown and single quotes leave the text between them as it is, but a single
    // quote may not be written there, nor may another backtick.
    let quoting = if quote == '`' {
        Quote::Bare
    } else {
        Quote::Nested
    };
    inside
        .map(|glyph| Glyph {
            quote: quoting,
            ..*glyph
        })
        .collect()
}

/// Takes the options of `gst-launch-1.0` away, and the image that `docker run` wants first.
fn arguments(words: Vec<Word>, lead: &str) -> Vec<Word> {
    // From `gst-launch-1.0 --help-all` (GStreamer 1.22): the options that take a separate value.
    const WITH_VALUE: [&str; 8] = [
        "-o",
        "--output",
        "-X",
        "--exclude",
        "--gst-debug",
        "--gst-debug-level",
        "--gst-plugin-path",
        "--gst-plugin-load",
    ];
    let mut image_due = lead.trim_end().ends_with("--entrypoint");
    let mut value_due = false;
    let mut keep = |word: &Word| {
        let text = word.text();
        if std::mem::take(&mut value_due) {
            return false;
        }
        if text.starts_with('-') {
            value_due = WITH_VALUE.contains(&text.as_str());
            return false;
        }
        !std::mem::take(&mut image_due)
    };
    words.into_iter().filter(|word| keep(word)).collect()
}

/// What the lines of a script export, with the offset behind each line.
fn exports(text: &[u8]) -> Vec<(usize, (String, String))> {
    let mut out = Vec::new();
    let mut end = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"export ") else {
            continue;
        };
        let rest = String::from_utf8_lossy(rest);
        let set = rest.split_whitespace().filter_map(assignment);
        out.extend(set.map(|set| (end, set)));
    }
    out
}

/// `NAME=value`, with one pair of quotes taken off the value.
fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = value.trim_end_matches(';');
    let bare = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    is_name.then(|| (name.to_owned(), bare.unwrap_or(value).to_owned()))
}
