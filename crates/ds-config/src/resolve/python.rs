//! A Python program as a graph of objects.
//!
//! Which elements the program links is not followed, so that their order is that of the text.

use super::builder::Builder;
use super::gst;
use super::mux::generation;
use super::object::{ENTRY, Host, Object, ObjectGraph};
use super::pipeline;
use crate::error::{Error, ErrorKind};
use crate::model::Document;
use crate::python::{PyCount, PyElement, PyOrigin, PyValue};

/// Reads the elements of the first file, or the text that it gives to `parse_launch`.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    let Document::Python(document) = &builder.file(ENTRY).document else {
        return Err(no_elements());
    };
    let document = document.clone();
    let set = document
        .environment()
        .iter()
        .rfind(|(name, _)| name == "USE_NEW_NVSTREAMMUX");
    let variable = set
        .map(|(_, value)| value.clone())
        .or_else(|| builder.environment("USE_NEW_NVSTREAMMUX"));
    let generation = generation(variable.as_deref());
    let path = builder.file(ENTRY).path.clone();
    for launch in document.launches() {
        if let Err(error) = &launch.graph {
            builder.fault(error.clone().in_file(&path));
        }
    }
    let made: Vec<Object> = document.elements().iter().map(object).collect();
    let best = document
        .launches()
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(number, launch)| Some((number, launch.graph.as_ref().ok()?)))
        .max_by_key(|(_, graph)| gst::rank(graph));
    // A program that parses a text often sets some properties of its elements afterwards: the one
    // that holds more of a pipeline counts.
    let factories = made.iter().map(|object| object.factory.as_str());
    let rank_made = gst::rank_of(factories);
    let graph = match best {
        Some((launch, graph)) if made.is_empty() || gst::rank(graph) > rank_made => {
            gst::objects(graph, Host::PythonLaunch { launch }, generation)
        }
        _ if made.is_empty() => return Err(no_elements()),
        _ => ObjectGraph {
            objects: made,
            links: Vec::new(),
            host: Host::Python,
            generation,
        },
    };
    pipeline::resolve(builder, &graph);
    Ok(())
}

/// One element, or one step of a Flow.
fn object(element: &PyElement) -> Object {
    let flow = match &element.origin {
        PyOrigin::Flow(step) => Some(step.clone()),
        _ => None,
    };
    let value = |value: &PyValue| value.literal().map(|literal| literal.text.clone());
    let properties: Vec<_> = element
        .properties
        .iter()
        .map(|property| (property.name.clone(), value(&property.value)))
        .collect();
    let listed_sources = element
        .property("sources")
        .and_then(|property| match &property.value {
            PyValue::List { items } => u32::try_from(*items).ok(),
            _ => None,
        });
    let factory = match (&element.factory, &flow) {
        (Some(factory), _) => factory.clone(),
        (None, Some(step)) => flow_factory(step, element).to_owned(),
        (None, None) => String::new(),
    };
    let name = element
        .name
        .as_ref()
        .or(element.variable.as_ref())
        .or(flow.as_ref());
    Object {
        name: name.unwrap_or(&factory).clone(),
        factory,
        opaque: false,
        count: match element.count {
            PyCount::One => Some(1),
            PyCount::Loop => None,
        },
        offset: element.span.start(),
        properties,
        listed_sources,
        flow,
    }
}

/// The element that a step of a Flow makes, after the documentation of pyservicemaker's Flow.
fn flow_factory<'s>(step: &'s str, element: &PyElement) -> &'s str {
    let on_triton = || {
        let flag = element
            .property("with-triton")
            .and_then(|property| property.value.literal());
        flag.is_some_and(|literal| literal.integer() == Some(1))
    };
    match step {
        "batch_capture" | "batch" => "nvstreammux",
        "infer" if on_triton() => "nvinferserver",
        "infer" => "nvinfer",
        "track" => "nvtracker",
        "preprocess" => "nvdspreprocess",
        "analyze" => "nvdsanalytics",
        "publish" => "nvmsgbroker",
        "decode" => "nvv4l2decoder",
        "encode" => "filesink",
        "render" => "nveglglessink",
        other => other,
    }
}

fn no_elements() -> Error {
    Error::new(
        ErrorKind::NoPipeline,
        "no element is made and no pipeline text is parsed here",
    )
}
