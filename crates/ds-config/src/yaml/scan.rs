//! From bytes to a tree with byte spans.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::reading;
use crate::error::{Error, ErrorKind};
use crate::line_index::LineIndex;
use crate::text_edit::Span;

/// One node as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) data: Data,
    /// The value without its anchor and tag.
    pub(super) span: Span,
    /// The offset after the last byte of its last descendant.
    pub(super) end: usize,
    /// The index after its last descendant.
    pub(super) next: usize,
    pub(super) context: Context,
    pub(super) anchor: Anchor,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Data {
    Scalar(Scalar),
    /// Indices of the items.
    Sequence(Vec<usize>),
    /// Indices of the keys and values.
    Mapping(Vec<(usize, usize)>),
    /// The index of the node that carries the anchor.
    Alias(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) value: Vec<u8>,
    pub(super) style: Style,
    pub(super) null: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Block,
}

/// Whether a node stands between the brackets of a flow collection, its own brackets included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Block,
    Flow,
}

/// Whether a node carries an anchor, and whether an alias uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    None,
    Unused,
    Used,
}

/// Reads the first document of a file.
pub(super) fn scan(text: &[u8], lines: &LineIndex) -> Result<Vec<Node>, Error> {
    let source = Source::new(text);
    let mut tree = Tree {
        text,
        nodes: Vec::new(),
        open: Vec::new(),
        anchors: Vec::new(),
    };
    for event in Parser::new_from_str(&source.masked) {
        let (event, span) = event.map_err(|error| {
            let offset = source.offset(*error.marker());
            Error::new(ErrorKind::Refused, format!("no YAML: {}", error.info()))
                .at(lines.place(text, offset))
        })?;
        // What follows the first document is never loaded, whatever it holds.
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        tree.take(event, source.span(span.start, span.end));
    }
    Ok(tree.nodes)
}

/// The text as the scanner is given it: character for character the file, with some masked.
struct Source {
    masked: String,
    /// The byte offset of each character, and the length of the text at the end.
    offsets: Vec<usize>,
}

/// The first of 256 private-use characters that stand for single bytes which are not UTF-8.
const STRAY_BYTE: u32 = 0x10_FE00;

impl Source {
    fn new(text: &[u8]) -> Self {
        let mut chars = Vec::with_capacity(text.len());
        let mut offsets = Vec::with_capacity(text.len() + 1);
        let mut offset = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                offsets.push(offset);
                chars.push(c);
                offset += c.len_utf8();
            }
            for byte in chunk.invalid() {
                offsets.push(offset);
                chars.push(
                    char::from_u32(STRAY_BYTE + u32::from(*byte))
                        .expect("the range is inside plane 16"),
                );
                offset += 1;
            }
        }
        offsets.push(offset);
        mask(&mut chars);
        Self {
            masked: chars.into_iter().collect(),
            offsets,
        }
    }

    /// Markers count characters.
    fn offset(&self, marker: Marker) -> usize {
        let end = self.offsets.len() - 1;
        self.offsets[marker.index().min(end)]
    }

    fn span(&self, start: Marker, end: Marker) -> Span {
        Span::new(self.offset(start), self.offset(end))
    }
}

/// Hides from the scanner what yaml-cpp accepts and the YAML 1.2 grammar does not.
fn mask(chars: &mut [char]) {
    let mut prologue = true;
    for line in chars.split_inclusive_mut(|c| matches!(c, '\n' | '\r')) {
        let body = line
            .iter()
            .position(|c| !matches!(c, ' ' | '\r' | '\n' | '\u{FEFF}'));
        let Some(body) = body.map(|start| &mut line[start..]) else {
            continue;
        };
        match body {
            ['#', ..] if prologue => {}
            // yaml-cpp asks for no `---` after a directive, and OpenCV's header is one that it
            // does not know and skips. `%TAG` keeps its meaning.
            ['%', rest @ ..] if prologue && !rest.starts_with(&['T', 'A', 'G']) => {
                for c in body.iter_mut().filter(|c| !matches!(c, '\r' | '\n')) {
                    *c = ' ';
                }
            }
            _ => {
                prologue = false;
                mask_tabs(body);
            }
        }
    }
}

/// Turns the tabs between the colon of a plain key and its value into blanks.
///
/// A line of a block scalar that looks like a key is changed too; only its decoded text is then
/// off by the tab, its span is not.
fn mask_tabs(line: &mut [char]) {
    let Some(colon) = line.windows(2).position(|pair| matches!(pair, [':', '\t'])) else {
        return;
    };
    if line[..colon].iter().any(|c| matches!(c, '"' | '\'' | '#')) {
        return;
    }
    for c in line[colon + 1..].iter_mut() {
        match c {
            '\t' => *c = ' ',
            ' ' => {}
            _ => break,
        }
    }
}

/// The tree while it is built.
struct Tree<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
    /// The collections that are not closed yet, outermost first.
    open: Vec<Open>,
    /// The node of each anchor, by the number that the parser gave it.
    anchors: Vec<(usize, usize)>,
}

struct Open {
    index: usize,
    /// The key of a mapping whose value has not come yet.
    key: Option<usize>,
    context: Context,
}

impl Tree<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::Single,
                    ScalarStyle::DoubleQuoted => Style::Double,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let null =
                    style == Style::Plain && tag.is_none() && reading::is_null(value.as_bytes());
                let data = Data::Scalar(Scalar {
                    value: original_bytes(&value),
                    style,
                    null,
                });
                let span = self.without_properties(span, Properties::of(anchor, tag.as_ref()));
                let span = match style {
                    Style::Single | Style::Double => self.quoted(span),
                    // The span of a missing value reaches to the next token.
                    Style::Plain if value.is_empty() => Span::at(span.start),
                    Style::Plain | Style::Block => self.without_trailing_blanks(span),
                };
                let index = self.push(data, span, anchor);
                self.complete(index);
            }
            Event::SequenceStart(anchor, tag) => {
                let properties = Properties::of(anchor, tag.as_ref());
                self.start(Data::Sequence(Vec::new()), span, anchor, properties);
            }
            Event::MappingStart(anchor, tag) => {
                let properties = Properties::of(anchor, tag.as_ref());
                self.start(Data::Mapping(Vec::new()), span, anchor, properties);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    let next = self.nodes.len();
                    let node = &mut self.nodes[open.index];
                    if node.context == Context::Flow {
                        // The parser counts what follows the bracket in, up to the next token.
                        let bracket = matches!(self.text.get(span.start), Some(b']' | b'}'));
                        node.end = node.end.max(span.start + usize::from(bracket));
                        node.span.end = node.end;
                    } else {
                        node.span = Span::new(node.span.start, node.end);
                    }
                    node.next = next;
                    self.complete(open.index);
                }
            }
            Event::Alias(anchor) => {
                // The parser itself refuses an alias whose anchor it has not met.
                let target = self.anchors.iter().rfind(|(id, _)| *id == anchor);
                if let Some(&(_, target)) = target {
                    self.nodes[target].anchor = Anchor::Used;
                    let index = self.push(Data::Alias(target), span, 0);
                    self.complete(index);
                }
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn start(&mut self, data: Data, span: Span, anchor: usize, properties: Properties) {
        let start = self.without_properties(span, properties).start;
        let bracket = matches!(self.text.get(start), Some(b'[' | b'{')) && span.end > start;
        let inner = if bracket {
            Context::Flow
        } else {
            self.context()
        };
        let index = self.push(data, Span::at(start), anchor);
        self.nodes[index].context = inner;
        self.open.push(Open {
            index,
            key: None,
            context: inner,
        });
    }

    fn context(&self) -> Context {
        self.open.last().map_or(Context::Block, |open| open.context)
    }

    fn push(&mut self, data: Data, span: Span, anchor: usize) -> usize {
        let index = self.nodes.len();
        if anchor != 0 {
            self.anchors.push((anchor, index));
        }
        self.nodes.push(Node {
            data,
            span,
            end: span.end,
            next: index + 1,
            context: self.context(),
            anchor: if anchor == 0 {
                Anchor::None
            } else {
                Anchor::Unused
            },
        });
        index
    }

    /// Hands a finished node to the collection that holds it.
    fn complete(&mut self, index: usize) {
        let end = self.nodes[index].end;
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let parent = &mut self.nodes[open.index];
        parent.end = parent.end.max(end);
        match &mut parent.data {
            Data::Sequence(items) => items.push(index),
            Data::Mapping(entries) => match open.key.take() {
                None => open.key = Some(index),
                Some(key) => entries.push((key, index)),
            },
            Data::Scalar(_) | Data::Alias(_) => {}
        }
    }

    /// The span after the anchor and the tag, which the parser counts in.
    fn without_properties(&self, span: Span, properties: Properties) -> Span {
        let mut start = span.start;
        if matches!(properties, Properties::Some) {
            let rest = |start: usize| &self.text[start..span.end.max(start)];
            while matches!(rest(start).first(), Some(b'&' | b'!')) {
                let word = rest(start).iter().take_while(|b| !b.is_ascii_whitespace());
                start += word.count();
                let gap = rest(start).iter().take_while(|b| b.is_ascii_whitespace());
                start += gap.count();
            }
        }
        Span::new(start, span.end)
    }

    /// The span from the opening to the closing quote: the parser counts a comment behind it in.
    fn quoted(&self, span: Span) -> Span {
        let text = &self.text[span.start..span.end];
        let Some((&quote, rest)) = text.split_first() else {
            return span;
        };
        let mut bytes = rest.iter().enumerate().peekable();
        while let Some((offset, &byte)) = bytes.next() {
            if byte == b'\\' && quote == b'"' {
                bytes.next();
            } else if byte == quote {
                let doubled =
                    quote == b'\'' && bytes.next_if(|(_, next)| **next == quote).is_some();
                if !doubled {
                    return Span::new(span.start, span.start + offset + 2);
                }
            }
        }
        span
    }

    fn without_trailing_blanks(&self, span: Span) -> Span {
        let text = &self.text[span.start..span.end];
        Span::new(span.start, span.start + text.trim_ascii_end().len())
    }
}

/// Whether an anchor or a tag stands before a node.
#[derive(Clone, Copy)]
enum Properties {
    None,
    Some,
}

impl Properties {
    fn of<T>(anchor: usize, tag: Option<&T>) -> Self {
        if anchor == 0 && tag.is_none() {
            Self::None
        } else {
            Self::Some
        }
    }
}

/// A decoded scalar with the bytes back that were masked as not being UTF-8.
fn original_bytes(value: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    for c in value.chars() {
        match u32::from(c).checked_sub(STRAY_BYTE).map(u8::try_from) {
            Some(Ok(byte)) => bytes.push(byte),
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}
