//! What every rule says of itself.

use std::fmt;

use super::finding::Report;
use super::look::Look;

/// How grave a finding is.
///
/// Ordered: a note is less than a warning, and that less than an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; may be meant.
    Note,
    /// Costs speed or correctness, or falsifies a measurement.
    Warning,
    /// Does not work.
    Error,
}

/// One rule: the fault it looks for, and when it looks away.
#[non_exhaustive]
pub struct Rule {
    /// The stable id, `DS001`; comments, exit codes and reports name it.
    pub id: &'static str,
    /// The place among the rules of one subject: `A` the mux, `B` output, `C` the tracker, `E` the
    /// application against the inference's file, `N` that file, `S` sources, `P` stages, `M` the new
    /// mux, `U` keys, `G` syntax.
    pub code: &'static str,
    /// How grave a finding is, unless the finding says otherwise.
    pub severity: Severity,
    /// The fault, as a lower-case fragment.
    pub title: &'static str,
    /// Why it matters.
    pub reason: &'static str,
    /// When the rule is silent although the files look like it.
    pub guard: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// The rule of the plan that puts it right: `R1`.
    pub fixed_by: Option<&'static str>,
    /// Looks for the fault.
    pub(super) check: fn(&Look<'_>, &mut Report<'_>),
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.id, self.code, self.severity)
    }
}

impl PartialEq for Rule {
    /// Rules are told apart by their ids.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}
