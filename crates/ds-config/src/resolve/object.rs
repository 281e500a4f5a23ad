//! Elements with GObject properties, in whatever language they are written.
//!
//! A command line, a service-maker file and a Python program differ in their syntax only: they name
//! factories and set properties. Here they become one graph, whose objects know the place of each
//! of their properties.

use std::collections::VecDeque;

use crate::model::{Locator, MuxGeneration, Site};

/// The file that a whole pipeline of objects stands in.
pub(super) const ENTRY: usize = 0;

/// Elements and links.
pub(super) struct ObjectGraph {
    pub(super) objects: Vec<Object>,
    pub(super) links: Vec<ObjectLink>,
    pub(super) host: Host,
    pub(super) generation: MuxGeneration,
}

/// One element.
pub(super) struct Object {
    /// The factory, or the text that stands in for it.
    pub(super) factory: String,
    pub(super) name: String,
    /// Whether nothing is known of it but its text.
    pub(super) opaque: bool,
    /// How many of it there are; `None` where a loop decides.
    pub(super) count: Option<u32>,
    /// Where it stands in the file.
    pub(super) offset: usize,
    /// The properties with their values; no value where a program computes it.
    pub(super) properties: Vec<(String, Option<String>)>,
    /// How many sources a list that is written out gives it.
    pub(super) listed_sources: Option<u32>,
    /// By which call of a Flow it is made; a Flow names some properties in its own way.
    pub(super) flow: Option<String>,
}

/// A link from one object to the next.
pub(super) struct ObjectLink {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) caps: Option<String>,
}

/// The language in which a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// A command line, by its number in the file.
    Gst { command: usize },
    /// A service-maker file.
    ServiceMaker,
    /// A Python program.
    Python,
    /// A text that a Python program gives to `parse_launch`, by its number.
    PythonLaunch { launch: usize },
}

impl Host {
    /// The place of a property.
    pub(super) fn site(self, object: usize, property: &'static str) -> Site {
        let locator = match self {
            Self::Gst { command } => Locator::Gst {
                command,
                element: object,
                property,
            },
            Self::ServiceMaker => Locator::ServiceMaker {
                node: object,
                property,
            },
            Self::Python => Locator::Python {
                element: object,
                property,
            },
            Self::PythonLaunch { launch } => Locator::PythonLaunch {
                launch,
                element: object,
                property,
            },
        };
        Site {
            file: ENTRY,
            locator,
        }
    }

    /// The place of the factory, where another one can be written there.
    pub(super) fn factory_site(self, object: usize) -> Option<Site> {
        let locator = match self {
            Self::Gst { command } => Locator::GstFactory {
                command,
                element: object,
            },
            Self::PythonLaunch { launch } => Locator::PythonLaunchFactory {
                launch,
                element: object,
            },
            Self::ServiceMaker | Self::Python => return None,
        };
        Some(Site {
            file: ENTRY,
            locator,
        })
    }
}

impl Object {
    /// Whether the text sets a property.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.properties.iter().any(|(held, _)| held == name)
    }

    /// The value of a property that is written out. The last one counts.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.properties.iter().rfind(|(held, _)| held == name)?;
        value.as_deref()
    }

    /// A property that is a whole number.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.value(name)?.parse().ok()
    }

    /// A property that is on or off.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.value(name)?.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "t" => Some(true),
            "0" | "false" | "no" | "f" => Some(false),
            _ => None,
        }
    }
}

impl ObjectGraph {
    /// The objects that an object gives to, in the order of the links.
    pub(super) fn successors(&self, object: usize) -> impl Iterator<Item = usize> {
        self.links
            .iter()
            .filter(move |link| link.from == object)
            .map(|link| link.to)
    }

    /// The objects that give to an object, in the order of the links.
    pub(super) fn predecessors(&self, object: usize) -> impl Iterator<Item = usize> {
        self.links
            .iter()
            .filter(move |link| link.to == object)
            .map(|link| link.from)
    }

    /// Whether an object that satisfies a test comes next downstream. The search goes on behind
    /// the objects that `through` lets it pass.
    pub(super) fn reaches(
        &self,
        object: usize,
        through: impl Fn(&Object) -> bool,
        wanted: impl Fn(&Object) -> bool,
    ) -> bool {
        self.search(object, through, wanted, |at| self.successors(at).collect())
    }

    /// Whether an object that satisfies a test comes next upstream.
    pub(super) fn comes_from(
        &self,
        object: usize,
        through: impl Fn(&Object) -> bool,
        wanted: impl Fn(&Object) -> bool,
    ) -> bool {
        self.search(object, through, wanted, |at| {
            self.predecessors(at).collect()
        })
    }

    fn search(
        &self,
        object: usize,
        through: impl Fn(&Object) -> bool,
        wanted: impl Fn(&Object) -> bool,
        next: impl Fn(usize) -> Vec<usize>,
    ) -> bool {
        let mut seen = vec![false; self.objects.len()];
        let mut queue = VecDeque::from(next(object));
        while let Some(at) = queue.pop_front() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if wanted(&self.objects[at]) {
                return true;
            }
            if through(&self.objects[at]) {
                queue.extend(next(at));
            }
        }
        false
    }
}
