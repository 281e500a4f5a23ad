//! The tokens of text protobuf, as the C++ `Tokenizer` of protobuf 3.21.12 cuts them.

use crate::text_edit::Span;

/// One token with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A letter or underscore, then letters, digits and underscores.
    Identifier,
    /// A whole number: decimal, `0x` hexadecimal or, after a leading zero, octal.
    Integer,
    /// A number with a point, an exponent or a trailing `f`.
    Float,
    /// A quoted text; adjacent ones are joined by the parser.
    String,
    /// `${NAME}`, which only a template holds: no program but a template's own reads it.
    Placeholder,
    /// Any other printable character.
    Symbol(u8),
    End,
}

/// Why a text cannot be cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LexError {
    pub(super) offset: usize,
    pub(super) reason: LexReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LexReason {
    /// A byte above 127 that stands neither in a string nor in a comment.
    NotAscii,
    Control,
    /// A digit 8 or 9 after a leading zero.
    Octal,
    /// A number that breaks off, such as `0x` or `1e`.
    Number,
    /// A string that the line or the file ends before its closing quote.
    OpenString,
    Escape,
}

/// Cuts a whole text. The last token is [`TokenKind::End`].
pub(super) fn lex(text: &[u8]) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
    }

    fn skip_if(&mut self, accept: impl Fn(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(accept);
        self.at += usize::from(found);
        found
    }

    fn fail<T>(&self, offset: usize, reason: LexReason) -> Result<T, LexError> {
        Err(LexError { offset, reason })
    }

    fn next(&mut self) -> Result<Token, LexError> {
        self.skip_blanks_and_comments();
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok(Token {
                kind: TokenKind::End,
                span: Span::at(start),
            });
        };
        let after = self.text.get(start + 1).copied();
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                TokenKind::Identifier
            }
            b'0'..=b'9' => self.number()?,
            b'.' if after.is_some_and(|b| b.is_ascii_digit()) => self.number()?,
            b'"' | b'\'' => self.string(first)?,
            b'$' if after == Some(b'{') && self.placeholder() => TokenKind::Placeholder,
            0x80.. => return self.fail(start, LexReason::NotAscii),
            0..b' ' | 0x7f => return self.fail(start, LexReason::Control),
            symbol => {
                self.at += 1;
                TokenKind::Symbol(symbol)
            }
        };
        Ok(Token {
            kind,
            span: Span::new(start, self.at),
        })
    }

    /// A comment runs to the next `\n`: a lone `\r` does not end it.
    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.skip_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c));
            if self.peek() != Some(b'#') {
                return;
            }
            self.skip_while(|b| b != b'\n');
        }
    }

    fn number(&mut self) -> Result<TokenKind, LexError> {
        let start = self.at;
        let leading_zero = self.skip_if(|b| b == b'0');
        if leading_zero && self.skip_if(|b| matches!(b, b'x' | b'X')) {
            if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                return self.fail(start, LexReason::Number);
            }
            self.skip_while(|b| b.is_ascii_hexdigit());
            return Ok(TokenKind::Integer);
        }
        if leading_zero && self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.skip_while(|b| matches!(b, b'0'..=b'7'));
            if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return self.fail(start, LexReason::Octal);
            }
            return Ok(TokenKind::Integer);
        }
        self.skip_while(|b| b.is_ascii_digit());
        let mut kind = TokenKind::Integer;
        if self.skip_if(|b| b == b'.') {
            kind = TokenKind::Float;
            self.skip_while(|b| b.is_ascii_digit());
        }
        if self.skip_if(|b| matches!(b, b'e' | b'E')) {
            kind = TokenKind::Float;
            self.skip_if(|b| matches!(b, b'+' | b'-'));
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return self.fail(start, LexReason::Number);
            }
            self.skip_while(|b| b.is_ascii_digit());
        }
        if kind == TokenKind::Float {
            self.skip_if(|b| matches!(b, b'f' | b'F'));
        }
        Ok(kind)
    }

    fn string(&mut self, quote: u8) -> Result<TokenKind, LexError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None | Some(b'\n') => return self.fail(start, LexReason::OpenString),
                Some(b'\\') => {
                    let escape = self.at;
                    self.at += 1;
                    let known = self.skip_if(|b| {
                        matches!(
                            b,
                            b'a' | b'b'
                                | b'f'
                                | b'n'
                                | b'r'
                                | b't'
                                | b'v'
                                | b'\\'
                                | b'?'
                                | b'\''
                                | b'"'
                                | b'0'
                                ..=b'7' | b'x' | b'X' | b'u' | b'U'
                        )
                    });
                    if !known {
                        return self.fail(escape, LexReason::Escape);
                    }
                }
                Some(byte) => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(TokenKind::String);
                    }
                }
            }
        }
    }

    /// Takes `${NAME}`, or nothing.
    fn placeholder(&mut self) -> bool {
        let name = self.text[self.at + 2..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let close = self.at + 2 + name;
        let found = name > 0 && self.text.get(close) == Some(&b'}');
        if found {
            self.at = close + 1;
        }
        found
    }
}

/// The bytes that a quoted text stands for. Octal and hexadecimal escapes are bytes, `\u` and `\U`
/// characters.
pub(super) fn unquote(literal: &[u8], out: &mut Vec<u8>) {
    let inner = literal.get(1..literal.len().saturating_sub(1));
    let mut rest = inner.unwrap_or_default();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let [escape, tail @ ..] = rest else { return };
        rest = tail;
        match escape {
            b'a' => out.push(0x07),
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(0x0b),
            b'0'..=b'7' => {
                let (value, tail) = digits(u32::from(escape - b'0'), rest, 8, 2);
                rest = tail;
                out.extend(u8::try_from(value & 0xff));
            }
            b'x' | b'X' => {
                let (value, tail) = digits(0, rest, 16, 2);
                rest = tail;
                out.extend(u8::try_from(value));
            }
            b'u' | b'U' => {
                let (value, tail) = digits(0, rest, 16, if *escape == b'u' { 4 } else { 8 });
                rest = tail;
                let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(*other),
        }
    }
}

/// A number that goes on for up to `most` digits, and what follows them.
fn digits(start: u32, text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let count = text.iter().take(most).take_while(is_digit).count();
    let (number, rest) = text.split_at(count);
    let value = number
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(radix))
        .fold(start, |value, digit| value * radix + digit);
    (value, rest)
}
