//! Functions of a program that make elements for it.

use tree_sitter::Node;

use super::call::Call;
use super::names::parameter_name;
use super::syntax::{Nodes, descendants, items, source};

/// A function of the file that makes an element from a parameter.
#[derive(Clone)]
pub(super) struct Wrapper<'t> {
    pub(super) name: &'t str,
    /// The call that makes the element.
    pub(super) made_at: Node<'t>,
    /// The parameters without `self`.
    pub(super) parameters: Vec<&'t str>,
    pub(super) factory: &'t str,
    pub(super) element_name: Option<&'t str>,
    pub(super) properties: Option<PropertiesParameter<'t>>,
}

/// The parameter through which a wrapper takes properties.
#[derive(Clone)]
pub(super) enum PropertiesParameter<'t> {
    Keywords,
    Mapping(&'t str),
}

impl<'t> Wrapper<'t> {
    /// The function round a call that makes an element from one of its parameters.
    pub(super) fn around(call: &Call<'t>, nodes: &Nodes<'t>, text: &'t [u8]) -> Option<Self> {
        if !call.makes_element(text) {
            return None;
        }
        let mut around = nodes.ancestors(call.node);
        let function = around.find(|node| node.kind() == "function_definition")?;
        let parameters: Vec<_> = items(function.child_by_field_name("parameters")?)
            .into_iter()
            .filter_map(|parameter| {
                let name = source(parameter_name(parameter)?, text);
                Some((name, parameter.kind() == "dictionary_splat_pattern"))
            })
            .filter(|(name, _)| !matches!(*name, "self" | "cls"))
            .collect();
        let as_parameter = |node: Option<Node<'t>>| {
            let written = source(node?, text);
            let (name, _) = parameters.iter().find(|(name, _)| *name == written)?;
            Some(*name)
        };
        let factory = as_parameter(call.argument(Some(0), "factory_name"))?;
        let properties = parameters.iter().find_map(|(name, is_splat)| {
            if !sets_each_item(function, name, text) {
                None
            } else if *is_splat {
                Some(PropertiesParameter::Keywords)
            } else {
                Some(PropertiesParameter::Mapping(name))
            }
        });
        Some(Self {
            name: source(function.child_by_field_name("name")?, text),
            made_at: call.node,
            factory,
            element_name: as_parameter(call.argument(Some(1), "name")),
            properties,
            parameters: parameters.iter().map(|(name, _)| *name).collect(),
        })
    }

    /// The position of a parameter.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|held| *held == name)
    }
}

/// Whether a function loops over a mapping and sets a property from each of its items.
fn sets_each_item(function: Node<'_>, mapping: &str, text: &[u8]) -> bool {
    descendants(function).into_iter().any(|node| {
        let over = node.child_by_field_name("right");
        let looped = over.is_some_and(|over| {
            let names = descendants(over);
            names.into_iter().any(|node| source(node, text) == mapping)
        });
        node.kind() == "for_statement" && looped && source(node, text).contains("set_property")
    })
}
