//! A `gst-launch-1.0` command as a graph of objects.

use super::builder::Builder;
use super::factory;
use super::mux::generation;
use super::object::{ENTRY, Host, Object, ObjectGraph, ObjectLink};
use super::pipeline;
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{GstCommand, GstGraph, GstScript, Liveness};
use crate::model::{Document, FilePlace, MuxGeneration, Role};

/// Reads the command of the first file that is a DeepStream pipeline.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    let Document::Gst(script) = &builder.file(ENTRY).document else {
        return Err(no_command());
    };
    let script = script.clone();
    let chosen = choose(&script)?;
    let path = builder.file(ENTRY).path.clone();
    for (number, command) in script.commands().iter().enumerate() {
        let place = FilePlace {
            path: path.clone(),
            place: command.place,
        };
        match command.liveness {
            _ if number == chosen => {}
            Liveness::Live => builder.pipeline.others.push(place),
            Liveness::CommentedOut => {
                builder
                    .pipeline
                    .disabled
                    .push(("gst-launch-1.0".to_owned(), place));
            }
        }
    }
    let command = &script.commands()[chosen];
    let graph = command.graph.as_ref().map_err(Clone::clone)?;
    if let Some(fault) = &command.fault {
        builder.fault(fault.clone().in_file(&path));
    }
    let variable = command
        .environment("USE_NEW_NVSTREAMMUX")
        .map(str::to_owned)
        .or_else(|| builder.environment("USE_NEW_NVSTREAMMUX"));
    let graph = objects(
        graph,
        Host::Gst { command: chosen },
        generation(variable.as_deref()),
    );
    pipeline::resolve(builder, &graph);
    Ok(())
}

/// The elements of a launch text.
pub(super) fn objects(graph: &GstGraph, host: Host, generation: MuxGeneration) -> ObjectGraph {
    let objects = graph.elements.iter().map(|element| Object {
        factory: element.factory.clone(),
        name: element.name.clone(),
        opaque: element.opaque,
        count: Some(1),
        offset: element.span.start(),
        properties: element
            .properties
            .iter()
            .map(|property| {
                (
                    property.name.clone(),
                    property.blocked.is_none().then(|| property.value.clone()),
                )
            })
            .collect(),
        listed_sources: None,
        flow: None,
    });
    let links = graph.links.iter().map(|link| ObjectLink {
        from: link.from,
        to: link.to,
        caps: link.caps.clone(),
    });
    ObjectGraph {
        objects: objects.collect(),
        links: links.collect(),
        host,
        generation,
    }
}

/// How much of a DeepStream pipeline a graph is: one that infers before one that only muxes, and
/// that before any other.
pub(super) fn rank(graph: &GstGraph) -> (bool, bool) {
    rank_of(
        graph
            .elements
            .iter()
            .map(|element| element.factory.as_str()),
    )
}

/// [`rank`] of elements by their factories.
pub(super) fn rank_of<'a>(factories: impl Iterator<Item = &'a str>) -> (bool, bool) {
    let roles: Vec<Role> = factories.map(factory::role).collect();
    let muxes = |role: &Role| matches!(role, Role::Mux | Role::MultiSource);
    (roles.contains(&Role::PrimaryInfer), roles.iter().any(muxes))
}

/// The command that is the pipeline: a live one before one in a comment, then by rank; of equals
/// the first.
fn choose(script: &GstScript) -> Result<usize, Error> {
    let key = |command: &GstCommand| {
        (
            command.liveness == Liveness::Live,
            command.graph.is_ok(),
            command.graph.as_ref().map(rank).unwrap_or_default(),
        )
    };
    let commands = script.commands().iter().enumerate();
    commands
        .rev()
        .max_by_key(|(_, command)| key(command))
        .map(|(number, _)| number)
        .ok_or_else(no_command)
}

fn no_command() -> Error {
    Error::new(
        ErrorKind::NoPipeline,
        "there is no `gst-launch-1.0` command with a pipeline",
    )
}
