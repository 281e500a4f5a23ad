//! Replacements for the signs that reports use, where a terminal shows ASCII only.

/// The text with every sign of ours replaced. What else is not ASCII is a user's own, a path say, and stays.
pub(super) fn replaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '→' => out.push_str("->"),
            '×' => out.push('x'),
            '–' | '—' | '−' => out.push('-'),
            '…' => out.push_str("..."),
            '±' => out.push_str("+-"),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '·' | '•' => out.push('*'),
            '°' => out.push_str("deg"),
            'µ' | 'μ' => out.push('u'),
            '‘' | '’' => out.push('\''),
            '“' | '”' => out.push('"'),
            '\u{a0}' | '\u{202f}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
