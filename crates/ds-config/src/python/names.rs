//! Which values the names of a Python file can hold.

use std::collections::HashMap;

use tree_sitter::Node;

use super::syntax::{Nodes, descendants, items, literal, source, span, unwrapped};
use super::{PyComputed, PyValue};
use crate::text_edit::Span;

/// How many names may lead from one to the next before a literal is reached.
const LONGEST_CHAIN: usize = 8;

/// Every scope and every binding of a file.
pub(super) struct Names<'t> {
    text: &'t [u8],
    nodes: &'t Nodes<'t>,
    /// Parents before children; the first one is the module.
    scopes: Vec<Scope>,
    bindings: HashMap<&'t str, Vec<Binding<'t>>>,
    /// Where each identifier stands that is not the name of a keyword argument.
    identifiers: HashMap<&'t str, Vec<Node<'t>>>,
    /// Names that hold a `ConfigParser`.
    config_parsers: Vec<&'t str>,
}

/// Where a chain of names leads.
pub(super) struct Lead<'t> {
    pub(super) value: Node<'t>,
    /// The names on the way, none for an expression that is no name.
    pub(super) names: Vec<Node<'t>>,
}

struct Scope {
    span: Span,
    is_class: bool,
}

struct Binding<'t> {
    target: Target,
    scope: usize,
    source: Source<'t>,
    offset: usize,
}

/// What is bound: a plain name, or an attribute of some object such as `self`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Name,
    Attribute,
}

/// What a name is bound to.
#[derive(Clone, Copy)]
enum Source<'t> {
    Value(Node<'t>),
    Parameter,
    /// A loop, an import, an augmented assignment, a `global` and the like.
    Other,
}

impl<'t> Names<'t> {
    pub(super) fn new(nodes: &'t Nodes<'t>, text: &'t [u8]) -> Self {
        let mut names = Self {
            text,
            nodes,
            scopes: vec![Scope {
                span: Span::new(0, text.len()),
                is_class: false,
            }],
            bindings: HashMap::new(),
            identifiers: HashMap::new(),
            config_parsers: Vec::new(),
        };
        for node in nodes.all() {
            if matches!(
                node.kind(),
                "function_definition" | "class_definition" | "lambda"
            ) {
                names.scopes.push(Scope {
                    span: span(node),
                    is_class: node.kind() == "class_definition",
                });
            }
        }
        for node in nodes.all() {
            names.take(node);
        }
        names
    }

    fn take(&mut self, node: Node<'t>) {
        match node.kind() {
            "assignment" => {
                let value = node.child_by_field_name("right");
                if let (Some(target), Some(value)) = (node.child_by_field_name("left"), value) {
                    self.bind(target, Source::Value(value));
                    let made = unwrapped(value).child_by_field_name("function");
                    let is_parser =
                        made.is_some_and(|made| source(made, self.text).ends_with("ConfigParser"));
                    if is_parser {
                        self.config_parsers.push(source(target, self.text));
                    }
                }
            }
            "augmented_assignment" | "for_statement" | "for_in_clause" => {
                self.bind_other(node.child_by_field_name("left"));
            }
            "named_expression" => self.bind_other(node.child_by_field_name("name")),
            "as_pattern_target"
            | "import_statement"
            | "import_from_statement"
            | "global_statement"
            | "nonlocal_statement" => self.bind_other(Some(node)),
            "function_definition" | "class_definition" => {
                self.bind_other(node.child_by_field_name("name"));
                self.bind_parameters(node);
            }
            "lambda" => self.bind_parameters(node),
            "identifier" if !self.names_a_keyword(node) => {
                let name = source(node, self.text);
                self.identifiers.entry(name).or_default().push(node);
            }
            _ => {}
        }
    }

    fn bind_parameters(&mut self, function: Node<'t>) {
        let Some(parameters) = function.child_by_field_name("parameters") else {
            return;
        };
        for parameter in items(parameters) {
            let name = parameter_name(parameter);
            if let Some(name) = name {
                let scope = self.scope_at(parameter.start_byte());
                self.push(name, Target::Name, scope, Source::Parameter);
            }
        }
    }

    /// Binds one target, or each name of a pattern without knowing its value.
    fn bind(&mut self, target: Node<'t>, value: Source<'t>) {
        let scope = self.scope_at(target.start_byte());
        match target.kind() {
            "identifier" => self.push(target, Target::Name, scope, value),
            "attribute" => {
                if let Some(attribute) = target.child_by_field_name("attribute") {
                    self.push(attribute, Target::Attribute, scope, value);
                }
            }
            _ => self.bind_other(Some(target)),
        }
    }

    fn bind_other(&mut self, target: Option<Node<'t>>) {
        for node in target.into_iter().flat_map(descendants) {
            if node.kind() == "identifier" {
                // A `global` in a function binds the name of the module there too.
                let is_global = self
                    .nodes
                    .ancestors(node)
                    .any(|node| node.kind() == "global_statement");
                let own = self.scope_at(node.start_byte());
                let scope = if is_global { 0 } else { own };
                let target = match self.nodes.parent(node).map(|parent| parent.kind()) {
                    Some("attribute") => Target::Attribute,
                    _ => Target::Name,
                };
                self.push(node, target, scope, Source::Other);
            }
        }
    }

    fn push(&mut self, name: Node<'t>, target: Target, scope: usize, held: Source<'t>) {
        let bindings = self.bindings.entry(source(name, self.text)).or_default();
        bindings.push(Binding {
            target,
            scope,
            source: held,
            offset: name.start_byte(),
        });
    }

    /// All bindings of a name, in any scope.
    fn bindings_named(&self, name: &str) -> &[Binding<'t>] {
        self.bindings.get(name).map_or(&[], Vec::as_slice)
    }

    /// The innermost scope that holds an offset.
    pub(super) fn scope_at(&self, offset: usize) -> usize {
        self.scopes
            .iter()
            .rposition(|scope| scope.span.start() <= offset && offset < scope.span.end())
            .unwrap_or(0)
    }

    /// Whether code in `inner` sees the names of `outer`.
    pub(super) fn sees(&self, inner: usize, outer: usize) -> bool {
        let (inner, outer) = (self.scopes[inner].span, self.scopes[outer].span);
        outer.start() <= inner.start() && inner.end() <= outer.end()
    }

    /// What an expression holds: a literal, a constant that leads to one, or something that only
    /// the running program knows.
    pub(super) fn value(&self, node: Node<'t>) -> PyValue {
        let node = unwrapped(node);
        if let Some(literal) = literal(node, self.text) {
            return PyValue::Literal(literal);
        }
        if matches!(node.kind(), "list" | "tuple") {
            let spread = items(node).iter().any(|item| item.kind() == "list_splat");
            if !spread {
                return PyValue::List {
                    items: items(node).len(),
                };
            }
        }
        if !matches!(node.kind(), "identifier" | "attribute") {
            return self.computed(node, PyComputed::Expression);
        }
        match self.follow(node) {
            Ok(lead) => match literal(lead.value, self.text) {
                Some(literal) => PyValue::Constant {
                    name: source(node, self.text).to_owned(),
                    other_uses: self.other_uses(&lead.names),
                    literal,
                },
                None if matches!(lead.value.kind(), "list" | "tuple") => self.value(lead.value),
                None => self.computed(lead.value, PyComputed::Expression),
            },
            Err(why) => self.computed(node, why),
        }
    }

    /// The one expression that a chain of names leads to; the expression itself where it is no
    /// name.
    pub(super) fn follow(&self, node: Node<'t>) -> Result<Lead<'t>, PyComputed> {
        let mut value = unwrapped(node);
        let mut names = Vec::new();
        while matches!(value.kind(), "identifier" | "attribute") {
            if names.len() == LONGEST_CHAIN {
                return Err(PyComputed::SeveralAssignments);
            }
            names.push(value);
            value = unwrapped(self.only_value(value)?);
        }
        Ok(Lead { value, names })
    }

    fn only_value(&self, node: Node<'t>) -> Result<Node<'t>, PyComputed> {
        let bindings = self.bindings_of(node);
        match bindings[..] {
            [] => Err(PyComputed::Unknown),
            [binding] => match binding.source {
                Source::Value(value) => Ok(value),
                Source::Parameter => Err(PyComputed::Parameter),
                Source::Other => Err(PyComputed::Expression),
            },
            _ if bindings.iter().any(|binding| self.is_from_config(binding)) => {
                Err(PyComputed::ConfigParser)
            }
            _ => Err(PyComputed::SeveralAssignments),
        }
    }

    /// The bindings that may give a name its value.
    ///
    /// An attribute is looked for in the whole file, for it is not known which objects are one.
    fn bindings_of(&self, node: Node<'t>) -> Vec<&Binding<'t>> {
        if node.kind() == "attribute" {
            let name = node.child_by_field_name("attribute");
            let name = name.map_or("", |name| source(name, self.text));
            let belongs = |binding: &&Binding<'t>| {
                binding.target == Target::Attribute || self.scopes[binding.scope].is_class
            };
            return self.bindings_named(name).iter().filter(belongs).collect();
        }
        let name = source(node, self.text);
        let here = self.scope_at(node.start_byte());
        for scope in (0..=here).rev() {
            // Code in a method does not see the names of its class.
            let visible = self.sees(here, scope) && (scope == here || !self.scopes[scope].is_class);
            if !visible {
                continue;
            }
            let found: Vec<_> = self
                .bindings_named(name)
                .iter()
                .filter(|binding| binding.scope == scope && binding.target == Target::Name)
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn computed(&self, node: Node<'t>, why: PyComputed) -> PyValue {
        let from_config = self.mentions_config(node);
        PyValue::Computed {
            expression: source(node, self.text).to_owned(),
            why: if from_config {
                PyComputed::ConfigParser
            } else {
                why
            },
        }
    }

    fn is_from_config(&self, binding: &Binding<'t>) -> bool {
        matches!(binding.source, Source::Value(value) if self.mentions_config(value))
    }

    fn mentions_config(&self, node: Node<'t>) -> bool {
        descendants(node).into_iter().any(|node| {
            matches!(node.kind(), "identifier" | "attribute")
                && self.config_parsers.contains(&source(node, self.text))
        })
    }

    /// The offsets of the places that read some names, those nodes themselves left out.
    pub(super) fn other_uses(&self, names: &[Node<'t>]) -> Vec<usize> {
        let mut offsets = Vec::new();
        for node in names {
            let attribute = node.child_by_field_name("attribute");
            let name = source(attribute.unwrap_or(*node), self.text);
            let bound = self.bindings_named(name).iter();
            let bound: Vec<_> = bound.map(|binding| binding.offset).collect();
            let uses = self.identifiers.get(name).map_or(&[][..], Vec::as_slice);
            let uses = uses.iter().map(|other| other.start_byte());
            offsets.extend(
                uses.filter(|offset| !bound.contains(offset))
                    .filter(|offset| !(node.start_byte()..node.end_byte()).contains(offset)),
            );
        }
        offsets
    }

    /// Whether an identifier is the `name` of `name=value`.
    fn names_a_keyword(&self, node: Node<'t>) -> bool {
        self.nodes.parent(node).is_some_and(|parent| {
            parent.kind() == "keyword_argument" && parent.child_by_field_name("name") == Some(node)
        })
    }

    /// The text that an expression leads to.
    pub(super) fn text_of(&self, node: Node<'t>) -> Option<String> {
        match self.value(node) {
            PyValue::Literal(literal) | PyValue::Constant { literal, .. } => Some(literal.text),
            PyValue::List { .. } | PyValue::Computed { .. } => None,
        }
    }
}

/// The name that a parameter binds.
pub(super) fn parameter_name(parameter: Node<'_>) -> Option<Node<'_>> {
    if parameter.kind() == "identifier" {
        return Some(parameter);
    }
    parameter.child_by_field_name("name").or_else(|| {
        let named = descendants(parameter);
        named.into_iter().find(|node| node.kind() == "identifier")
    })
}
