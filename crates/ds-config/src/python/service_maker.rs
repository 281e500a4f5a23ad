//! pyservicemaker: `Pipeline.add` with a dictionary or keywords, and the steps of a Flow.

use tree_sitter::Node;

use super::call::Call;
use super::finder::{Finder, Mapping, first_quote};
use super::insertion::Insertion;
use super::syntax::{source, unwrapped};
use super::{PyElement, PyOrigin};

/// The steps of a Flow that take a file or the sources first, and the name under which that
/// argument is reported (pyservicemaker of DeepStream 9.1, `flow.py`). All other knobs are keyword
/// arguments.
const FIRST_ARGUMENTS: &[(&str, &str)] = &[
    ("batch_capture", "sources"),
    ("capture", "sources"),
    ("preprocess", "config"),
    ("infer", "config"),
    ("analyze", "config"),
];

pub(super) fn take<'t>(finder: &mut Finder<'t>, call: &Call<'t>) {
    let Some(receiver) = call.receiver else {
        return;
    };
    if leads_to_flow(&finder.flows, receiver, finder.text) {
        flow_step(finder, call);
    } else if call.name == "add" {
        pipeline_add(finder, call);
    } else if call.name == "set" && receiver.kind() == "subscript" {
        pipeline_set(finder, call, receiver);
    }
}

/// `pipeline.add("nvstreammux", "mux", {"batch-size": 4})`, or with `batch_size=4`.
fn pipeline_add<'t>(finder: &mut Finder<'t>, call: &Call<'t>) {
    let [factory, name, more @ ..] = &call.positional[..] else {
        return;
    };
    // Any other `add` takes objects, not the names of a factory and an element.
    let Some(factory) = finder.names.text_of(*factory) else {
        return;
    };
    let name = finder.names.text_of(*name);
    let element = finder.push(call, PyOrigin::ServiceMaker, Some(factory), name);
    let mapping = more.first().copied().or_else(|| {
        call.keywords
            .iter()
            .find(|(name, _)| *name == "properties")
            .map(|(_, node)| *node)
    });
    let written = mapping.map(|mapping| finder.add_mapping(element, mapping));
    let splats = add_keywords(finder, element, call);
    let text = finder.text;
    let quote_in = |node| first_quote(node, text).unwrap_or('"');
    finder.elements[element].insertion = match (written, splats) {
        (Some(Mapping::Own(dictionary)), _) => {
            let quote = first_quote(dictionary, text);
            let quote = quote.unwrap_or_else(|| quote_in(call.arguments));
            Insertion::pair(text, dictionary, quote)
        }
        // A dictionary that has other uses, or that the program builds elsewhere.
        (Some(Mapping::Shared | Mapping::Computed), _) | (_, Splats::Unknown) => Insertion::None,
        (None, Splats::None) if call.keywords.is_empty() => {
            Insertion::dictionary(text, call.arguments, quote_in(call.arguments))
        }
        (None, Splats::None | Splats::Known) => {
            Insertion::keyword(text, call.arguments, quote_in(call.arguments))
        }
    };
}

/// What `**mapping` arguments a call has.
enum Splats {
    None,
    /// Dictionaries that are written out in the file.
    Known,
    /// One that only the running program knows: it may hold any property.
    Unknown,
}

/// Adds the properties that a call gives as keywords.
fn add_keywords<'t>(finder: &mut Finder<'t>, element: usize, call: &Call<'t>) -> Splats {
    let mut splats = Splats::None;
    for splat in &call.splats {
        let mapping = finder.add_mapping(element, *splat);
        let written = !matches!(mapping, Mapping::Computed);
        splats = match splats {
            Splats::None | Splats::Known if written => Splats::Known,
            _ => Splats::Unknown,
        };
    }
    for (name, value) in &call.keywords {
        // The dictionary by the name of its parameter is no property.
        if *name != "properties" {
            finder.add_property(element, name, *value);
        }
    }
    splats
}

/// `pipeline["mux"].set({"batch-size": 4})`, for an element that `add` made before.
fn pipeline_set<'t>(finder: &mut Finder<'t>, call: &Call<'t>, receiver: Node<'t>) {
    let name = receiver.child_by_field_name("subscript");
    let name = name.and_then(|name| finder.names.text_of(name));
    let (Some(name), Some(mapping)) = (name, call.positional.first()) else {
        return;
    };
    let named = |element: &PyElement| {
        element.origin == PyOrigin::ServiceMaker && element.name.as_ref() == Some(&name)
    };
    let element = match finder.elements.iter().rposition(named) {
        Some(element) => element,
        None => finder.push(call, PyOrigin::Unknown, None, Some(name.clone())),
    };
    finder.add_mapping(element, *mapping);
}

/// `flow.batch_capture(sources, width=1920)`.
fn flow_step<'t>(finder: &mut Finder<'t>, call: &Call<'t>) {
    let step = call.name;
    let element = finder.push(call, PyOrigin::Flow(step.to_owned()), None, None);
    let first = FIRST_ARGUMENTS.iter().find(|(known, _)| *known == step);
    if let (Some((_, name)), Some(value)) = (first, call.positional.first()) {
        finder.add_property(element, name, *value);
    }
    let splats = add_keywords(finder, element, call);
    let quote = first_quote(call.arguments, finder.text).unwrap_or('"');
    finder.elements[element].insertion = match splats {
        Splats::Unknown => Insertion::None,
        Splats::None | Splats::Known => Insertion::keyword(finder.text, call.arguments, quote),
    };
}

/// The names that hold a Flow: those assigned `Flow(…)`, or a step of another one.
pub(super) fn flows<'t>(assignments: &[(Node<'t>, Node<'t>)], text: &'t [u8]) -> Vec<&'t str> {
    let mut flows = Vec::new();
    for (target, value) in assignments {
        let value = unwrapped(*value);
        if value.kind() == "call" && leads_to_flow(&flows, value, text) {
            flows.push(source(*target, text));
        }
    }
    flows
}

/// Whether an expression is `Flow(…)`, a chain that begins with it, or a name that holds one.
fn leads_to_flow(flows: &[&str], node: Node<'_>, text: &[u8]) -> bool {
    let mut node = unwrapped(node);
    // Each turn goes one link down the chain.
    while node.kind() == "call"
        && let Some(function) = node.child_by_field_name("function")
    {
        match function.child_by_field_name("object") {
            Some(object) => node = unwrapped(object),
            None => return source(function, text) == "Flow",
        }
    }
    flows.contains(&source(node, text))
}
