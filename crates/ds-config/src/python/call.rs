//! Calls, taken apart.

use tree_sitter::Node;

use super::syntax::{items, source};

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
    pub(super) fn new(node: Node<'t>, text: &'t [u8]) -> Option<Self> {
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
    pub(super) fn argument(&self, position: Option<usize>, name: &str) -> Option<Node<'t>> {
        position
            .and_then(|position| self.positional.get(position).copied())
            .or_else(|| self.keyword(name))
    }

    fn keyword(&self, name: &str) -> Option<Node<'t>> {
        let (_, value) = self.keywords.iter().find(|(keyword, _)| *keyword == name)?;
        Some(*value)
    }
}

impl Call<'_> {
    /// Whether this is `Gst.ElementFactory.make`, or goes by the name of the old bindings.
    pub(super) fn makes_element(&self, text: &[u8]) -> bool {
        let receiver = self.receiver.map_or("", |node| source(node, text));
        self.name == "element_factory_make"
            || (self.name == "make" && receiver.split('.').next_back() == Some("ElementFactory"))
    }
}
