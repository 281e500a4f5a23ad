//! The lexer of GStreamer's launch syntax, after the flex rules of `gst/parse/parse.l` (GStreamer
//! 1.22): of all rules that match at a place the longest match wins, and of equals the first rule.

use std::ops::Range;

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while, take_while1};
use nom::character::complete::{anychar, char, none_of, one_of, satisfy};
use nom::combinator::{opt, recognize, verify};
use nom::multi::{many0_count, many1_count};
use nom::sequence::{pair, preceded};
use nom::{IResult, Parser};

/// Stands in for every character of a shell expansion, whose text is not known here.
pub(crate) const EXPANSION: char = '\u{e000}';

/// A lexeme, with the bytes of the launch text that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) range: Range<usize>,
}

/// The lexemes that the grammar distinguishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `name=value`, with blanks allowed round the sign.
    Assignment {
        name: Range<usize>,
        value: Range<usize>,
    },
    /// `.pad`
    PadRef { pad: Range<usize> },
    /// `name.` or `name.pad`
    Ref {
        name: Range<usize>,
        pad: Range<usize>,
    },
    /// `name.(`: a bin of the kind named.
    BinRef,
    /// The name of an element factory.
    Identifier,
    /// `!`, or `! caps !`.
    Link { caps: Option<Range<usize>> },
    /// `file:///…` or an absolute path.
    Url,
    /// One of the signs that stand for themselves.
    Operator(char),
    /// A character that begins no lexeme.
    Stray,
}

/// Splits a launch text into lexemes. Every text can be split: what fits nowhere is a
/// [`TokenKind::Stray`].
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let blanks = rest.len() - rest.trim_start_matches(is_space).len();
        if blanks > 0 {
            start += blanks;
            continue;
        }
        let (kind, len) = longest(rest, start);
        out.push(Token {
            kind,
            range: start..start + len,
        });
        start += len;
    }
    out
}

/// The lexeme at the start of `rest`, which begins at `base` in the text, and its length.
fn longest(rest: &str, base: usize) -> (TokenKind, usize) {
    type Rule = fn(&str, usize) -> Option<(TokenKind, usize)>;
    let rules: [Rule; 8] = [
        |rest, base| {
            let (left, (name, sign, value)) = (identifier, assign, string).parse(rest).ok()?;
            let value_start = base + name.len() + sign.len();
            let kind = TokenKind::Assignment {
                name: base..base + name.len(),
                value: value_start..value_start + value.len(),
            };
            Some((kind, rest.len() - left.len()))
        },
        |rest, base| {
            let (left, pad) = preceded(char('.'), identifier).parse(rest).ok()?;
            let pad = base + 1..base + 1 + pad.len();
            Some((TokenKind::PadRef { pad }, rest.len() - left.len()))
        },
        |rest, base| {
            let (left, (name, _, pad)) =
                (identifier, char('.'), opt(identifier)).parse(rest).ok()?;
            let pad_start = base + name.len() + 1;
            let kind = TokenKind::Ref {
                name: base..base + name.len(),
                pad: pad_start..pad_start + pad.map_or(0, str::len),
            };
            Some((kind, rest.len() - left.len()))
        },
        |rest, _| {
            let bin = (identifier, blanks, char('.'), blanks, char('('));
            let (left, _) = recognize(bin).parse(rest).ok()?;
            Some((TokenKind::BinRef, rest.len() - left.len()))
        },
        |rest, _| {
            let (left, _) = identifier(rest).ok()?;
            Some((TokenKind::Identifier, rest.len() - left.len()))
        },
        |rest, base| {
            let (left, caps) = link(rest).ok()?;
            let caps = caps.map(|(before, caps)| {
                let start = base + 1 + before.len();
                start..start + caps.trim_end_matches(is_space).len()
            });
            Some((TokenKind::Link { caps }, rest.len() - left.len()))
        },
        |rest, _| {
            let (left, _) = url(rest).ok()?;
            Some((TokenKind::Url, rest.len() - left.len()))
        },
        |rest, _| {
            let (left, sign) = one_of::<_, _, nom::error::Error<&str>>("(){}.!:,;=")
                .parse(rest)
                .ok()?;
            Some((TokenKind::Operator(sign), rest.len() - left.len()))
        },
    ];
    let mut best: Option<(TokenKind, usize)> = None;
    for rule in rules {
        let found = rule(rest, base);
        if let Some(found) = found
            && best.as_ref().is_none_or(|(_, len)| found.1 > *len)
        {
            best = Some(found);
        }
    }
    best.unwrap_or_else(|| {
        (
            TokenKind::Stray,
            rest.chars().next().map_or(1, char::len_utf8),
        )
    })
}

/// What C's `isspace` takes for a blank.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

fn blanks(input: &str) -> IResult<&str, &str> {
    take_while(is_space).parse(input)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == EXPANSION
}

/// `[[:alnum:]_][[:alnum:]\-_%:]*`
fn identifier(input: &str) -> IResult<&str, &str> {
    let tail = take_while(|c| is_word(c) || matches!(c, '-' | '%' | ':'));
    recognize(pair(satisfy(is_word), tail)).parse(input)
}

/// `=` with blanks round it.
fn assign(input: &str) -> IResult<&str, &str> {
    recognize((blanks, char('='), blanks)).parse(input)
}

/// The longest of: characters without a blank, `"…"`, `'…'`.
fn string(input: &str) -> IResult<&str, &str> {
    let escaped = recognize(pair(char('\\'), none_of("\n")));
    let plain = recognize(satisfy(|c| !is_space(c)));
    let bare: IResult<&str, &str> = recognize(many1_count(alt((escaped, plain)))).parse(input);
    let candidates = [bare, quoted(input, '"'), quoted(input, '\'')];
    candidates
        .into_iter()
        .reduce(|best, next| match (&best, &next) {
            (Ok((_, old)), Ok((_, new))) if new.len() <= old.len() => best,
            (Ok(_), Err(_)) => best,
            _ => next,
        })
        .unwrap_or_else(|| blanks(input))
}

/// A string in quotes; a backslash keeps a quote from closing it.
fn quoted(input: &str, quote: char) -> IResult<&str, &str> {
    let escaped = recognize(pair(char('\\'), char(quote)));
    let plain = recognize(verify(anychar, move |c| *c != quote));
    recognize((char(quote), many0_count(alt((escaped, plain))), char(quote))).parse(input)
}

/// `!`, with the caps between it and the next `!` if what follows is a media type.
///
/// Gives the blanks before the caps, and the caps.
fn link(input: &str) -> IResult<&str, Option<(&str, &str)>> {
    let filtered = (
        char('!'),
        blanks,
        recognize(pair(caps, many0_count(more_caps))),
        char('!'),
    );
    let filtered = filtered.map(|(_, before, caps, _)| Some((before, caps)));
    alt((filtered, one_of("!:").map(|_| None))).parse(input)
}

/// One caps structure: a media type, its features and fields.
fn caps(input: &str) -> IResult<&str, &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == EXPANSION;
    let media_type = (take_while1(part), char('/'), take_while1(part));
    let escaped = recognize(pair(char('\\'), none_of("\n")));
    let field = alt((escaped, is_not("\\;!")));
    recognize(pair(media_type, many0_count(field))).parse(input)
}

/// A further structure after `;`.
fn more_caps(input: &str) -> IResult<&str, &str> {
    recognize((blanks, char(';'), blanks, caps)).parse(input)
}

/// `protocol://rest`, or a path that begins with `/`.
fn url(input: &str) -> IResult<&str, &str> {
    let protocol = pair(
        satisfy(|c| c.is_ascii_alphabetic()),
        take_while(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')),
    );
    let remote = (protocol, tag("://"), opt(string)).map(|_| ());
    let path = (char('/'), string).map(|_| ());
    recognize(alt((remote, path))).parse(input)
}
