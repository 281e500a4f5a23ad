//! The grammar of GStreamer's launch syntax, after `gst/parse/grammar.y` (GStreamer 1.22).
//!
//! ```text
//! chains  = { chain }
//! chain   = ( element | bin | url | reference ) { link ( element | bin | url | reference ) }
//! element = [ pads ] factory { name=value } [ pads ]
//! bin     = "(" { name=value } chains ")"
//! ```
//!
//! A reference stands at the start or at the end of a chain only, and takes no properties.

use std::ops::Range;

use super::edit::Quoting;
use super::graph::{GstElement, GstGraph, GstLink, GstProperty};
use super::launch_text::LaunchText;
use super::shell::Quote;
use super::token::{EXPANSION, Token, TokenKind, tokens};
use crate::error::{Error, ErrorKind};

/// Reads a launch text.
///
/// # Errors
///
/// [`ErrorKind::Refused`] where GStreamer refuses the text for its syntax, for a name given twice
/// or for a reference to a name that no element has; with the offset in the file.
pub(crate) fn parse(text: &LaunchText) -> Result<GstGraph, (Error, usize)> {
    let tokens = tokens(&text.text);
    let mut parser = Parser {
        text,
        tokens: &tokens,
        graph: GstGraph::default(),
        pending: Vec::new(),
        bins: Vec::new(),
        depth: 0,
    };
    parser.chains()?;
    if let Some(token) = parser.tokens.first() {
        return Err(parser.unexpected(token));
    }
    if parser.graph.elements.is_empty() {
        return Err((refused("the pipeline is empty"), text.offset(0)));
    }
    parser.finish()
}

/// One end of a link while it is being read.
#[derive(Debug, Clone, Default)]
struct End {
    /// The elements that may give or take: several only for a bin.
    element: Option<usize>,
    /// The name of a reference, with its offset in the file.
    reference: Option<(String, usize)>,
    pad: Option<String>,
}

/// A link whose references are not resolved yet, since an element may come after them.
struct Pending {
    from: End,
    to: End,
    caps: Option<String>,
}

/// The state of [`parse`].
struct Parser<'a> {
    text: &'a LaunchText,
    tokens: &'a [Token],
    graph: GstGraph,
    pending: Vec<Pending>,
    /// The bins that have a name.
    bins: Vec<Bin>,
    /// How many bins are open.
    depth: usize,
}

/// A bin, as references see it.
struct Bin {
    name: String,
    takes: Option<usize>,
    gives: Option<usize>,
}

/// How deep bins may be nested here. GStreamer has no limit but that of its parser's stack; no
/// pipeline comes near this one, and it keeps hostile text from ours.
const MAX_DEPTH: usize = 100;

/// A node of a chain: the end that takes and the end that gives.
struct Node {
    takes: End,
    gives: End,
    is_reference: bool,
}

type Outcome<T> = Result<T, (Error, usize)>;

impl Parser<'_> {
    /// Chains up to a closing parenthesis or the end. Gives the first and last node seen.
    fn chains(&mut self) -> Outcome<Option<(End, End)>> {
        let mut ends: Option<(End, End)> = None;
        while let Some(token) = self.tokens.first() {
            if token.kind == TokenKind::Operator(')') {
                break;
            }
            let (first, last) = self.chain()?;
            ends = Some(match ends {
                None => (first, last),
                Some((start, _)) => (start, last),
            });
        }
        Ok(ends)
    }

    /// Nodes with links between them.
    fn chain(&mut self) -> Outcome<(End, End)> {
        let start = self.tokens.first().map(|token| token.range.clone());
        let node = self.node()?;
        let first = node.takes.clone();
        let mut current = node;
        let mut links = 0;
        while let Some(Token {
            kind: TokenKind::Link { caps },
            range,
        }) = self.tokens.first()
        {
            if links > 0 && current.is_reference {
                let message = "a reference ends a chain: nothing can be linked behind it";
                return Err((refused(message), self.text.offset(range.start)));
            }
            let caps = caps.as_ref().map(|caps| self.text.unescaped(caps));
            let link_at = range.start;
            self.tokens = &self.tokens[1..];
            if self.tokens.is_empty() || self.tokens[0].kind == TokenKind::Operator(')') {
                let message = "the pipeline ends in `!`";
                return Err((refused(message), self.text.offset(link_at)));
            }
            let next = self.node()?;
            self.pending.push(Pending {
                from: current.gives,
                to: next.takes.clone(),
                caps,
            });
            current = next;
            links += 1;
        }
        if links == 0 && current.is_reference {
            let range = start.unwrap_or_default();
            let written = self.text.written(&range);
            let message = format!("unexpected reference `{written}`: it is linked to nothing");
            return Err((refused(message), self.text.offset(range.start)));
        }
        Ok((first, current.gives))
    }

    /// An element, a bin, a URL or a reference.
    fn node(&mut self) -> Outcome<Node> {
        let takes_pad = self.pad();
        let Some(token) = self.tokens.first() else {
            let end = self.text.text.len();
            return Err((
                refused("the pipeline ends where an element is due"),
                self.text.offset(end),
            ));
        };
        let range = token.range.clone();
        match &token.kind {
            TokenKind::Identifier => {
                self.tokens = &self.tokens[1..];
                let element = self.element(&range);
                let gives_pad = self.pad();
                Ok(Node::of_element(element, takes_pad, gives_pad))
            }
            TokenKind::Url => {
                self.tokens = &self.tokens[1..];
                let element = self.push_element(&range);
                Ok(Node::of_element(element, takes_pad, None))
            }
            TokenKind::Ref { name, pad } => {
                self.tokens = &self.tokens[1..];
                let pad = (!pad.is_empty()).then(|| self.text.written(pad));
                let end = End {
                    element: None,
                    reference: Some((self.text.written(name), self.text.offset(range.start))),
                    pad,
                };
                Ok(Node {
                    takes: end.clone(),
                    gives: end,
                    is_reference: true,
                })
            }
            TokenKind::BinRef | TokenKind::Operator('(') => {
                self.tokens = &self.tokens[1..];
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    let message = format!("bins are nested more than {MAX_DEPTH} deep");
                    return Err((refused(message), self.text.offset(range.start)));
                }
                let mut bin_name = None;
                while let Some(Token {
                    kind: TokenKind::Assignment { name, value },
                    ..
                }) = self.tokens.first()
                {
                    self.tokens = &self.tokens[1..];
                    if self.text.written(name) == "name" {
                        bin_name = Some(self.text.unescaped(value));
                    }
                }
                let ends = self.chains()?;
                self.depth -= 1;
                match self.tokens.first() {
                    Some(Token {
                        kind: TokenKind::Operator(')'),
                        ..
                    }) => self.tokens = &self.tokens[1..],
                    _ => {
                        return Err((
                            refused("the bin is not closed"),
                            self.text.offset(range.start),
                        ));
                    }
                }
                let (takes, gives) = ends.unwrap_or_default();
                if let Some(name) = bin_name {
                    self.bins.push(Bin {
                        name,
                        takes: takes.element,
                        gives: gives.element,
                    });
                }
                Ok(Node {
                    takes,
                    gives,
                    is_reference: false,
                })
            }
            _ => Err(self.unexpected(token)),
        }
    }

    /// `.pad`, where one stands.
    fn pad(&mut self) -> Option<String> {
        let Some(Token {
            kind: TokenKind::PadRef { pad },
            ..
        }) = self.tokens.first()
        else {
            return None;
        };
        self.tokens = &self.tokens[1..];
        Some(self.text.written(pad))
    }

    /// The properties behind a factory name.
    fn element(&mut self, factory: &Range<usize>) -> usize {
        let element = self.push_element(factory);
        while let Some(Token {
            kind: TokenKind::Assignment { name, value },
            range,
        }) = self.tokens.first()
        {
            self.tokens = &self.tokens[1..];
            let property = self.property(name, value, range);
            let held = &mut self.graph.elements[element];
            held.end = property.words.end;
            held.properties.push(property);
        }
        element
    }

    /// Adds an element without properties.
    fn push_element(&mut self, factory: &Range<usize>) -> usize {
        let written = self.text.written(factory);
        let twins = self
            .graph
            .elements
            .iter()
            .filter(|e| e.factory == written)
            .count();
        let span = self.text.span(factory);
        // A new property stands outside the quotes of the factory, but not outside those round the
        // whole command.
        let quoting = match Quoting::of(self.text.glyphs(factory), self.text.word_state()) {
            Quoting::Shell(Quote::Single | Quote::Double) => Quoting::Shell(Quote::Bare),
            quoting => quoting,
        };
        self.graph.elements.push(GstElement {
            name: format!("{written}{twins}"),
            opaque: self.text.text[factory.clone()].contains(EXPANSION),
            factory: written,
            span,
            properties: Vec::new(),
            factory_end: self.text.whole_words(span).end,
            end: self.text.whole_words(span).end,
            insert_quoting: quoting,
        });
        self.graph.elements.len() - 1
    }

    /// One assignment.
    fn property(
        &self,
        name: &Range<usize>,
        value: &Range<usize>,
        range: &Range<usize>,
    ) -> GstProperty {
        // The launch parser takes one pair of double quotes off a value, and no single quotes.
        let text = &self.text.text[value.clone()];
        let is_quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
        let inner = if is_quoted {
            value.start + 1..value.end - 1
        } else {
            value.clone()
        };
        let span = self.text.span(&inner);
        let quoting = Quoting::of(self.text.glyphs(&inner), self.text.word_state());
        GstProperty {
            name: self.text.written(name).replace('_', "-"),
            value: self.text.unescaped(&inner),
            name_span: self.text.span(name),
            value_span: span,
            blocked: quoting.blocked(|| self.text.written(&inner)),
            words: self.text.whole_words(self.text.span(range)),
            separator: self.text.text[name.end..value.start].to_owned(),
            quoting,
        }
    }

    /// The error for a token that has no place where it stands.
    fn unexpected(&self, token: &Token) -> (Error, usize) {
        let written = self.text.written(&token.range);
        let message = match &token.kind {
            TokenKind::Assignment { .. } if self.graph.elements.is_empty() => {
                format!("`{written}` stands before any element")
            }
            TokenKind::Assignment { .. } => format!("`{written}` follows no element"),
            TokenKind::Link { .. } => "`!` stands where an element is due".to_owned(),
            _ => format!("`{written}` stands where an element is due"),
        };
        (refused(message), self.text.offset(token.range.start))
    }

    /// Names the elements and resolves the references.
    fn finish(mut self) -> Outcome<GstGraph> {
        for element in &mut self.graph.elements {
            if let Some(given) = element.properties.iter().rfind(|p| p.name == "name") {
                element.name.clone_from(&given.value);
            }
        }
        let elements = &self.graph.elements;
        for (position, element) in elements.iter().enumerate() {
            let twin = elements[..position]
                .iter()
                .any(|other| other.name == element.name && !element.opaque);
            if twin {
                let message = format!("two elements are named `{}`", element.name);
                return Err((refused(message), element.span.start));
            }
        }
        let any_opaque = elements.iter().any(|element| element.opaque);
        let resolve = |end: &End, of_bin: fn(&Bin) -> Option<usize>| -> Outcome<Option<usize>> {
            let Some((name, offset)) = &end.reference else {
                return Ok(end.element);
            };
            if let Some(bin) = self.bins.iter().find(|bin| bin.name == *name) {
                return Ok(of_bin(bin));
            }
            let found = elements.iter().position(|element| element.name == *name);
            if found.is_none() && !any_opaque {
                return Err((refused(format!("no element is named `{name}`")), *offset));
            }
            Ok(found)
        };
        let mut links = Vec::new();
        for pending in &self.pending {
            let from = resolve(&pending.from, |bin| bin.gives)?;
            let to = resolve(&pending.to, |bin| bin.takes)?;
            if let (Some(from), Some(to)) = (from, to) {
                links.push(GstLink {
                    from,
                    from_pad: pending.from.pad.clone(),
                    to,
                    to_pad: pending.to.pad.clone(),
                    caps: pending.caps.clone(),
                });
            }
        }
        self.graph.links = links;
        Ok(self.graph)
    }
}

impl Node {
    fn of_element(element: usize, takes_pad: Option<String>, gives_pad: Option<String>) -> Self {
        let end = |pad| End {
            element: Some(element),
            reference: None,
            pad,
        };
        Self {
            takes: end(takes_pad),
            gives: end(gives_pad),
            is_reference: false,
        }
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message)
}
