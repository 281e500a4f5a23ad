//! The calls that make elements and set their properties.

use tree_sitter::Node;

use super::call::Call;
use super::insertion::Insertion;
use super::names::Names;
use super::syntax::{Nodes, descendants, items, quote, source, span};
use super::wrapper::{PropertiesParameter, Wrapper};
use super::{
    PyComputed, PyCount, PyElement, PyLaunch, PyOrigin, PyProperty, PyValue, hyphenated, launch,
    service_maker,
};
use crate::line_index::LineIndex;
use crate::text_edit::Span;

/// What a file holds.
pub(super) struct Found {
    pub(super) elements: Vec<PyElement>,
    pub(super) launches: Vec<PyLaunch>,
    pub(super) environment: Vec<(String, String)>,
    /// How many places do not parse.
    pub(super) n_errors: usize,
}

/// The search through one file.
pub(super) struct Finder<'t> {
    pub(super) text: &'t [u8],
    nodes: &'t Nodes<'t>,
    pub(super) names: Names<'t>,
    pub(super) elements: Vec<PyElement>,
    /// The creating call of each element, and the calls that set its properties.
    sites: Vec<Vec<Node<'t>>>,
    launches: Vec<PyLaunch>,
    /// The functions of the file that make elements.
    wrappers: Vec<Wrapper<'t>>,
    /// Whether the file imports pyservicemaker.
    service_maker: bool,
    /// The names that hold a Flow.
    pub(super) flows: Vec<&'t str>,
}

pub(super) fn find(root: Node<'_>, text: &[u8], lines: &LineIndex) -> Found {
    let nodes = Nodes::new(root);
    let assignments = nodes.all().filter(|node| node.kind() == "assignment");
    let assignments: Vec<_> = assignments
        .filter_map(|node| {
            let target = node.child_by_field_name("left")?;
            Some((target, node.child_by_field_name("right")?))
        })
        .collect();
    let calls: Vec<_> = nodes
        .all()
        .filter(|node| node.kind() == "call")
        .filter_map(|node| Call::new(node, text))
        .collect();
    let wrappers: Vec<_> = calls
        .iter()
        .filter_map(|call| Wrapper::around(call, &nodes, text))
        .collect();
    let mut finder = Finder {
        text,
        nodes: &nodes,
        names: Names::new(&nodes, text),
        elements: Vec::new(),
        launches: Vec::new(),
        sites: Vec::new(),
        wrappers,
        flows: service_maker::flows(&assignments, text),
        service_maker: nodes.all().any(|node| {
            matches!(node.kind(), "import_statement" | "import_from_statement")
                && source(node, text).contains("pyservicemaker")
        }),
    };
    let environment = assignments
        .iter()
        .filter_map(|(target, value)| environment(*target, *value, &finder.names, text))
        .collect();
    // The calls of a chain begin at one offset; their arguments come in the order of running.
    let calls = calls.into_iter().map(Action::Call);
    let assignments = assignments.into_iter().map(Action::Assignment);
    let mut actions: Vec<_> = calls.chain(assignments).collect();
    actions.sort_by_key(Action::offset);
    for action in actions {
        match action {
            Action::Call(call) => finder.call(&call, lines),
            Action::Assignment((target, value)) => finder.props_assignment(target, value),
        }
    }
    finder.settle_insertions();
    let mut elements = finder.elements;
    elements.sort_by_key(|element| element.span.start());
    let broken = nodes
        .all()
        .filter(|node| node.is_error() || node.is_missing());
    Found {
        elements,
        launches: finder.launches,
        environment,
        n_errors: broken.count(),
    }
}

/// The dictionary that an expression leads to.
pub(super) enum Mapping<'t> {
    /// One that is used here only.
    Own(Node<'t>),
    /// One that is used in other places too.
    Shared,
    /// None that is written out.
    Computed,
}

/// What a program does that may concern an element.
enum Action<'t> {
    Call(Call<'t>),
    Assignment((Node<'t>, Node<'t>)),
}

impl Action<'_> {
    fn offset(&self) -> usize {
        match self {
            Self::Call(call) => call.arguments.start_byte(),
            Self::Assignment((target, _)) => target.start_byte(),
        }
    }
}

/// `os.environ["NAME"] = "value"`.
fn environment<'t>(
    target: Node<'t>,
    value: Node<'t>,
    names: &Names<'t>,
    text: &[u8],
) -> Option<(String, String)> {
    let map = target.child_by_field_name("value")?;
    if target.kind() != "subscript" || source(map, text) != "os.environ" {
        return None;
    }
    let key = names.text_of(target.child_by_field_name("subscript")?)?;
    Some((key, names.text_of(value)?))
}

impl<'t> Finder<'t> {
    fn call(&mut self, call: &Call<'t>, lines: &LineIndex) {
        if call.makes_element(self.text) {
            if !self
                .wrappers
                .iter()
                .any(|wrapper| wrapper.made_at == call.node)
            {
                self.made(call);
            }
        } else if self
            .wrappers
            .iter()
            .any(|wrapper| wrapper.name == call.name)
        {
            self.wrapped(call);
        } else if call.name == "set_property" {
            self.set_property(call);
        } else if matches!(call.name, "parse_launch" | "parse_bin_from_description") {
            let launch = launch::read(call, &self.names, self.text, lines);
            self.launches.extend(launch);
        } else if self.service_maker {
            service_maker::take(self, call);
        }
    }

    /// An element made by `Gst.ElementFactory.make`.
    fn made(&mut self, call: &Call<'t>) {
        let factory = call.argument(Some(0), "factory_name");
        let factory = factory.and_then(|node| self.names.text_of(node));
        let name = call.argument(Some(1), "name");
        let name = name.and_then(|node| self.names.text_of(node));
        self.push(call, PyOrigin::ElementFactory, factory, name);
    }

    /// An element made through a function of the file.
    fn wrapped(&mut self, call: &Call<'t>) {
        let known = self.wrappers.iter().find(|held| held.name == call.name);
        let Some(wrapper) = known.cloned() else {
            return;
        };
        let argument = |name: &str| call.argument(wrapper.position(name), name);
        let text = |name: &str| self.names.text_of(argument(name)?);
        let factory = text(wrapper.factory);
        let name = wrapper.element_name.and_then(text);
        let origin = PyOrigin::Wrapper(wrapper.name.to_owned());
        let element = self.push(call, origin, factory, name);
        match wrapper.properties {
            Some(PropertiesParameter::Keywords) => {
                for (name, value) in &call.keywords {
                    if wrapper.position(name).is_none() {
                        self.add_property(element, name, *value);
                    }
                }
            }
            Some(PropertiesParameter::Mapping(parameter)) => {
                if let Some(mapping) = argument(parameter) {
                    self.add_mapping(element, mapping);
                }
            }
            None => {}
        }
    }

    /// `element.set_property("name", value)`.
    fn set_property(&mut self, call: &Call<'t>) {
        let ([name, value, ..], Some(receiver)) = (&call.positional[..], call.receiver) else {
            return;
        };
        if let Some(name) = self.names.text_of(*name) {
            let element = self.element_of(receiver, call.node);
            self.add_property(element, &name, *value);
            self.sites[element].push(call.node);
        }
    }

    /// `element.props.name = value`.
    fn props_assignment(&mut self, target: Node<'t>, value: Node<'t>) {
        let props = target.child_by_field_name("object");
        let name = target.child_by_field_name("attribute");
        let (Some(props), Some(name)) = (props, name) else {
            return;
        };
        let is_props = props
            .child_by_field_name("attribute")
            .is_some_and(|attribute| source(attribute, self.text) == "props");
        if let Some(object) = props.child_by_field_name("object").filter(|_| is_props) {
            let element = self.element_of(object, target);
            self.add_property(element, source(name, self.text), value);
            self.sites[element].push(target);
        }
    }

    /// The element that a variable holds at a place: the last one assigned to it before, or else
    /// one of its own whose origin is not in sight.
    fn element_of(&mut self, receiver: Node<'t>, site: Node<'t>) -> usize {
        let variable = source(receiver, self.text);
        let here = self.names.scope_at(site.start_byte());
        let is_attribute = receiver.kind() == "attribute";
        let candidates = self.elements.iter().enumerate().filter(|(_, element)| {
            let seen = || {
                let scope = self.names.scope_at(element.span.start());
                self.names.sees(here, scope)
            };
            element.variable.as_deref() == Some(variable) && (is_attribute || seen())
        });
        let indices: Vec<_> = candidates
            .map(|(index, element)| (index, element.span.start() < site.start_byte()))
            .collect();
        let before = indices.iter().rfind(|(_, before)| *before);
        match before.or_else(|| indices.first().filter(|_| is_attribute)) {
            Some((index, _)) => *index,
            None => self.push_element(site, PyOrigin::Unknown, Some(variable.to_owned())),
        }
    }

    /// Adds an element that a call makes; gives its index.
    pub(super) fn push(
        &mut self,
        call: &Call<'t>,
        origin: PyOrigin,
        factory: Option<String>,
        name: Option<String>,
    ) -> usize {
        let variable = self.assigned_variable(call.node);
        let element = self.push_element(call.node, origin, variable);
        // The calls of a chain begin at one offset, so that of the arguments orders them.
        self.elements[element].span =
            Span::new(call.arguments.start_byte(), call.arguments.end_byte());
        self.elements[element].factory = factory;
        self.elements[element].name = name;
        element
    }

    fn push_element(
        &mut self,
        site: Node<'t>,
        origin: PyOrigin,
        variable: Option<String>,
    ) -> usize {
        let looped = self.nodes.ancestors(site).any(|node| {
            matches!(
                node.kind(),
                "for_statement" | "while_statement" | "list_comprehension"
            )
        });
        self.elements.push(PyElement {
            origin,
            factory: None,
            name: None,
            variable,
            count: if looped { PyCount::Loop } else { PyCount::One },
            span: span(site),
            properties: Vec::new(),
            insertion: Insertion::None,
        });
        self.sites.push(vec![site]);
        self.elements.len() - 1
    }

    pub(super) fn add_property(&mut self, element: usize, name: &str, value: Node<'t>) {
        let statement = self.nodes.statement(value);
        let broken = statement.is_some_and(|statement| {
            statement.has_error() && statement.child_by_field_name("body").is_none()
        });
        let held = if broken {
            PyValue::Computed {
                expression: source(value, self.text).to_owned(),
                why: PyComputed::SyntaxError,
            }
        } else {
            self.names.value(value)
        };
        let block = statement.and_then(|statement| self.nodes.parent(statement));
        self.elements[element].properties.push(PyProperty {
            name: hyphenated(name),
            span: span(value),
            value: held,
            block: block.map_or(0, |block| block.start_byte()),
        });
    }

    /// Adds the pairs of a dictionary that is written out, here or where a name leads to.
    pub(super) fn add_mapping(&mut self, element: usize, mapping: Node<'t>) -> Mapping<'t> {
        let Ok(lead) = self.names.follow(mapping) else {
            return Mapping::Computed;
        };
        if lead.value.kind() != "dictionary" {
            return Mapping::Computed;
        }
        let other_uses = self.names.other_uses(&lead.names);
        for pair in items(lead.value) {
            let key = pair.child_by_field_name("key");
            let name = key.and_then(|key| self.names.text_of(key));
            if let (Some(name), Some(value)) = (name, pair.child_by_field_name("value")) {
                self.add_property(element, &name, value);
                self.share(element, mapping, &other_uses);
            }
        }
        if other_uses.is_empty() {
            Mapping::Own(lead.value)
        } else {
            Mapping::Shared
        }
    }

    /// Marks the last property of an element as part of a dictionary that has other uses, so that
    /// an edit does not reach further than asked.
    fn share(&mut self, element: usize, mapping: Node<'t>, uses: &[usize]) {
        let property = self.elements[element].properties.last_mut();
        let literal = property
            .as_ref()
            .and_then(|held| held.value.literal().cloned());
        if let (Some(property), Some(literal), false) = (property, literal, uses.is_empty()) {
            property.value = PyValue::Constant {
                name: source(mapping, self.text).to_owned(),
                literal,
                other_uses: uses.to_vec(),
            };
        }
    }

    /// The variable or attribute to which a statement assigns the result of a call.
    fn assigned_variable(&self, call: Node<'t>) -> Option<String> {
        let through = |node: &Node<'_>| {
            matches!(
                node.kind(),
                "call" | "boolean_operator" | "parenthesized_expression"
            )
        };
        let holder = self
            .nodes
            .ancestors(call)
            .skip(1)
            .find(|node| !through(node))?;
        let target = match holder.kind() {
            "assignment" => holder.child_by_field_name("left")?,
            "named_expression" => holder.child_by_field_name("name")?,
            _ => return None,
        };
        matches!(target.kind(), "identifier" | "attribute")
            .then(|| source(target, self.text).to_owned())
    }

    /// Decides where each element of the `ElementFactory` style takes a new property.
    fn settle_insertions(&mut self) {
        for (element, sites) in self.elements.iter_mut().zip(&self.sites) {
            let by_statement = matches!(
                element.origin,
                PyOrigin::ElementFactory | PyOrigin::Wrapper(_) | PyOrigin::Unknown
            );
            let (Some(variable), [made, setters @ ..]) = (&element.variable, &sites[..]) else {
                continue;
            };
            let Some(made) = self.nodes.statement(*made).filter(|_| by_statement) else {
                continue;
            };
            let beside = |node: &Node<'t>| self.nodes.parent(*node) == self.nodes.parent(made);
            let last = setters
                .iter()
                .filter_map(|setter| self.nodes.statement(*setter))
                .rfind(beside);
            let check = self
                .nodes
                .following(made)
                .filter(|next| next.kind() == "if_statement")
                .filter(|next| is_check_of(*next, variable, self.text));
            let quote = sites
                .iter()
                .find_map(|site| first_quote(*site, self.text))
                .unwrap_or('"');
            let after = last.or(check).unwrap_or(made);
            element.insertion = Insertion::statement(self.text, after, made, variable, quote);
        }
    }
}

/// Whether a statement is `if not variable:`, which must stay behind the call that it checks.
fn is_check_of(statement: Node<'_>, variable: &str, text: &[u8]) -> bool {
    statement
        .child_by_field_name("condition")
        .is_some_and(|condition| {
            let condition = source(condition, text);
            let condition = condition.trim_matches(['(', ')']);
            let condition = condition.trim_start_matches("not ");
            condition.trim_end_matches(" is None") == variable
        })
}

/// The quote of the first string inside a node.
pub(super) fn first_quote(node: Node<'_>, text: &[u8]) -> Option<char> {
    descendants(node)
        .into_iter()
        .find_map(|node| quote(node, text))
}
