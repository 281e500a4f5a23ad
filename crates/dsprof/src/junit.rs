//! JUnit XML as CI systems read it: one suite, its cases, their outcomes.

use std::borrow::Cow;

/// One test case.
pub(crate) struct Case {
    /// What it belongs to.
    pub(crate) class: String,
    /// Its name within that.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

/// How a test case ended, with the reason where there is one.
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed(String),
    /// It could not be decided.
    Error(String),
    /// It decides nothing.
    Skipped(String),
}

/// A document with one suite.
pub(crate) fn suite(name: &str, cases: &[Case]) -> String {
    let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let counts = format!(
        r#"tests="{}" failures="{}" errors="{}" skipped="{}""#,
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Error(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_)))
    );
    let name = escaped(name);
    let body: String = cases.iter().map(element).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" {counts}>\n  <testsuite name=\"{name}\" \
         {counts}>\n{body}  </testsuite>\n</testsuites>\n"
    )
}

fn element(case: &Case) -> String {
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escaped(&case.class),
        escaped(&case.name)
    );
    let (tag, message) = match &case.outcome {
        Outcome::Passed => return format!("{head}/>\n"),
        Outcome::Failed(message) => ("failure", message),
        Outcome::Error(message) => ("error", message),
        Outcome::Skipped(message) => ("skipped", message),
    };
    format!(
        "{head}>\n      <{tag} message=\"{}\"/>\n    </testcase>\n",
        escaped(message)
    )
}

/// Text for an attribute. Characters that XML 1.0 cannot hold at all become the replacement character.
fn escaped(text: &str) -> String {
    let escape = |c: char| -> Cow<'static, str> {
        match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '"' => "&quot;".into(),
            '\n' => "&#10;".into(),
            '\t' => "&#9;".into(),
            '\r' => "&#13;".into(),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}".into(),
            other => other.to_string().into(),
        }
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped("a<b> & \"c\"\n\u{1}é"),
            "a&lt;b&gt; &amp; &quot;c&quot;&#10;\u{fffd}é"
        );
    }
}
