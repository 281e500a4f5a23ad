//! The calls that make elements and set their properties.

use tree_sitter::Node;

use super::edit::Insertion;
use super::names::{Names, parameter_name};
use super::syntax::{ancestors, descendants, items, quote, source, span, statement};
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

/// A call, taken apart.
#[derive(Clone)]
pub(super) struct Call<'t> {
    pub(super) node: Node<'t>,
    /// The last name of what is called: `make` of `Gst.ElementFactory.make`.
    pub(super) name: &'t str,
    /// What stands before that name.
    pub(super) receiver: Option<Node<'t>>,
    pub(super) arguments: Node<'t>,
    pub(super) positional: Vec<Node<'t>>,
    /// Names and values of the keyword arguments.
    pub(super) keywords: Vec<(&'t str, Node<'t>)>,
    /// Arguments of the form `**props`.
    pub(super) splats: Vec<Node<'t>>,
}

impl<'t> Call<'t> {
    fn new(node: Node<'t>, text: &'t [u8]) -> Option<Self> {
        let function = node.child_by_field_name("function")?;
        let arguments = node.child_by_field_name("arguments")?;
        let (receiver, name) = match function.kind() {
            "identifier" => (None, source(function, text)),
            "attribute" => (
                function.child_by_field_name("object"),
                source(function.child_by_field_name("attribute")?, text),
            ),
            _ => return None,
        };
        let mut call = Self {
            node,
            name,
            receiver,
            arguments,
            positional: Vec::new(),
            keywords: Vec::new(),
            splats: Vec::new(),
        };
        for argument in items(arguments) {
            let name = argument.child_by_field_name("name");
            let value = argument.child_by_field_name("value");
            match (argument.kind(), name, value) {
                ("keyword_argument", Some(name), Some(value)) => {
                    call.keywords.push((source(name, text), value));
                }
                ("dictionary_splat", _, _) => call.splats.extend(items(argument)),
                _ => call.positional.push(argument),
            }
        }
        Some(call)
    }

    /// An argument by its position or its name.
    fn argument(&self, position: Option<usize>, name: &str) -> Option<Node<'t>> {
        position
            .and_then(|position| self.positional.get(position).copied())
            .or_else(|| self.keyword(name))
    }

    fn keyword(&self, name: &str) -> Option<Node<'t>> {
        let (_, value) = self.keywords.iter().find(|(keyword, _)| *keyword == name)?;
        Some(*value)
    }
}

/// A function of the file that makes an element from a parameter.
struct Wrapper<'t> {
    name: &'t str,
    span: Span,
    /// The parameters without `self`.
    parameters: Vec<&'t str>,
    factory: &'t str,
    element_name: Option<&'t str>,
    properties: Option<PropertiesParameter<'t>>,
}

/// The parameter through which a wrapper takes properties.
enum PropertiesParameter<'t> {
    Keywords,
    Mapping(&'t str),
}

/// The search through one file.
pub(super) struct Finder<'t> {
    pub(super) text: &'t [u8],
    pub(super) names: Names<'t>,
    pub(super) elements: Vec<PyElement>,
    /// The creating call of each element, and the calls that set its properties.
    sites: Vec<Vec<Node<'t>>>,
    /// Targets and values of all assignments.
    assignments: Vec<(Node<'t>, Node<'t>)>,
    /// The names that hold a Flow.
    pub(super) flows: Vec<&'t str>,
}

pub(super) fn find(root: Node<'_>, text: &[u8], lines: &LineIndex) -> Found {
    let nodes = descendants(root);
    let mut calls: Vec<_> = nodes
        .iter()
        .filter(|node| node.kind() == "call")
        .filter_map(|node| Call::new(*node, text))
        .collect();
    // The calls of a chain begin at one offset; their arguments come in the order of running.
    calls.sort_by_key(|call| call.arguments.start_byte());
    let assignments = nodes.iter().filter(|node| node.kind() == "assignment");
    let assignments = assignments.filter_map(|node| {
        let target = node.child_by_field_name("left")?;
        Some((target, node.child_by_field_name("right")?))
    });
    let assignments: Vec<_> = assignments.collect();
    let mut finder = Finder {
        text,
        names: Names::new(root, text),
        elements: Vec::new(),
        sites: Vec::new(),
        flows: service_maker::flows(&assignments, text),
        assignments,
    };
    let wrappers: Vec<_> = calls
        .iter()
        .filter_map(|call| finder.wrapper(call))
        .collect();
    let imports_service_maker = nodes.iter().any(|node| {
        matches!(node.kind(), "import_statement" | "import_from_statement")
            && source(*node, text).contains("pyservicemaker")
    });
    let mut launches = Vec::new();
    for call in &calls {
        let inside_wrapper = wrappers.iter().any(|wrapper| {
            wrapper.span.start() <= call.node.start_byte()
                && call.node.end_byte() <= wrapper.span.end()
        });
        if is_element_factory(call, text) {
            if !inside_wrapper {
                finder.made(call);
            }
        } else if let Some(wrapper) = wrappers.iter().find(|wrapper| wrapper.name == call.name) {
            finder.wrapped(call, wrapper);
        } else if call.name == "set_property" {
            finder.set_property(call);
        } else if matches!(call.name, "parse_launch" | "parse_bin_from_description") {
            launches.extend(launch::read(call, &finder.names, text, lines));
        } else if imports_service_maker {
            service_maker::take(&mut finder, call);
        }
    }
    for (target, value) in finder.assignments.clone() {
        finder.props_assignment(target, value);
    }
    let environment = finder
        .assignments
        .iter()
        .filter_map(|(target, value)| environment(*target, *value, &finder.names, text))
        .collect();
    finder.settle_insertions();
    let broken = nodes
        .iter()
        .filter(|node| node.is_error() || node.is_missing());
    let mut elements = finder.elements;
    elements.sort_by_key(|element| element.span.start());
    Found {
        elements,
        launches,
        environment,
        n_errors: broken.count(),
    }
}

/// `Gst.ElementFactory.make`, and the name of the old bindings.
fn is_element_factory(call: &Call<'_>, text: &[u8]) -> bool {
    let receiver = call.receiver.map_or("", |node| source(node, text));
    call.name == "element_factory_make"
        || (call.name == "make" && receiver.split('.').next_back() == Some("ElementFactory"))
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
    /// The function round a call that makes an element from one of its parameters.
    fn wrapper(&self, call: &Call<'t>) -> Option<Wrapper<'t>> {
        if !is_element_factory(call, self.text) {
            return None;
        }
        let function = ancestors(call.node).find(|node| node.kind() == "function_definition")?;
        let parameters: Vec<_> = items(function.child_by_field_name("parameters")?)
            .into_iter()
            .filter_map(|parameter| {
                let name = source(parameter_name(parameter)?, self.text);
                Some((name, parameter.kind() == "dictionary_splat_pattern"))
            })
            .filter(|(name, _)| !matches!(*name, "self" | "cls"))
            .collect();
        let as_parameter = |node: Option<Node<'t>>| {
            let written = source(node?, self.text);
            let (name, _) = parameters.iter().find(|(name, _)| *name == written)?;
            Some(*name)
        };
        let factory = as_parameter(call.argument(Some(0), "factory_name"))?;
        let properties = parameters.iter().find_map(|(name, is_splat)| {
            if !self.sets_each_item(function, name) {
                None
            } else if *is_splat {
                Some(PropertiesParameter::Keywords)
            } else {
                Some(PropertiesParameter::Mapping(name))
            }
        });
        Some(Wrapper {
            name: source(function.child_by_field_name("name")?, self.text),
            span: span(function),
            factory,
            element_name: as_parameter(call.argument(Some(1), "name")),
            properties,
            parameters: parameters.iter().map(|(name, _)| *name).collect(),
        })
    }

    /// Whether a function loops over a mapping and sets a property from each of its items.
    fn sets_each_item(&self, function: Node<'t>, mapping: &str) -> bool {
        descendants(function).into_iter().any(|node| {
            let over = node.child_by_field_name("right");
            let looped = over.is_some_and(|over| {
                let names = descendants(over);
                names
                    .into_iter()
                    .any(|node| source(node, self.text) == mapping)
            });
            node.kind() == "for_statement"
                && looped
                && source(node, self.text).contains("set_property")
        })
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
    fn wrapped(&mut self, call: &Call<'t>, wrapper: &Wrapper<'t>) {
        let position = |name: &str| wrapper.parameters.iter().position(|held| *held == name);
        let text = |name: &str| {
            let node = call.argument(position(name), name)?;
            self.names.text_of(node)
        };
        let factory = text(wrapper.factory);
        let name = wrapper.element_name.and_then(text);
        let origin = PyOrigin::Wrapper(wrapper.name.to_owned());
        let element = self.push(call, origin, factory, name);
        match wrapper.properties {
            Some(PropertiesParameter::Keywords) => {
                for (name, value) in &call.keywords {
                    if position(name).is_none() {
                        self.add_property(element, name, *value);
                    }
                }
            }
            Some(PropertiesParameter::Mapping(parameter)) => {
                if let Some(mapping) = call.argument(position(parameter), parameter) {
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
            let scope = self.names.scope_at(element.span.start());
            element.variable.as_deref() == Some(variable)
                && (is_attribute || self.names.sees(here, scope))
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
        let variable = assigned_variable(call.node, self.text);
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
        let looped = ancestors(site).any(|node| {
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
        let broken = statement(value).is_some_and(|statement| {
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
        self.elements[element].properties.push(PyProperty {
            name: hyphenated(name),
            span: span(value),
            value: held,
            block: statement(value)
                .and_then(|statement| statement.parent())
                .map_or(0, |block| block.start_byte()),
        });
    }

    /// Adds the pairs of a dictionary that is written out, here or where a name leads to. Gives
    /// the dictionary.
    pub(super) fn add_mapping(&mut self, element: usize, mapping: Node<'t>) -> Option<Node<'t>> {
        let mapping = self.names.follow(mapping).ok()?;
        if mapping.kind() != "dictionary" {
            return None;
        }
        for pair in items(mapping) {
            let key = pair.child_by_field_name("key");
            let name = key.and_then(|key| self.names.text_of(key));
            if let (Some(name), Some(value)) = (name, pair.child_by_field_name("value")) {
                self.add_property(element, &name, value);
            }
        }
        Some(mapping)
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
            let Some(made) = statement(*made).filter(|_| by_statement) else {
                continue;
            };
            let beside = |node: &Node<'t>| node.parent() == made.parent();
            let last = setters
                .iter()
                .filter_map(|setter| statement(*setter))
                .rfind(beside);
            let check = made
                .next_named_sibling()
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

/// The variable or attribute to which a statement assigns the result of a call.
fn assigned_variable(call: Node<'_>, text: &[u8]) -> Option<String> {
    let through = |node: &Node<'_>| {
        matches!(
            node.kind(),
            "call" | "boolean_operator" | "parenthesized_expression"
        )
    };
    let holder = ancestors(call).skip(1).find(|node| !through(node))?;
    let target = match holder.kind() {
        "assignment" => holder.child_by_field_name("left")?,
        "named_expression" => holder.child_by_field_name("name")?,
        _ => return None,
    };
    matches!(target.kind(), "identifier" | "attribute").then(|| source(target, text).to_owned())
}
