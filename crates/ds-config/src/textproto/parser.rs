//! From tokens to messages, with the rules of the C++ `TextFormat` parser of protobuf 3.21.12.

use super::lexer::{LexError, LexReason, Token, TokenKind, lex, unquote};
use super::schema::{ProtoField, ProtoKind, ProtoLabel, ProtoMessage};
use crate::text_edit::Span;

/// A message: the fields that stand between two braces, or at the top of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TextProtoMessage {
    pub(super) schema: &'static ProtoMessage,
    pub(super) fields: Vec<TextProtoField>,
}

impl TextProtoMessage {
    /// The fields in the order of the text. The items of a list are fields of their own.
    #[must_use]
    pub fn fields(&self) -> &[TextProtoField] {
        &self.fields
    }

    /// The last field of this name, which is the one whose value counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TextProtoField> {
        self.fields.iter().rfind(|field| field.name() == name)
    }

    /// A field by the names that lead to it.
    pub(super) fn find(&self, path: &[&str]) -> Option<&TextProtoField> {
        let (name, parents) = path.split_last()?;
        let mut message = self;
        for parent in parents {
            message = match message.get(parent)?.value() {
                TextProtoValue::Message(inner) => inner,
                _ => return None,
            };
        }
        message.get(name)
    }
}

/// One field as it stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TextProtoField {
    pub(super) schema: &'static ProtoField,
    pub(super) name_span: Span,
    pub(super) span: Span,
    pub(super) value: TextProtoValue,
    /// The comma or semicolon after it.
    pub(super) separator: Option<Span>,
    /// The offset after the value, the bracket of its list and its separator.
    pub(super) end: usize,
}

impl TextProtoField {
    /// The name of the field.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.schema.name()
    }

    /// The bytes of its value: with quotes or braces, without a comment.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &TextProtoValue {
        &self.value
    }
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TextProtoValue {
    /// A whole number of any width.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// A flag.
    Bool(bool),
    /// The bytes of a text, escapes resolved and adjacent literals joined.
    String(Vec<u8>),
    /// A name of an enumeration by its number.
    Enum(i32),
    /// A message.
    Message(TextProtoMessage),
    /// `${NAME}` of a template, to be filled before the file is read.
    Placeholder,
}

impl TextProtoValue {
    /// Whether a field without presence counts as not given when it holds this: zero, false or the
    /// empty text.
    fn is_default(&self) -> bool {
        match self {
            Self::Integer(value) => *value == 0,
            Self::Float(value) => value.to_bits() == 0,
            Self::Bool(value) => !value,
            Self::String(bytes) => bytes.is_empty(),
            Self::Enum(number) => *number == 0,
            Self::Message(_) | Self::Placeholder => false,
        }
    }
}

/// Why a text is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Reads a whole text as one message.
pub(super) fn parse(
    text: &[u8],
    schema: &'static ProtoMessage,
) -> Result<TextProtoMessage, Refusal> {
    let tokens = lex(text).map_err(|error| lex_refusal(text, error))?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
    };
    parser.message(schema, TokenKind::End)
}

/// Reads a text as the value of a field, with nothing beside it.
pub(super) fn parse_value(text: &[u8], field: &'static ProtoField) -> Option<TextProtoValue> {
    let tokens = lex(text).ok()?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
    };
    let (value, _) = parser.scalar(field).ok()?;
    (parser.peek().kind == TokenKind::End).then_some(value)
}

fn lex_refusal(text: &[u8], error: LexError) -> Refusal {
    let message = match error.reason {
        LexReason::NotAscii => format!("byte 0x{:02X} outside ASCII", text[error.offset]),
        LexReason::Control => format!("control byte 0x{:02X}", text[error.offset]),
        LexReason::Octal => "digits 8 and 9 are not octal, and a leading zero makes a number \
                             octal"
            .to_owned(),
        LexReason::Number => "a number that breaks off".to_owned(),
        LexReason::OpenString => "a text without its closing quote".to_owned(),
        LexReason::Escape => "an unknown escape".to_owned(),
    };
    Refusal {
        offset: error.offset,
        message,
    }
}

struct Parser<'a> {
    text: &'a [u8],
    /// Ends with [`TokenKind::End`], which is never passed.
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.advance())
    }

    fn take_symbol(&mut self, symbol: u8) -> Option<Token> {
        self.take(TokenKind::Symbol(symbol))
    }

    fn shown(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => {
                let bytes = token.span.of(self.text).unwrap_or_default();
                format!("`{}`", String::from_utf8_lossy(bytes))
            }
        }
    }

    fn expected<T>(&self, what: &str) -> Result<T, Refusal> {
        let token = self.peek();
        refuse(token, format!("{what} expected, not {}", self.shown(token)))
    }

    /// Reads fields up to `close`, which is left to the caller.
    ///
    /// No message of a schema contains itself, so the depth is bounded by the schema.
    fn message(
        &mut self,
        schema: &'static ProtoMessage,
        close: TokenKind,
    ) -> Result<TextProtoMessage, Refusal> {
        let mut message = TextProtoMessage {
            schema,
            fields: Vec::new(),
        };
        while self.peek().kind != close {
            self.field(&mut message)?;
        }
        Ok(message)
    }

    fn field(&mut self, message: &mut TextProtoMessage) -> Result<(), Refusal> {
        let Some(name) = self.take(TokenKind::Identifier) else {
            return self.expected("a field name");
        };
        let text = name.span.of(self.text).unwrap_or_default();
        let Some(schema) = message.schema.field(text) else {
            let message = format!("no field {} in this message", self.shown(name));
            return refuse(name, message);
        };
        check_presence(message, schema, name)?;
        let colon = self.take_symbol(b':');
        let nested = matches!(schema.kind(), ProtoKind::Message(_));
        if colon.is_none() && !nested {
            return self.expected("`:`");
        }
        let first = message.fields.len();
        let repeated = schema.label() == ProtoLabel::Repeated;
        if repeated && self.take_symbol(b'[').is_some() {
            if self.take_symbol(b']').is_none() {
                loop {
                    self.value(message, schema, name.span)?;
                    if self.take_symbol(b']').is_some() {
                        break;
                    }
                    if self.take_symbol(b',').is_none() {
                        return self.expected("`,` or `]`");
                    }
                }
            }
        } else {
            self.value(message, schema, name.span)?;
        }
        let separator = self.take_symbol(b',').or_else(|| self.take_symbol(b';'));
        let end = self.tokens[self.at - 1].span.end();
        for field in &mut message.fields[first..] {
            field.separator = separator.map(|token| token.span);
            field.end = end;
        }
        Ok(())
    }

    fn value(
        &mut self,
        message: &mut TextProtoMessage,
        schema: &'static ProtoField,
        name_span: Span,
    ) -> Result<(), Refusal> {
        let (value, span) = match schema.kind() {
            ProtoKind::Message(inner) => {
                let open = self.peek().span.start();
                let close = if self.take_symbol(b'{').is_some() {
                    b'}'
                } else if self.take_symbol(b'<').is_some() {
                    b'>'
                } else {
                    return self.expected("`{` or `<`");
                };
                let inner = self.message(inner, TokenKind::Symbol(close))?;
                let end = self.advance().span.end();
                (TextProtoValue::Message(inner), Span::new(open, end))
            }
            _ => self.scalar(schema)?,
        };
        message.fields.push(TextProtoField {
            schema,
            name_span,
            span,
            value,
            separator: None,
            end: span.end(),
        });
        Ok(())
    }

    fn scalar(&mut self, field: &'static ProtoField) -> Result<(TextProtoValue, Span), Refusal> {
        if let Some(token) = self.take(TokenKind::Placeholder) {
            return Ok((TextProtoValue::Placeholder, token.span));
        }
        let start = self.peek().span.start();
        let value = match field.kind() {
            ProtoKind::Int32 => self.integer(i32::MIN.into(), i32::MAX.into())?,
            ProtoKind::Int64 => self.integer(i64::MIN.into(), i64::MAX.into())?,
            ProtoKind::Uint32 => self.integer(0, u32::MAX.into())?,
            ProtoKind::Uint64 => self.integer(0, u64::MAX.into())?,
            ProtoKind::Float => self.float()?,
            ProtoKind::Bool => self.boolean()?,
            ProtoKind::String => self.string()?,
            ProtoKind::Enum(names) => self.enumeration(names)?,
            ProtoKind::Message(_) => return self.expected("`{` or `<`"),
        };
        let end = self.tokens[self.at - 1].span.end();
        Ok((value, Span::new(start, end)))
    }

    fn integer(&mut self, min: i128, max: i128) -> Result<TextProtoValue, Refusal> {
        let negative = min < 0 && self.take_symbol(b'-').is_some();
        let Some(token) = self.take(TokenKind::Integer) else {
            return self.expected("a whole number");
        };
        let text = token.span.of(self.text).unwrap_or_default();
        let value = magnitude(text)
            .map(|value| if negative { -value } else { value })
            .filter(|value| (min..=max).contains(value));
        match value {
            Some(value) => Ok(TextProtoValue::Integer(value)),
            None => refuse(token, format!("{} is out of range", self.shown(token))),
        }
    }

    fn float(&mut self) -> Result<TextProtoValue, Refusal> {
        let negative = self.take_symbol(b'-').is_some();
        let token = self.peek();
        let text = String::from_utf8_lossy(token.span.of(self.text).unwrap_or_default());
        let value: Option<f64> = match token.kind {
            TokenKind::Float => text.trim_end_matches(['f', 'F']).parse().ok(),
            // A number with a fraction is decimal only.
            TokenKind::Integer if text == "0" || !text.starts_with('0') => text.parse().ok(),
            TokenKind::Identifier => match text.to_ascii_lowercase().as_str() {
                "inf" | "infinity" => Some(f64::INFINITY),
                "nan" => Some(f64::NAN),
                _ => None,
            },
            _ => None,
        };
        let Some(value) = value else {
            return self.expected("a decimal number");
        };
        self.advance();
        Ok(TextProtoValue::Float(if negative { -value } else { value }))
    }

    fn boolean(&mut self) -> Result<TextProtoValue, Refusal> {
        let token = self.peek();
        let text = token.span.of(self.text).unwrap_or_default();
        let value = match token.kind {
            TokenKind::Integer => magnitude(text).and_then(|value| match value {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            }),
            TokenKind::Identifier => match text {
                b"true" | b"True" | b"t" => Some(true),
                b"false" | b"False" | b"f" => Some(false),
                _ => None,
            },
            _ => return self.expected("a boolean"),
        };
        let Some(value) = value else {
            return refuse(token, format!("{} is no boolean", self.shown(token)));
        };
        self.advance();
        Ok(TextProtoValue::Bool(value))
    }

    fn string(&mut self) -> Result<TextProtoValue, Refusal> {
        if self.peek().kind != TokenKind::String {
            return self.expected("a text in quotes");
        }
        let mut bytes = Vec::new();
        while let Some(token) = self.take(TokenKind::String) {
            unquote(token.span.of(self.text).unwrap_or_default(), &mut bytes);
        }
        Ok(TextProtoValue::String(bytes))
    }

    fn enumeration(&mut self, names: &[(&str, i32)]) -> Result<TextProtoValue, Refusal> {
        if self.peek().kind != TokenKind::Identifier {
            // An enumeration of proto3 takes any number.
            let TextProtoValue::Integer(number) = self.integer(i32::MIN.into(), i32::MAX.into())?
            else {
                return self.expected("a name or a number");
            };
            let number = i32::try_from(number).expect("the range was checked");
            return Ok(TextProtoValue::Enum(number));
        }
        let token = self.advance();
        let text = token.span.of(self.text).unwrap_or_default();
        match names.iter().find(|(name, _)| name.as_bytes() == text) {
            Some((_, number)) => Ok(TextProtoValue::Enum(*number)),
            None => refuse(
                token,
                format!("no value {} of this field", self.shown(token)),
            ),
        }
    }
}

/// Refuses a second value where one is allowed.
///
/// A plain field of proto3 has no presence: one that holds its default counts as not given, and a
/// second value is then accepted. Messages and members of a `oneof` do have presence.
fn check_presence(
    message: &TextProtoMessage,
    schema: &'static ProtoField,
    name: Token,
) -> Result<(), Refusal> {
    let rival = message.fields.iter().find(|field| match schema.label() {
        ProtoLabel::Repeated => false,
        ProtoLabel::Singular => field.name() == schema.name() && !field.value.is_default(),
        group @ ProtoLabel::OneOf(_) => field.schema.label() == group,
    });
    match rival {
        None => Ok(()),
        Some(field) if field.name() == schema.name() => {
            refuse(name, format!("field `{}` is given twice", schema.name()))
        }
        Some(field) => refuse(
            name,
            format!(
                "fields `{}` and `{}` are members of one oneof",
                field.name(),
                schema.name()
            ),
        ),
    }
}

/// The value of an integer token; `None` beyond 64 bits.
fn magnitude(text: &[u8]) -> Option<i128> {
    let text = str::from_utf8(text).ok()?;
    let value = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16),
        [b'0', _, ..] => u64::from_str_radix(&text[1..], 8),
        _ => text.parse(),
    };
    value.ok().map(i128::from)
}

fn refuse<T>(token: Token, message: String) -> Result<T, Refusal> {
    Err(Refusal {
        offset: token.span.start(),
        message,
    })
}
