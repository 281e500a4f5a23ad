//! The shell's part of a command line: from the bytes of a file to the words that a program gets.
//!
//! Every character of a word remembers the bytes it came from, so that a value found by the launch
//! grammar can be changed in the file, inside whatever quotes it stands in.

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::text_edit::Span;

/// In which quotes a character stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    /// In none.
    Bare,
    /// In `'…'`.
    Single,
    /// In `"…"`.
    Double,
    /// In the quotes of a word that is itself a quoted command: `sh -c "…"`.
    Nested,
}

/// One character as the program sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Glyph {
    pub(crate) c: char,
    /// The bytes of the file that stand for it, its backslash included.
    pub(crate) span: Span,
    pub(crate) quote: Quote,
    /// Counts the changes of quoting in a word: characters of one region share one pair of quotes.
    pub(crate) region: usize,
    /// Whether the shell or the reader puts something else here: `$VAR`, `$(…)`, `<file>`.
    pub(crate) expands: bool,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) glyphs: Vec<Glyph>,
    /// The bytes of the word in the file, its quotes included.
    pub(crate) span: Span,
}

impl Word {
    /// The argument as text; expansions stand in it as they are written.
    pub(crate) fn text(&self) -> String {
        self.glyphs.iter().map(|glyph| glyph.c).collect()
    }
}

/// The characters of a stretch of a file. A byte that is not UTF-8 becomes U+FFFD.
pub(crate) fn glyphs(text: &[u8], range: Range<usize>) -> Vec<Glyph> {
    let mut out = Vec::new();
    let mut offset = range.start;
    let mut push = |c: char, len: usize| {
        out.push(Glyph {
            c,
            span: Span::new(offset, offset + len),
            quote: Quote::Bare,
            region: 0,
            expands: false,
        });
        offset += len;
    };
    for chunk in text[range].utf8_chunks() {
        for c in chunk.valid().chars() {
            push(c, c.len_utf8());
        }
        for _ in chunk.invalid() {
            push(char::REPLACEMENT_CHARACTER, 1);
        }
    }
    out
}

/// Takes one level of double quotes away, up to the quote that closes them.
///
/// Where nothing but white space stands before another opening quote, the text in it goes on: that
/// is how C and Python split a string over lines.
pub(crate) fn inside_double_quotes(input: &[Glyph]) -> Vec<Glyph> {
    let mut out: Vec<Glyph> = Vec::new();
    let mut rest = input;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let nested = |glyph: &Glyph, span| Glyph {
            span,
            quote: Quote::Nested,
            ..*glyph
        };
        match (first.c, tail) {
            ('"', _) => match tail.iter().position(|next| !next.c.is_whitespace()) {
                Some(next) if next > 0 && tail[next].c == '"' => rest = &tail[next + 1..],
                _ => break,
            },
            ('\\', [next, after @ ..]) if matches!(next.c, '"' | '\\' | '$' | '`') => {
                out.push(nested(next, Span::new(first.span.start, next.span.end)));
                rest = after;
            }
            _ => out.push(nested(first, first.span)),
        }
    }
    out
}

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    /// The offset of a line end behind `!` that no backslash continues. The shell ends the command
    /// there; manuals often mean it to go on.
    pub(crate) missing_continuation: Option<usize>,
}

/// Splits a command line into words, up to the end of the command.
///
/// # Errors
///
/// [`ErrorKind::Refused`] where the shell would refuse the line: an open quote, a bare parenthesis.
/// The place is left to the caller, who knows the file; the offset comes beside it.
pub(crate) fn split(input: &[Glyph]) -> Result<Command, (Error, usize)> {
    let mut lexer = Lexer {
        rest: input,
        region: 0,
        after_link: false,
        missing_continuation: None,
    };
    let mut words = Vec::new();
    while let Some(word) = lexer.word()? {
        lexer.after_link =
            matches!(word.glyphs.as_slice(), [only] if only.c == '!' && !only.expands);
        words.push(word);
    }
    Ok(Command {
        words,
        missing_continuation: lexer.missing_continuation,
    })
}

/// The state of [`split`].
struct Lexer<'a> {
    rest: &'a [Glyph],
    region: usize,
    /// Whether the word before is `!`.
    after_link: bool,
    missing_continuation: Option<usize>,
}

impl Lexer<'_> {
    /// The next word, or `None` at the end of the command.
    fn word(&mut self) -> Result<Option<Word>, (Error, usize)> {
        self.skip_blanks();
        let Some(first) = self.rest.first() else {
            return Ok(None);
        };
        if first.c == '#' {
            return Ok(None);
        }
        let start = first.span.start;
        let all = self.rest;
        let mut glyphs = Vec::new();
        let mut end = start;
        let mut quoted = false;
        while let Some(glyph) = self.rest.first().copied() {
            match glyph.c {
                ' ' | '\t' | '\n' | '\r' => break,
                ';' | '|' | '&' | '>' => {
                    self.finish(&mut glyphs, glyph.c);
                    break;
                }
                ')' => {
                    self.rest = &[];
                    break;
                }
                '<' => {
                    let Some(length) = placeholder(self.rest) else {
                        self.rest = &[];
                        break;
                    };
                    self.take(length, &mut glyphs, Quote::Bare, Expands::Yes);
                }
                '(' => {
                    let message = "the shell refuses a bare `(`: caps and bins need quotes here";
                    return Err((Error::new(ErrorKind::Refused, message), glyph.span.start));
                }
                '\\' => match self.rest.get(1) {
                    Some(next) if next.c == '\n' => break,
                    Some(next)
                        if next.c == '\r' && self.rest.get(2).is_some_and(|g| g.c == '\n') =>
                    {
                        break;
                    }
                    Some(next) => {
                        let span = Span::new(glyph.span.start, next.span.end);
                        glyphs.push(Glyph {
                            span,
                            region: self.region,
                            ..*next
                        });
                        self.rest = &self.rest[2..];
                    }
                    None => self.rest = &[],
                },
                '\'' => {
                    quoted = true;
                    self.single_quotes(&mut glyphs)?;
                }
                '"' => {
                    quoted = true;
                    self.double_quotes(&mut glyphs)?;
                }
                '$' | '`' => {
                    let (length, expands) = expansion(self.rest)?;
                    self.take(length, &mut glyphs, Quote::Bare, expands);
                }
                _ => self.take(1, &mut glyphs, Quote::Bare, Expands::No),
            }
            let consumed = all.len() - self.rest.len();
            end = all[consumed - 1].span.end;
        }
        if glyphs.is_empty() && !quoted {
            return Ok(None);
        }
        let span = Span::new(start, end);
        Ok(Some(Word { glyphs, span }))
    }

    /// Skips blanks and continued line ends, but no line end that ends the command.
    ///
    /// A line end behind `!` is skipped too if text follows on the next line, and remembered.
    fn skip_blanks(&mut self) {
        loop {
            self.rest = match self.rest {
                [glyph, tail @ ..] if matches!(glyph.c, ' ' | '\t') => tail,
                [a, b, tail @ ..] if a.c == '\\' && b.c == '\n' => tail,
                [a, b, c, tail @ ..] if a.c == '\\' && b.c == '\r' && c.c == '\n' => tail,
                [glyph, tail @ ..] if matches!(glyph.c, '\n' | '\r') => {
                    let tail = if glyph.c == '\r' && tail.first().is_some_and(|next| next.c == '\n')
                    {
                        &tail[1..]
                    } else {
                        tail
                    };
                    let goes_on = tail
                        .iter()
                        .find(|next| !matches!(next.c, ' ' | '\t'))
                        .is_some_and(|next| !matches!(next.c, '\n' | '\r'));
                    if self.after_link && goes_on {
                        self.missing_continuation.get_or_insert(glyph.span.start);
                        tail
                    } else {
                        &[]
                    }
                }
                _ => return,
            };
        }
    }

    /// Ends the command at an operator. A number glued to `>` is a file descriptor, no argument.
    fn finish(&mut self, glyphs: &mut Vec<Glyph>, operator: char) {
        self.rest = &[];
        if operator == '>' && glyphs.iter().all(|glyph| glyph.c.is_ascii_digit()) {
            glyphs.clear();
        }
    }

    /// Takes characters over as they are.
    fn take(&mut self, length: usize, glyphs: &mut Vec<Glyph>, quote: Quote, expands: Expands) {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        glyphs.extend(taken.iter().map(|glyph| Glyph {
            quote: if glyph.quote == Quote::Nested {
                Quote::Nested
            } else {
                quote
            },
            region: self.region,
            expands: matches!(expands, Expands::Yes),
            ..*glyph
        }));
        self.rest = rest;
    }

    /// The text between two single quotes, all of it literal.
    fn single_quotes(&mut self, glyphs: &mut Vec<Glyph>) -> Result<(), (Error, usize)> {
        let open = self.rest[0].span.start;
        self.rest = &self.rest[1..];
        let Some(length) = self.rest.iter().position(|glyph| glyph.c == '\'') else {
            return Err((
                Error::new(ErrorKind::Refused, "the quote is not closed"),
                open,
            ));
        };
        self.region += 1;
        self.take(length, glyphs, Quote::Single, Expands::No);
        self.rest = &self.rest[1..];
        self.region += 1;
        Ok(())
    }

    /// The text between two double quotes, with escapes and expansions.
    fn double_quotes(&mut self, glyphs: &mut Vec<Glyph>) -> Result<(), (Error, usize)> {
        let open = self.rest[0].span.start;
        self.rest = &self.rest[1..];
        self.region += 1;
        loop {
            match self.rest {
                [glyph, tail @ ..] if glyph.c == '"' => {
                    self.rest = tail;
                    self.region += 1;
                    return Ok(());
                }
                [slash, next, tail @ ..] if slash.c == '\\' && next.c == '\n' => self.rest = tail,
                [slash, next, tail @ ..]
                    if slash.c == '\\' && matches!(next.c, '"' | '\\' | '$' | '`') =>
                {
                    glyphs.push(Glyph {
                        span: Span::new(slash.span.start, next.span.end),
                        quote: Quote::Double,
                        region: self.region,
                        ..*next
                    });
                    self.rest = tail;
                }
                [glyph, ..] if matches!(glyph.c, '$' | '`') => {
                    let (length, expands) = expansion(self.rest)?;
                    self.take(length, glyphs, Quote::Double, expands);
                }
                [_, ..] => self.take(1, glyphs, Quote::Double, Expands::No),
                [] => {
                    return Err((
                        Error::new(ErrorKind::Refused, "the quote is not closed"),
                        open,
                    ));
                }
            }
        }
    }
}

/// Whether taken characters stand for something else.
#[derive(Clone, Copy)]
enum Expands {
    Yes,
    No,
}

/// How many characters an expansion at the start takes: `$NAME`, `${…}`, `$(…)`, `` `…` ``; one
/// that expands to nothing else where the sign stands for itself.
///
/// # Errors
///
/// [`ErrorKind::Refused`] where a brace or parenthesis stays open.
fn expansion(input: &[Glyph]) -> Result<(usize, Expands), (Error, usize)> {
    let at = |position: usize| input.get(position).map(|glyph| glyph.c);
    let length = match (at(0), at(1)) {
        (Some('`'), _) => input
            .iter()
            .skip(1)
            .position(|glyph| glyph.c == '`')
            .map_or(1, |length| length + 2),
        (_, Some('{')) => balanced(input, '{', '}')?,
        (_, Some('(')) => balanced(input, '(', ')')?,
        (_, Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
            let name = input
                .iter()
                .skip(1)
                .take_while(|glyph| glyph.c.is_ascii_alphanumeric() || glyph.c == '_')
                .count();
            name + 1
        }
        (_, Some(c)) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!') => 2,
        _ => 1,
    };
    let expands = if length > 1 {
        Expands::Yes
    } else {
        Expands::No
    };
    Ok((length, expands))
}

/// How many characters an expansion takes up to the sign that closes it.
fn balanced(input: &[Glyph], open: char, close: char) -> Result<usize, (Error, usize)> {
    let mut depth = 0_usize;
    for (position, glyph) in input.iter().enumerate().skip(1) {
        if glyph.c == open {
            depth += 1;
        } else if glyph.c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Ok(position + 1);
            }
        }
    }
    let start = input.first().map_or(0, |glyph| glyph.span.start);
    let error = Error::new(ErrorKind::Refused, format!("the `{open}` is not closed"));
    Err((error, start))
}

/// How many characters a placeholder of a manual takes, `<path to file>`; `None` if `<` is a
/// redirection.
fn placeholder(input: &[Glyph]) -> Option<usize> {
    let body = &input[1..];
    if !body.first()?.c.is_ascii_alphabetic() {
        return None;
    }
    let close = body
        .iter()
        .take_while(|glyph| !matches!(glyph.c, '\n' | '!'))
        .position(|glyph| glyph.c == '>')?;
    Some(close + 2)
}
