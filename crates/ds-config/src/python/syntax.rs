//! The syntax tree of a Python file, and what is read off single nodes of it.

use std::collections::HashMap;

use tree_sitter::{Node, Parser, Tree};

use super::{PyKind, PyLiteral};
use crate::error::{Error, ErrorKind};
use crate::line_index::LineIndex;
use crate::text_edit::Span;

/// Parses a file; refuses what Python 3 cannot run.
pub(super) fn parse(text: &[u8], lines: &LineIndex) -> Result<Tree, Error> {
    if let Err(error) = str::from_utf8(text)
        && !declares_encoding(text)
    {
        let place = lines.place(text, error.valid_up_to());
        let message = "a byte that is not UTF-8 in a file that declares no encoding";
        return Err(Error::new(ErrorKind::Refused, message).at(place));
    }
    let mut parser = Parser::new();
    let language = tree_sitter_python::LANGUAGE.into();
    parser
        .set_language(&language)
        .expect("the grammar was built for this version of the library");
    let tree = parser
        .parse(text, None)
        .expect("a parser with a language and without a time limit ends with a tree");
    let python2 = |node: &Node<'_>| matches!(node.kind(), "print_statement" | "exec_statement");
    if let Some(node) = descendants(tree.root_node()).into_iter().find(python2) {
        let place = lines.place(text, node.start_byte());
        let message = "a Python 2 statement: DeepStream's Python bindings need Python 3, so the \
                       values have to be set by hand";
        return Err(Error::new(ErrorKind::Declined, message).at(place));
    }
    Ok(tree)
}

/// Whether one of the first two lines names an encoding, as Python looks for it.
fn declares_encoding(text: &[u8]) -> bool {
    let head = text.split(|byte| *byte == b'\n').take(2);
    head.filter(|line| line.trim_ascii_start().starts_with(b"#"))
        .any(|line| line.windows(6).any(|window| window == b"coding"))
}

/// All nodes of a tree with the way up, which the tree itself only finds from its root.
pub(super) struct Nodes<'t> {
    all: Vec<Node<'t>>,
    parents: HashMap<usize, Node<'t>>,
}

impl<'t> Nodes<'t> {
    pub(super) fn new(root: Node<'t>) -> Self {
        let all = descendants(root);
        let mut parents = HashMap::with_capacity(all.len());
        let mut cursor = root.walk();
        for node in &all {
            for child in node.children(&mut cursor) {
                parents.insert(child.id(), *node);
            }
        }
        Self { all, parents }
    }

    /// The nodes in the order of the text, parents before children.
    pub(super) fn all(&self) -> impl Iterator<Item = Node<'t>> {
        self.all.iter().copied()
    }

    pub(super) fn parent(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.parents.get(&node.id()).copied()
    }

    /// The first node behind another one.
    pub(super) fn following(&self, node: Node<'t>) -> Option<Node<'t>> {
        let end = node.end_byte();
        let index = self.all.partition_point(|other| other.start_byte() < end);
        self.all.get(index).copied()
    }

    /// A node and the nodes round it, from the inside out.
    pub(super) fn ancestors(&self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
        std::iter::successors(Some(node), |node| self.parent(*node))
    }

    /// The statement that holds a node, where it stands in a block or at the top of the file.
    pub(super) fn statement(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.ancestors(node).find(|node| {
            self.parent(*node)
                .is_some_and(|parent| matches!(parent.kind(), "block" | "module"))
        })
    }
}

/// A node and all below it, in the order of the text.
pub(super) fn descendants(root: Node<'_>) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut cursor = root.walk();
    loop {
        nodes.push(cursor.node());
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return nodes;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// The children that are no punctuation and no comments.
pub(super) fn items(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

pub(super) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The source of a node; bytes that are not UTF-8 make it empty.
pub(super) fn source<'t>(node: Node<'_>, text: &'t [u8]) -> &'t str {
    node.utf8_text(text).unwrap_or_default()
}

/// The expression inside parentheses.
pub(super) fn unwrapped(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while node.kind() == "parenthesized_expression"
        && let [inner] = items(node)[..]
    {
        node = inner;
    }
    node
}

/// The literal that a node is: a number, a text without insertions, or a flag.
pub(super) fn literal(node: Node<'_>, text: &[u8]) -> Option<PyLiteral> {
    let node = unwrapped(node);
    let (kind, value) = match node.kind() {
        "integer" | "float" => (PyKind::Number, source(node, text).to_owned()),
        "unary_operator" => {
            let operand = node.child_by_field_name("argument")?;
            let negative = source(node, text).starts_with('-');
            if !negative || !matches!(operand.kind(), "integer" | "float") {
                return None;
            }
            (PyKind::Number, format!("-{}", source(operand, text)))
        }
        "true" => (PyKind::Flag, "True".to_owned()),
        "false" => (PyKind::Flag, "False".to_owned()),
        "string" => (PyKind::Text, string_value(node, text)?),
        "concatenated_string" => {
            let parts = items(node);
            let parts = parts.into_iter().map(|part| string_value(part, text));
            (PyKind::Text, parts.collect::<Option<String>>()?)
        }
        _ => return None,
    };
    Some(PyLiteral {
        kind,
        text: value,
        span: span(node),
    })
}

/// The text that a string literal stands for; `None` with insertions, and for bytes.
fn string_value(node: Node<'_>, text: &[u8]) -> Option<String> {
    let mut cursor = node.walk();
    let children: Vec<_> = node.named_children(&mut cursor).collect();
    if children.iter().any(|child| child.kind() == "interpolation") {
        return None;
    }
    let prefix = prefix(node, text);
    if prefix.contains(['b', 'B']) {
        return None;
    }
    let raw = prefix.contains(['r', 'R']);
    let formatted = prefix.contains(['f', 'F']);
    let mut value = String::new();
    for content in children
        .iter()
        .filter(|child| child.kind() == "string_content")
    {
        let content = source(*content, text);
        let content = if raw {
            content.to_owned()
        } else {
            unescaped(content)
        };
        if formatted {
            value += &content.replace("{{", "{").replace("}}", "}");
        } else {
            value += &content;
        }
    }
    Some(value)
}

/// The letters before the opening quote of a string.
pub(super) fn prefix<'t>(node: Node<'_>, text: &'t [u8]) -> &'t str {
    node.child(0).map_or("", |start| {
        source(start, text).trim_end_matches(['"', '\''])
    })
}

/// The quote of a string literal, of the first one of several.
pub(super) fn quote(node: Node<'_>, text: &[u8]) -> Option<char> {
    let string = match node.kind() {
        "string" => node,
        "concatenated_string" => *items(node).first()?,
        _ => return None,
    };
    source(string.child(0)?, text).chars().last()
}

/// Resolves the escapes that occur in names, paths and pipeline texts; others stay as written.
fn unescaped(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut chars = content.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') | None => {}
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(same @ ('\\' | '\'' | '"')) => out.push(same),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}
