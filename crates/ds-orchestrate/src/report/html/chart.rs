//! The sweep as a drawing: rate over batch with its 95 % intervals, the plateau, and the batches that failed.

use std::fmt::Write as _;

use super::super::document::{Curve, CurvePoint, CurveRate};
use super::escape;

/// The drawing's own units; the page scales it.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 48.0;

/// Draws the curve; a sweep without batches gives nothing.
pub(super) fn curve(curve: &Curve) -> String {
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return String::new();
    };
    let highest = curve
        .points
        .iter()
        .filter_map(|point| point.rate.as_ref().ok())
        .map(|rate| {
            rate.interval
                .map_or(rate.fps, |(_, high)| high.max(rate.fps))
        })
        .fold(0.0, f64::max);
    let scale = Scale {
        first: f64::from(first.batch).log2(),
        last: f64::from(last.batch).log2(),
        ticks: Ticks::up_to(highest),
    };
    let mut out = format!(
        "<figure><svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&in_words(curve))
    );
    out.push_str(&axes(curve, &scale));
    for (batch, class, label) in marks(curve) {
        let x = scale.x(batch);
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
             <text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{label}</text>",
            HEIGHT - BOTTOM,
            TOP - 10.0,
            scale.anchor(x),
        );
    }
    out.push_str(&band(curve, &scale));
    let line: Vec<String> = rates(curve)
        .map(|(batch, rate)| format!("{:.1},{:.1}", scale.x(batch), scale.y(rate.fps)))
        .collect();
    let _ = writeln!(
        out,
        "<polyline class=\"line\" points=\"{}\"/>",
        line.join(" ")
    );
    for point in &curve.points {
        out.push_str(&mark(point, &scale));
    }
    out.push_str(
        "</svg><figcaption>Frames per second over all streams, by batch (logarithmic). Whiskers show the 95 % interval \
         of the mean over the steady windows.</figcaption></figure>\n",
    );
    out
}

/// What the drawing shows, for who cannot see it.
fn in_words(curve: &Curve) -> String {
    let points: Vec<String> = curve
        .points
        .iter()
        .map(|point| match &point.rate {
            Ok(rate) => format!("batch {}: {:.1} frames/s", point.batch, rate.fps),
            Err(why) => format!("batch {}: {why}", point.batch),
        })
        .collect();
    points.join("; ")
}

fn rates(curve: &Curve) -> impl Iterator<Item = (u32, CurveRate)> {
    curve
        .points
        .iter()
        .filter_map(|point| Some((point.batch, *point.rate.as_ref().ok()?)))
}

/// The vertical lines: at the plateau, and at the batch to configure where that is another one.
fn marks(curve: &Curve) -> Vec<(u32, &'static str, &'static str)> {
    match (curve.plateau, curve.final_batch) {
        (Some(plateau), Some(chosen)) if plateau == chosen => {
            vec![(plateau, "plateau", "plateau, batch to configure")]
        }
        (plateau, chosen) => {
            let plateau = plateau.map(|batch| (batch, "plateau", "plateau"));
            let chosen = chosen.map(|batch| (batch, "chosen", "batch to configure"));
            plateau.into_iter().chain(chosen).collect()
        }
    }
}

fn axes(curve: &Curve, scale: &Scale) -> String {
    let mut out = String::new();
    for value in scale.ticks.values() {
        let y = scale.y(value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.*}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            scale.ticks.places(),
        );
    }
    for point in &curve.points {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            scale.x(point.batch),
            HEIGHT - BOTTOM + 18.0,
            point.batch,
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">batch</text>\
         <text class=\"axis\" x=\"{LEFT}\" y=\"14\" text-anchor=\"end\">frames/s</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
    );
    out
}

/// The 95 % intervals as an area behind the line.
fn band(curve: &Curve, scale: &Scale) -> String {
    let ends: Vec<(f64, f64, f64)> = rates(curve)
        .filter_map(|(batch, rate)| {
            let (low, high) = rate.interval?;
            Some((scale.x(batch), scale.y(low), scale.y(high)))
        })
        .collect();
    if ends.len() < 2 {
        return String::new();
    }
    let upper = ends.iter().map(|(x, _, high)| format!("{x:.1},{high:.1}"));
    let lower = ends
        .iter()
        .rev()
        .map(|(x, low, _)| format!("{x:.1},{low:.1}"));
    let corners: Vec<String> = upper.chain(lower).collect();
    format!(
        "<polygon class=\"band\" points=\"{}\"/>\n",
        corners.join(" ")
    )
}

fn mark(point: &CurvePoint, scale: &Scale) -> String {
    let x = scale.x(point.batch);
    match &point.rate {
        Ok(rate) => {
            let y = scale.y(rate.fps);
            let mut out = format!("<g><title>batch {}: {:.1} frames/s", point.batch, rate.fps);
            let whisker = rate.interval.map_or_else(String::new, |(low, high)| {
                let _ = write!(out, ", 95 % interval {low:.1} to {high:.1}");
                let (low, high) = (scale.y(low), scale.y(high));
                let caps = [low, high].map(|y| {
                    let (left, right) = (x - 5.0, x + 5.0);
                    format!("M{left:.1},{y:.1}H{right:.1}")
                });
                format!(
                    "<path class=\"whisker\" d=\"M{x:.1},{low:.1}V{high:.1}{}\"/>",
                    caps.concat()
                )
            });
            let _ = writeln!(
                out,
                "</title>{whisker}<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/></g>"
            );
            out
        }
        Err(why) => {
            let y = scale.y(0.0) - 8.0;
            // Upright, so that the reasons of neighbours do not lie on each other.
            format!(
                "<g class=\"failed\"><title>batch {}: {}</title><path d=\"M{:.1},{:.1}l10,10m0,-10l-10,10\"/>\
                 <text transform=\"translate({:.1},{:.1}) rotate(-90)\">{}</text></g>\n",
                point.batch,
                escape(why),
                x - 5.0,
                y - 5.0,
                x + 4.0,
                y - 12.0,
                escape(&first_words(why)),
            )
        }
    }
}

/// A reason is a class and a detail behind a colon; the drawing has room for the first.
fn first_words(why: &str) -> String {
    why.split(':')
        .next()
        .unwrap_or(why)
        .chars()
        .take(24)
        .collect()
}

/// From batches and rates to places.
struct Scale {
    first: f64,
    last: f64,
    ticks: Ticks,
}

impl Scale {
    fn x(&self, batch: u32) -> f64 {
        let span = self.last - self.first;
        let along = if span > 0.0 {
            (f64::from(batch).log2() - self.first) / span
        } else {
            0.5
        };
        // Points keep off the axes, so that their marks do not lie on them.
        let margin = 24.0;
        LEFT + margin + along * (WIDTH - LEFT - RIGHT - 2.0 * margin)
    }

    fn y(&self, fps: f64) -> f64 {
        let bottom = HEIGHT - BOTTOM;
        bottom - fps / self.ticks.top() * (bottom - TOP)
    }

    /// Text near an edge begins or ends at its place, so that it stays inside.
    fn anchor(&self, x: f64) -> &'static str {
        if x > WIDTH - RIGHT - 90.0 {
            "end"
        } else if x < LEFT + 90.0 {
            "start"
        } else {
            "middle"
        }
    }
}

/// Round numbers from 0 to above the highest value.
struct Ticks {
    step: f64,
    count: u32,
}

impl Ticks {
    /// About five steps of 1, 2 or 5 times a power of ten.
    fn up_to(highest: f64) -> Self {
        if highest.is_nan() || highest <= 0.0 {
            return Self {
                step: 1.0,
                count: 1,
            };
        }
        let rough = highest / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough)
            .unwrap_or(10.0 * power);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most five steps reach the highest value"
        )]
        let count = (highest / step).ceil().clamp(1.0, 10.0) as u32;
        Self { step, count }
    }

    fn top(&self) -> f64 {
        self.step * f64::from(self.count)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        (0..=self.count).map(|n| f64::from(n) * self.step)
    }

    /// Decimal places that tell neighbours apart.
    fn places(&self) -> usize {
        if self.step >= 1.0 { 0 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::Ticks;

    #[test]
    fn ticks_are_round_and_reach_the_highest_value() {
        // 2132.5 / 5 = 426.5, so steps of 500, and five of them.
        let ticks = Ticks::up_to(2132.5);
        assert_eq!(
            ticks.values().collect::<Vec<_>>(),
            [0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0]
        );
        for highest in [0.0, 0.3, 1.0, 7.0, 30.0, 99.9, 1e6] {
            assert!(Ticks::up_to(highest).top() >= highest, "{highest}");
        }
    }
}
