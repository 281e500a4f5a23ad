//! In which order the elements of a graph pass a frame on, and where each stands.

use super::factory;
use super::object::{Object, ObjectGraph};
use crate::model::{Branch, QueuePosition, Role, SinkKind};

/// Order, role and branch of every element of a graph.
pub(super) struct Layout {
    order: Vec<usize>,
    roles: Vec<Role>,
    branches: Vec<Branch>,
}

impl Layout {
    /// Lays a graph out.
    pub(super) fn of(graph: &ObjectGraph) -> Self {
        let order = order(graph);
        let roles = (0..graph.objects.len())
            .map(|index| match factory::role(&graph.objects[index].factory) {
                Role::Queue(_) => Role::Queue(position(graph, index)),
                role => role,
            })
            .collect::<Vec<_>>();
        let branches = branches(graph, &order, &roles);
        Self {
            order,
            roles,
            branches,
        }
    }

    /// The elements from the sources to the sinks; of equals the one that is written first.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(super) fn role(&self, element: usize) -> Role {
        self.roles[element]
    }

    pub(super) fn branch(&self, element: usize) -> Branch {
        self.branches[element]
    }
}

/// A topological order that keeps to the text where the links leave a choice. Elements of a ring
/// come last.
fn order(graph: &ObjectGraph) -> Vec<usize> {
    let mut waiting: Vec<usize> = (0..graph.objects.len())
        .map(|at| graph.predecessors(at).count())
        .collect();
    let mut placed = vec![false; waiting.len()];
    let mut order = Vec::with_capacity(waiting.len());
    // Depth first, so that a chain of elements stays together.
    let mut ready: Vec<usize> = (0..waiting.len())
        .rev()
        .filter(|at| waiting[*at] == 0)
        .collect();
    while let Some(at) = ready.pop() {
        placed[at] = true;
        order.push(at);
        let mut next: Vec<usize> = Vec::new();
        for successor in graph.successors(at) {
            waiting[successor] -= 1;
            if waiting[successor] == 0 {
                next.push(successor);
            }
        }
        ready.extend(next.into_iter().rev());
    }
    order.extend((0..placed.len()).filter(|at| !placed[*at]));
    order
}

/// Whether a queue's neighbourhood goes on behind an element that neither decodes, batches nor
/// infers.
fn is_passive(element: &Object) -> bool {
    matches!(
        factory::role(&element.factory),
        Role::Queue(_) | Role::Converter
    ) || element.factory == "identity"
}

/// Between which elements a queue stands.
fn position(graph: &ObjectGraph, queue: usize) -> QueuePosition {
    let role = |object: &Object| factory::role(&object.factory);
    let decodes =
        |object: &Object| role(object) == Role::Decoder || factory::source_decodes(&object.factory);
    let batches = |object: &Object| matches!(role(object), Role::Mux | Role::MultiSource);
    let prepares = |object: &Object| is_passive(object) || role(object) == Role::Preprocess;
    let infers = |object: &Object| role(object) == Role::PrimaryInfer;
    let tells =
        |object: &Object| matches!(role(object), Role::MessageConverter | Role::MessageBroker);
    let records = |object: &Object| {
        role(object) == Role::Encoder || factory::sink_kind(&object.factory) == SinkKind::File
    };
    if graph.comes_from(queue, is_passive, decodes) && graph.reaches(queue, is_passive, batches) {
        QueuePosition::DecoderToMux
    } else if graph.comes_from(queue, prepares, batches) && graph.reaches(queue, prepares, infers) {
        QueuePosition::MuxToInfer
    } else if graph.reaches(queue, is_passive, tells) {
        QueuePosition::MessageBranch
    } else if graph.reaches(queue, is_passive, records) {
        QueuePosition::FileBranch
    } else {
        QueuePosition::Other
    }
}

/// The stretch on which each element stands.
fn branches(graph: &ObjectGraph, order: &[usize], roles: &[Role]) -> Vec<Branch> {
    let mut branches = vec![Branch::Main; roles.len()];
    let mux = order.iter().copied().find(|at| roles[*at] == Role::Mux);
    if let Some(mux) = mux {
        for (number, source) in graph.predecessors(mux).enumerate() {
            mark(&mut branches, Branch::Source(number), source, |at| {
                graph.predecessors(at).collect()
            });
        }
    }
    let splits = order
        .iter()
        .copied()
        .filter(|at| matches!(roles[*at], Role::Tee | Role::Demux));
    let mut number = 0;
    for split in splits {
        // A tee in front of the mux belongs to its source.
        if matches!(branches[split], Branch::Source(_)) {
            continue;
        }
        for successor in graph.successors(split) {
            mark(&mut branches, Branch::Tail(number), successor, |at| {
                graph.successors(at).collect()
            });
            number += 1;
        }
    }
    branches
}

/// Marks an element and everything beyond it.
fn mark(branches: &mut [Branch], branch: Branch, start: usize, next: impl Fn(usize) -> Vec<usize>) {
    let mut stack = vec![start];
    while let Some(at) = stack.pop() {
        if branches[at] != branch {
            branches[at] = branch;
            stack.extend(next(at));
        }
    }
}
