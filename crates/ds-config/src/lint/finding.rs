//! What a rule found.

use std::fmt;

use super::rule::{Rule, Severity};
use crate::model::FilePlace;

/// A fault, and where it stands.
///
/// Displays as `app.txt:20:12: warning[DS001]: the mux takes 1 frame …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How grave it is here.
    pub severity: Severity,
    /// Where it stands: the value at fault, or the group or element that lacks one. `None` where no
    /// file is concerned.
    pub place: Option<FilePlace>,
    /// What is wrong here, as a lower-case fragment.
    pub message: String,
    /// What to do here.
    pub remedy: String,
    /// The rule of the plan that puts it right: `R1`.
    pub fixed_by: Option<&'static str>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.rule.id, self.message)
    }
}

/// Takes the findings of one rule.
pub(super) struct Report<'r> {
    pub(super) rule: &'static Rule,
    pub(super) findings: &'r mut Vec<Finding>,
}

impl Report<'_> {
    /// Notes a finding; severity and remedy are those of the rule until they are changed.
    pub(super) fn add(&mut self, place: FilePlace, message: impl Into<String>) -> &mut Finding {
        let rule = self.rule;
        self.findings.push(Finding {
            rule,
            severity: rule.severity,
            place: Some(place),
            message: message.into(),
            remedy: rule.remedy.to_owned(),
            fixed_by: rule.fixed_by,
        });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }
}
