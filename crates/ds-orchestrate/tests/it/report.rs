//! Every form of a report says the same, whatever the text in it.

use ds_orchestrate::report::{
    Align, Block, Colour, Curve, CurvePoint, CurveRate, Document, Glyphs, Page, Table, html,
    markdown, text,
};
use proptest::prelude::*;

/// Text that would end a cell, an element, an attribute, a line or a terminal's patience.
const HOSTILE: &str = "a|b <script>alert('x')</script> \"q\" & `c` \u{1b}[31m\nnext → × ± …";

fn document(words: &str) -> Document {
    let point = |batch, rate| CurvePoint { batch, rate };
    let rate = |fps| {
        Ok(CurveRate {
            fps,
            interval: Some((fps - 1.0, fps + 1.0)),
        })
    };
    [
        Block::Title(words.to_owned()),
        Block::Lead(words.to_owned()),
        Block::Quote(words.to_owned()),
        Block::Section(words.to_owned()),
        Block::Verdict {
            answer: words.to_owned(),
            rest: ".".to_owned(),
        },
        Block::Facts(vec![("Name".to_owned(), words.to_owned())]),
        Block::Bullets(vec![words.to_owned()]),
        Block::Curve(Curve {
            points: vec![
                point(1, rate(100.0)),
                point(2, rate(180.0)),
                point(4, Err(format!("crashed: {words}"))),
            ],
            plateau: Some(2),
            final_batch: Some(1),
        }),
        Block::Table(
            Table::new(
                &[
                    ("Batch", Align::Right),
                    ("Frames/s", Align::Right),
                    ("", Align::Left),
                ],
                vec![
                    vec!["1".to_owned(), "100.0".to_owned(), String::new()],
                    vec!["2".to_owned(), "180.0".to_owned(), "plateau".to_owned()],
                    vec!["4".to_owned(), "–".to_owned(), words.to_owned()],
                ],
            )
            .with_bars(1, &[Some(100.0), Some(180.0), None], 180.0),
        ),
        Block::Diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<a>\n+<b> \n".to_owned()),
    ]
    .into_iter()
    .collect()
}

/// Every element of `page` is closed, in the order in which they were opened.
#[track_caller]
fn check_well_formed(page: &str) {
    const VOID: [&str; 1] = ["meta"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").expect("a doctype");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        assert!(!tag.contains('<'), "a tag inside a tag: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            let name = tag.split([' ', '\n']).next().expect("a name");
            if !VOID.contains(&name) {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
        if open.last() == Some(&"style") {
            rest = &rest[rest.find("</style>").expect("the style ends")..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn html_is_well_formed_and_holds_text_as_text() {
    let page = html(&document(HOSTILE));
    check_well_formed(&page);
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)"));
    assert!(!page.contains('\u{1b}'));
    for loaded in ["http:", "https:", "url(", "@import", " src=", " href="] {
        assert!(!page.contains(loaded), "{loaded}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn the_drawing_shows_rates_intervals_plateau_and_failures() {
    let page = html(&document("words"));
    assert_eq!(page.matches("<circle").count(), 2);
    assert_eq!(page.matches("class=\"whisker\"").count(), 2);
    for part in [
        "95 % interval 99.0 to 101.0",
        ">plateau</text>",
        ">batch to configure</text>",
        "class=\"failed\"",
        ">crashed</text>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // 100 of 180: 55.56 % of the bar.
    assert!(page.contains("class=\"fill\" width=\"55.56\""), "{page}");
}

#[test]
fn a_sweep_in_which_nothing_ran_is_drawn_too() {
    let curve = |points| {
        Document::from_iter([Block::Curve(Curve {
            points,
            plateau: None,
            final_batch: None,
        })])
    };
    check_well_formed(&html(&curve(Vec::new())));
    let failed = CurvePoint {
        batch: 1,
        rate: Err("out of memory".to_owned()),
    };
    let page = html(&curve(vec![failed]));
    check_well_formed(&page);
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    assert!(page.contains("out of memory"));
}

#[test]
fn cells_of_markdown_stay_in_their_row() {
    let page = markdown(&document(HOSTILE));
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    // Heading, rule and three rows, each with the bars of three columns.
    assert_eq!(rows.len(), 5, "{page}");
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 4, "{row}");
    }
    assert!(page.contains("```diff\n--- a/x\n"));
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let page = Page {
        glyphs: Glyphs::Ascii,
        ..Page::PIPED
    };
    let shown = text(&document("plain → words"), page);
    assert!(shown.is_ascii(), "{shown}");
    assert!(
        shown.contains("plain -> words") && shown.contains("####"),
        "{shown}"
    );
}

#[test]
fn text_of_a_document() {
    insta::assert_snapshot!(text(&document("some words that say why"), Page::PIPED));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let page = |colour| Page {
        colour,
        ..Page::PIPED
    };
    let plain = text(&document("words"), page(Colour::Plain));
    let coloured = text(&document("words"), page(Colour::Ansi));
    assert_ne!(plain, coloured);
    let mut stripped = coloured;
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[36m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_in_any_form(words in "[ -~\\n→é`|<>&\"']{0,300}", width in 20_u16..160) {
        let document = document(&words);
        check_well_formed(&html(&document));
        let page = Page { width, ..Page::PIPED };
        let shown = text(&document, page);
        prop_assert_eq!(&shown, &text(&document, page));
        let diff = shown.find("--- a/x").expect("the diff is last");
        for line in shown[..diff].lines() {
            prop_assert!(line.chars().count() <= usize::from(width.max(60)) , "{line}");
        }
        prop_assert_eq!(markdown(&document), markdown(&document));
    }
}
