//! The pages of docs/ that are made from the code.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use ds_ceilings::GpuTable;

use crate::step::Step;
use crate::workspace;

/// What to do with a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write it.
    Write,
    /// Compare it with the file.
    Check,
}

/// A page and what it is made from.
struct Page {
    path: &'static str,
    make: fn() -> Result<String>,
}

/// Every generated page.
const PAGES: [Page; 4] = [
    Page {
        path: "docs/rules.md",
        make: || Ok(ds_derive::rules_markdown()),
    },
    Page {
        path: "docs/ceilings.md",
        make: || Ok(ds_ceilings::ceilings_document(GpuTable::built_in())),
    },
    Page {
        path: "docs/lint.md",
        make: || Ok(ds_config::lint_markdown()),
    },
    Page {
        path: "docs/cli.md",
        make: cli_page,
    },
];

/// Writes or checks every page; a page that cannot be made does not keep the others from it.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let mut faults = Vec::new();
    for page in &PAGES {
        if let Err(error) = page.handle(mode) {
            faults.push(format!("{}: {error:#}", page.path));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

impl Page {
    fn handle(&self, mode: Mode) -> Result<()> {
        let text = (self.make)()?;
        let file = workspace::root().join(self.path);
        let present = fs::read_to_string(&file).ok();
        if present.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        if mode == Mode::Check {
            bail!("differs from what `cargo xtask codegen` writes");
        }
        fs::write(&file, text).with_context(|| format!("writing `{}`", self.path))?;
        println!("wrote {}", self.path);
        Ok(())
    }
}

/// The command line of dsprof: the help of every command, as the program prints it.
fn cli_page() -> Result<String> {
    let mut page = String::from(
        "# Command line\n\n\
         Generated from the help of every command; edit the doc comments in `crates/dsprof/src/`.\n",
    );
    add_command(&mut page, &[])?;
    Ok(page)
}

/// Adds the help of a command and of the commands below it.
fn add_command(page: &mut String, path: &[String]) -> Result<()> {
    let help = Step::cargo()
        .args(["run", "--quiet", "--package", "dsprof", "--"])
        .args(path)
        .args(["--help"])
        // The width at which clap wraps where no stream is a terminal.
        .env("COLUMNS", "100")
        .capture()?
        .stdout;
    let below = subcommands(&help);
    let title = std::iter::once("dsprof")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    ensure!(!help.trim().is_empty(), "`{title} --help` printed nothing");
    page.push_str(&section(&title, &help));
    for name in below {
        let mut path = path.to_vec();
        path.push(name);
        add_command(page, &path)?;
    }
    Ok(())
}

/// One command's section; blanks at the ends of lines are clap's padding.
fn section(title: &str, help: &str) -> String {
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n"))
}

/// The names under `Commands:`; each stands alone at an indentation of two, its description goes on deeper.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|rest| !rest.starts_with(' '))
        .filter_map(|rest| rest.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_off_a_help_text() {
        let help = "Measures.\n\nUsage: dsprof <COMMAND>\n\nCommands:\n  tune   All stages\n         and more\n  \
                    trace  Reads traces\n  help   Print this\n\nOptions:\n  -h, --help  Print help\n";
        assert_eq!(subcommands(help), ["tune", "trace"]);
    }

    #[test]
    fn a_command_without_commands_has_none() {
        assert!(subcommands("Usage: dsprof hw\n\nOptions:\n  -h, --help  Print help\n").is_empty());
    }

    #[test]
    fn a_section_holds_the_help_without_padding() {
        assert_eq!(
            section("dsprof hw", "Says.  \n\n  -h\n\n"),
            "\n## dsprof hw\n\n```text\nSays.\n\n  -h\n```\n"
        );
    }
}
