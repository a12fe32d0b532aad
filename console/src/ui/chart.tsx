/** Charts over time: uPlot for a whole chart, an SVG line for a little one. */

import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { duration, local, tickText } from "../lib/time";
import { compact } from "../lib/numbers";
import { useZone } from "./values";

export interface Line {
  readonly label: string;
  /** A token of the style sheet: `--run`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly dash?: boolean;
}

export interface ChartProps {
  readonly label: string;
  readonly at: readonly string[];
  readonly lines: readonly Line[];
  readonly unit?: "count" | "seconds";
  readonly height?: number;
}

/** Lines over time; drag to zoom, double click to return. */
export function Chart({ label, at, lines, unit = "count", height = 180 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [theme, setTheme] = useState(0);
  const zone = useZone();
  const names = lines.map((line) => line.label + line.colour).join();

  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const change = () => setTheme((n) => n + 1);
    const watch = new MutationObserver(change);
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    media.addEventListener("change", change);
    return () => {
      watch.disconnect();
      media.removeEventListener("change", change);
    };
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const css = getComputedStyle(element);
    const colour = (token: string) => css.getPropertyValue(token).trim();
    const shown = (value: number | null) => (value === null ? "–" : unit === "seconds" ? duration(value) : compact(value));
    const axis: uPlot.Axis = {
      stroke: colour("--ink-soft"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    const made = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        cursor: { y: false, drag: { x: true, y: false } },
        legend: { live: true },
        hooks: { ready: [toldOnlyWherePointed], setCursor: [toldOnlyWherePointed] },
        tzDate: (at) => (zone ? uPlot.tzDate(new Date(at * 1000), zone) : new Date(at * 1000)),
        scales: { y: { range: (_u, _min, max) => [0, Math.max(unit === "seconds" ? 0.1 : 4, (max ?? 0) * 1.1)] } },
        axes: [{ ...axis, space: 64, values: (_u, ticks) => ticks.map((tick) => tickText(tick, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0), zone)) }, { ...axis, size: 56, values: (_u, ticks) => ticks.map((tick) => shown(tick)) }],
        series: [
          { label: "time", value: (_u, at) => (at === null ? "–" : local(new Date(at * 1000), zone)) },
          ...lines.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 1.5,
            points: { show: false },
            value: (_u: uPlot, value: number | null) => shown(value),
            ...(line.dash ? { dash: [4, 3] } : {}),
          })),
        ],
      },
      dataOf(at, lines),
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth || 300, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
    // The plot is made again only when its lines, the theme or the zone change; new values go in by setData below.
  }, [names, unit, height, theme, zone]);

  useEffect(() => {
    plot.current?.setData(dataOf(at, lines));
  }, [at, lines]);

  return <div ref={box} className="chart" role="img" aria-label={described(label, lines)} />;
}

/** While nothing is pointed at, the legend only names the lines. */
function toldOnlyWherePointed(plot: uPlot): void {
  plot.root.querySelector(".u-legend")?.classList.toggle("u-live", plot.cursor.idx != null);
}

function dataOf(at: readonly string[], lines: readonly Line[]): uPlot.AlignedData {
  return [at.map((time) => new Date(time).getTime() / 1000), ...lines.map((line) => [...line.values])];
}

function described(label: string, lines: readonly Line[]): string {
  const last = lines.map((line) => `${line.label} ${line.values.at(-1) ?? "unknown"}`);
  return `${label}; now ${last.join(", ")}`;
}

/** A little history as bars, without axes: `<Sparkline values={[…]} label="done per minute" />`. */
export function Sparkline({ values, label, tone = "run", height = 24 }: { values: readonly number[]; label: string; tone?: string; height?: number }) {
  const most = Math.max(1, ...values);
  const width = Math.max(1, values.length) * 4;
  return (
    <svg className={`sparkline tone-fill-${tone}`} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect className="sparkline-base" x="0" y={height - 1} width={width} height="1" />
      {values.map((value, index) => {
        const tall = value === 0 ? 0 : Math.max(1.5, (value / most) * (height - 1));
        return <rect key={index} x={index * 4} y={height - tall} width="3" height={tall} />;
      })}
    </svg>
  );
}
