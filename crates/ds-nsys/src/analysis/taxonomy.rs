//! What a kernel does, told by its name: one table for every analysis.
//!
//! Both sides of a comparison go through the same table, so a kernel never stands in two categories. The table has a
//! version, which belongs into every output that names categories, and rules of the user come before its own.

use std::fmt;
use std::sync::Arc;

use toml_edit::{Document, Item, Table};

use crate::error::{Error, Result};

/// The table that comes with this crate.
const BUILT_IN: &str = include_str!("../../data/taxonomy.toml");

/// What the table is called in an error message.
const WHAT: &str = "taxonomy";

/// What a kernel does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category(Arc<str>);

impl Category {
    /// The name of the category whose kernels wait for other ranks.
    const COMMUNICATION: &'static str = "communication";
    /// The name of the category of everything that no rule knows.
    const OTHER: &'static str = "other";

    fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as the table spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Whether its kernels exchange data with other ranks, so that their time holds waiting.
    #[must_use]
    pub fn is_communication(&self) -> bool {
        &*self.0 == Self::COMMUNICATION
    }

    /// Whether no rule knew the name.
    #[must_use]
    pub fn is_unclassified(&self) -> bool {
        &*self.0 == Self::OTHER
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The rules by which kernels are sorted into categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taxonomy {
    version: String,
    rules: Vec<Rule>,
    /// Other tools' names of a category, lower-case.
    aliases: Vec<(String, Category)>,
}

/// One rule; its patterns are lower-case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    category: Category,
    contains: Vec<String>,
    starts_with: Vec<String>,
    contains_all: Vec<Vec<String>>,
}

impl Rule {
    fn matches(&self, name: &str) -> bool {
        self.contains.iter().any(|text| name.contains(text))
            || self.starts_with.iter().any(|text| name.starts_with(text))
            || self
                .contains_all
                .iter()
                .any(|texts| texts.iter().all(|text| name.contains(text)))
    }
}

impl Default for Taxonomy {
    fn default() -> Self {
        Self::parse(BUILT_IN).expect("the table that comes with the crate is tested")
    }
}

impl Taxonomy {
    /// Puts rules of the user's own before the present ones. A version in the text is appended to the present one.
    ///
    /// # Errors
    ///
    /// Fails when the text is not TOML, holds a key that no table has, or a rule without category or pattern.
    pub fn with_rules(mut self, toml: &str) -> Result<Self> {
        let user = Self::parse(toml)?;
        let suffix = if user.version.is_empty() {
            "user"
        } else {
            &user.version
        };
        self.version = format!("{}+{suffix}", self.version);
        self.rules.splice(0..0, user.rules);
        self.aliases.splice(0..0, user.aliases);
        Ok(self)
    }

    fn parse(text: &str) -> Result<Self> {
        let reader = Reader { text };
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.error(at, error.message().to_owned())
        })?;
        let mut taxonomy = Self {
            version: String::new(),
            rules: Vec::new(),
            aliases: Vec::new(),
        };
        for (key, item) in document.iter() {
            match key {
                "version" => reader.text(item)?.clone_into(&mut taxonomy.version),
                "aliases" => {
                    let table = item
                        .as_table()
                        .ok_or_else(|| reader.wrong(item, "a table"))?;
                    for (alias, category) in table {
                        let category = Category::new(reader.text(category)?);
                        taxonomy.aliases.push((alias.to_lowercase(), category));
                    }
                }
                "rule" => {
                    let rules = item
                        .as_array_of_tables()
                        .ok_or_else(|| reader.wrong(item, "tables"))?;
                    for rule in rules {
                        taxonomy.rules.push(reader.rule(rule)?);
                    }
                }
                other => return Err(reader.wrong_key(item, other)),
            }
        }
        Ok(taxonomy)
    }

    /// Which rules these are; part of every output that names categories.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The category of a kernel, by its demangled name, or by its bare one where that is all there is.
    #[must_use]
    pub fn classify(&self, kernel: &str) -> Category {
        let name = kernel.to_lowercase();
        let name = name.strip_prefix("void ").unwrap_or(&name);
        self.rules
            .iter()
            .find(|rule| rule.matches(name))
            .map_or_else(
                || Category::new(Category::OTHER),
                |rule| rule.category.clone(),
            )
    }

    /// The category that a name of a category stands for: one of this table's, or another tool's alias.
    #[must_use]
    pub fn category(&self, name: &str) -> Option<Category> {
        let lower = name.to_lowercase();
        let of_rule = self
            .rules
            .iter()
            .map(|rule| &rule.category)
            .find(|category| category.name() == lower);
        let of_alias = || self.aliases.iter().find(|(alias, _)| *alias == lower);
        of_rule
            .or_else(|| of_alias().map(|(_, category)| category))
            .cloned()
            .or_else(|| (lower == Category::OTHER).then(|| Category::new(&lower)))
    }
}

/// The text of a table, for the line numbers of error messages.
struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn rule(&self, table: &Table) -> Result<Rule> {
        let mut category = None;
        let (mut contains, mut starts_with, mut contains_all) =
            (Vec::new(), Vec::new(), Vec::new());
        for (key, item) in table {
            match key {
                "category" => category = Some(Category::new(&self.text(item)?.to_lowercase())),
                "contains" => contains = self.patterns(item)?,
                "starts_with" => starts_with = self.patterns(item)?,
                "contains_all" => {
                    let lists = item
                        .as_array()
                        .ok_or_else(|| self.wrong(item, "lists of texts"))?;
                    for list in lists {
                        contains_all.push(self.patterns(&Item::Value(list.clone()))?);
                    }
                }
                other => return Err(self.wrong_key(item, other)),
            }
        }
        let at = table.span().map_or(0, |span| span.start);
        let category =
            category.ok_or_else(|| self.error(at, "a rule without a `category`".to_owned()))?;
        if contains.is_empty() && starts_with.is_empty() && contains_all.is_empty() {
            return Err(self.error(at, "a rule without a pattern".to_owned()));
        }
        Ok(Rule {
            category,
            contains,
            starts_with,
            contains_all,
        })
    }

    fn text<'i>(&self, item: &'i Item) -> Result<&'i str> {
        item.as_str().ok_or_else(|| self.wrong(item, "a text"))
    }

    /// A list of texts; an empty one would match every name.
    fn patterns(&self, item: &Item) -> Result<Vec<String>> {
        let wrong = || self.wrong(item, "a list of texts that are not empty");
        item.as_array()
            .filter(|list| !list.is_empty())
            .ok_or_else(wrong)?
            .iter()
            .map(|value| {
                value
                    .as_str()
                    .filter(|text| !text.is_empty())
                    .map(str::to_lowercase)
                    .ok_or_else(wrong)
            })
            .collect()
    }

    fn wrong(&self, item: &Item, wanted: &str) -> Error {
        let at = item.span().map_or(0, |span| span.start);
        self.error(at, format!("{} where {wanted} is due", item.type_name()))
    }

    fn wrong_key(&self, item: &Item, key: &str) -> Error {
        let at = item.span().map_or(0, |span| span.start);
        self.error(at, format!("unknown key `{key}`"))
    }

    fn error(&self, at: usize, problem: String) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        Error::Input {
            what: WHAT,
            line: before.matches('\n').count() + 1,
            problem,
        }
    }
}
