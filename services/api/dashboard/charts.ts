import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { number, table } from './parts.ts';

const HOUR_MS = 3_600_000;
const LENGTH = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;

export type Interval = keyof typeof LENGTH;

/** A colour of a series: `--series-1` … `--series-6`. The last one is grey, for what counts less. */
export type Tone = 1 | 2 | 3 | 4 | 5 | 6;

export interface Series {
  name: string;
  tone: Tone;
  /** One for each point; null: not measured. */
  values: readonly (number | null)[];
}

/** Points that a symbol marks. */
export interface Marks {
  name: string;
  /** In milliseconds since 1970, anywhere in an interval. */
  at: readonly number[];
}

export interface TimeChart {
  caption: string;
  /** Of the values, as the axis names it: `matches`, `seconds`. */
  unit: string;
  interval: Interval;
  /** The starts of adjacent intervals in milliseconds since 1970, in ascending order. */
  points: readonly number[];
  /** Bars are stacked in this order, from the bottom. */
  series: readonly Series[];
  kind: 'stacked bars' | 'lines';
  marks?: Marks;
  /** What the frame says when every value is 0 or null. */
  empty?: string;
  note?: HtmlValue;
}

/** The starts of the last `count` hours or days, the present one included. @param now milliseconds since 1970 */
export function lastIntervals(interval: Interval, count: number, now: number): number[] {
  const length = LENGTH[interval];
  const end = (Math.floor(now / length) + 1) * length;
  return adjacentIntervals(interval, end - count * length, end);
}

/** @param from the start of the first one, `to` the end of the last one, in milliseconds since 1970 */
export function adjacentIntervals(interval: Interval, from: number, to: number): number[] {
  const length = LENGTH[interval];
  return Array.from({ length: Math.round((to - from) / length) }, (_, index) => from + index * length);
}

/**
 * Values over time. It has the same texts at every width: horizontal places are shares of the width, and only the lines
 * are stretched. Where scripts run, `charts.js` shows the values of an interval under the pointer or by the arrow keys.
 */
export function timeChart(chart: TimeChart): Html {
  const { caption, series, note } = chart;
  const isEmpty = series.every(({ values }) => values.every((value) => value === null || value === 0));
  return html`<figure class="chart">
    <figcaption>${caption}</figcaption>
    ${isEmpty ? emptyFrame(chart) : filledChart(chart)} ${note !== undefined && html`<p class="note">${note}</p>`}
  </figure>`;
}

function emptyFrame({ unit, empty = `No ${unit} yet` }: TimeChart): Html {
  const lines = [0, 25, 50, 75, 100].map((y) => html`<line x2="100%" y1="${y}%" y2="${y}%" />`);
  return html`<div class="chart-empty">
    <svg class="chart-grid" aria-hidden="true">${lines}</svg>
    <p>${empty}</p>
  </div>`;
}

/** Where the columns and values of a chart are, in percent of its width and height. */
interface Frame {
  /** The left edge of a column's bar. */
  left: (index: number) => number;
  centre: (index: number) => number;
  barWidth: number;
  columnWidth: number;
  y: (value: number) => number;
  ticks: readonly number[];
}

function filledChart(chart: TimeChart): Html {
  const { caption, kind, series, marks, points } = chart;
  const frame = frameOf(chart);
  const marked = markedColumns(chart);
  const texts = points.map((_, index) => `${timeText(chart, index)}: ${valuesText(chart, index, marked)}`);
  const hasLegend = series.length > 1 || marks !== undefined;
  return html`<time-chart>
      <output class="chart-readout" aria-live="off">${summary(chart, texts)}</output>
      ${hasLegend && legend(chart, marked)}
      <div class="chart-plot">
        <svg
          role="img"
          ${points.length > DENSE && html`class="chart-dense"`}
          aria-label="${caption}. Below it is a table of the values."
        >
          ${grid(chart, frame)} ${timeAxis(chart, frame)}
          ${kind === 'lines' ? lines(series, frame) : stackedBars(series, frame)} ${markSymbols(chart, frame, marked)}
          ${hoverColumns(texts, frame)}
        </svg>
      </div>
    </time-chart>
    <details>
      <summary>Show as table</summary>
      ${valueTable(chart, marked)}
    </details>`;
}

function frameOf({ kind, points, series }: TimeChart): Frame {
  const columns = scaleBand<number>().domain(points.keys()).range([0, 100]).paddingInner(0.25).paddingOuter(0.125);
  const highest =
    kind === 'lines'
      ? Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
      : Math.max(...points.map((_, index) => totalOf(series, index)));
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  const y = scaleLinear().domain([0, highest]).range([100, 0]).nice(TICKS);
  const left = (index: number) => columns(index)!;
  return {
    left,
    centre: (index) => left(index) + columns.bandwidth() / 2,
    barWidth: columns.bandwidth(),
    columnWidth: columns.step(),
    y,
    ticks: y.ticks(TICKS).filter((tick) => !isWhole || Number.isInteger(tick)),
  };
}

const TICKS = 4;

const totalOf = (series: readonly Series[], index: number): number =>
  series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);

/** Columns with a mark within their time. */
function markedColumns({ marks, points, interval }: TimeChart): ReadonlySet<number> {
  const [first = 0] = points;
  const columns = (marks?.at ?? []).map((at) => Math.floor((at - first) / LENGTH[interval]));
  return new Set(columns.filter((column) => column in points));
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });

function grid({ unit }: TimeChart, { y, ticks }: Frame): Html {
  const at = ticks.map((tick) => [place(y(tick)), COMPACT.format(tick)] as const);
  return html`<g class="chart-grid">${at.map(([top]) => html`<line x2="100%" y1="${top}" y2="${top}" />`)}</g>
    <g class="chart-y">
      <text y="0" dy="-1em" class="chart-unit">${unit}</text>
      ${at.map(([top, text]) => html`<text x="-8" y="${top}" dy=".32em">${text}</text>`)}
    </g>`;
}

/** Texts that begin this far to the right would end outside. */
const NEAR_END = 97;

/** So many texts fit on narrow screens. */
const FEW_TICKS = 5;

/** Every second one of many texts hides on narrow screens; of hours, never the one that names the date. */
function timeAxis(chart: TimeChart, { centre }: Frame): Html {
  const { points, interval } = chart;
  const indexOf = new Map(points.map((at, index) => [at, index]));
  const end = points.at(-1)! + LENGTH[interval];
  const ticks = scaleUtc()
    .domain([points[0]!, end])
    .ticks(8)
    .map(Number)
    .filter((at) => indexOf.has(at));
  const step = (ticks[1] ?? end) - (ticks[0] ?? 0);
  const texts = ticks.map((at) => {
    const x = centre(indexOf.get(at)!);
    const isWide = ticks.length > FEW_TICKS && Math.round(at / step) % 2 === 1;
    const names = [x > NEAR_END && 'chart-end', isWide && 'chart-wide'].filter(Boolean);
    const text = at % LENGTH.day === 0 ? DAY.format(at) : HOUR.format(at);
    return html`<text x="${place(x)}" y="100%" dy="1.7em" class="${names.join(' ')}">${text}</text>`;
  });
  return html`<g class="chart-x">${texts}</g>`;
}

/** Very small values are still seen. */
const LOWEST = 1;

function stackedBars(series: readonly Series[], { left, barWidth, y }: Frame): Html {
  const heights = new Map<number, number>();
  return html`${series.map(
    ({ tone, values }) =>
      html`<g class="series-${tone}">
        ${values.map((value, index) => {
          if (value === null || value === 0) return false;
          const height = Math.max(LOWEST, 100 - y(value));
          const below = heights.get(index) ?? 0;
          heights.set(index, below + height);
          const top = place(100 - below - height);
          return html`<rect
            x="${place(left(index))}"
            y="${top}"
            width="${place(barWidth)}"
            height="${place(height)}"
          />`;
        })}
      </g>`,
  )}`;
}

/** With more points, bars have no gaps and lines no dots. */
const DENSE = 62;

function lines(series: readonly Series[], frame: Frame): Html {
  const at = (values: Series['values'], index: number) => [frame.centre(index), frame.y(values[index]!)] as const;
  const paths = series.map(({ tone, values }, which) => {
    const steps = values.map((value, index) => {
      if (value === null) return '';
      const [x, y] = at(values, index).map(short);
      return (values[index - 1] ?? null) === null ? `M${x} ${y}h0` : `L${x} ${y}`;
    });
    return html`<path class="series-${tone} chart-line-${which + 1}" d="${steps.join('')}" />`;
  });
  const dots = series.map(
    ({ tone, values }) =>
      html`<g class="series-${tone}">
        ${values.map((value, index) => {
          if (value === null) return false;
          const [x, y] = at(values, index).map(place);
          return html`<circle cx="${x}" cy="${y}" r="3" />`;
        })}
      </g>`,
  );
  const isDense = series.some(({ values }) => values.length > DENSE);
  return html`<svg class="chart-lines" viewBox="0 0 100 100" preserveAspectRatio="none">${paths}</svg>
    ${!isDense && dots}`;
}

/** Above the point that it names. */
const MARK = html`<path class="chart-mark" d="M0-13 5-4.5H-5z" />`;

function markSymbols({ series, kind }: TimeChart, { centre, y }: Frame, marked: ReadonlySet<number>): HtmlValue {
  const topOf = (index: number) =>
    kind === 'lines' ? Math.max(...series.map(({ values }) => values[index] ?? 0)) : totalOf(series, index);
  return [...marked].map(
    (index) => html`<svg x="${place(centre(index))}" y="${place(y(topOf(index)))}" class="chart-at">${MARK}</svg>`,
  );
}

/** Columns of the whole height, whose titles are the values. Without scripts browsers show these as tooltips. */
function hoverColumns(texts: readonly string[], { centre, columnWidth }: Frame): Html {
  const columns = texts.map(
    (text, index) =>
      html`<rect x="${place(centre(index) - columnWidth / 2)}" width="${place(columnWidth)}" height="100%">
        <title>${text}</title>
      </rect>`,
  );
  return html`<g class="chart-columns">${columns}</g>`;
}

function legend({ series, kind, marks }: TimeChart, marked: ReadonlySet<number>): Html {
  const swatch = (which: number) =>
    kind === 'lines'
      ? html`<line class="chart-line-${which + 1}" x1="1" x2="19" y1="7" y2="7" />`
      : html`<rect x="3" y="1" width="12" height="12" rx="3" />`;
  const entries = series.map(
    ({ name, tone }, which) =>
      html`<li><svg class="series-${tone}" aria-hidden="true">${swatch(which)}</svg>${name}</li>`,
  );
  const mark =
    marks !== undefined &&
    marked.size > 0 &&
    html`<li>
      <svg aria-hidden="true"><svg x="9" y="15" class="chart-at">${MARK}</svg></svg>${marks.name}
    </li>`;
  return html`<ul class="chart-legend">
    ${series.length > 1 && entries}${mark}
  </ul>`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

function timeText({ points, interval }: TimeChart, index: number): string {
  const at = points[index]!;
  return interval === 'hour' ? `${DAY.format(at)}, ${HOUR.format(at)} UTC` : DAY.format(at);
}

/** "20 Monitors" would count monitors where it is credits that are counted. */
const counted = (unit: string, value: number, name: string): string =>
  unit === 'credits'
    ? `${name} ${number(value)} ${unit}`
    : `${number(value)} ${value === 1 && name === 'matches' ? 'match' : name}`;

function valuesText({ kind, unit, series, marks }: TimeChart, index: number, marked: ReadonlySet<number>): string {
  const measured = series.flatMap(({ name, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [{ name, value }];
  });
  if (measured.length === 0) return 'no data';
  if (kind === 'lines') return measured.map(({ name, value }) => `${name} ${number(value)} ${unit}`).join(', ');
  const some = measured.filter(({ value }, order) => value > 0 || (order === 0 && series.length === 2));
  const mark = marks !== undefined && marked.has(index) ? ` – ${marks.name.toLowerCase()}` : '';
  const values = some.map(({ name, value }) => counted(unit, value, name)).join(', ');
  return `${values === '' ? `0 ${unit}` : values}${mark}`;
}

/** What the readout says when no interval is chosen: the sums of bars, and the last values of lines. */
function summary({ kind, unit, series }: TimeChart, texts: readonly string[]): string {
  if (kind === 'lines') {
    const last = Math.max(...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
    return texts[last]!;
  }
  const sumOf = (values: Series['values']) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const isPart = series.some(({ values }) => values.includes(null));
  return `${isPart ? 'at least ' : ''}${series.map(({ name, values }) => counted(unit, sumOf(values), name)).join(', ')}`;
}

function valueTable(chart: TimeChart, marked: ReadonlySet<number>): Html {
  const { caption, interval, series, points, marks } = chart;
  const hasMarks = marks !== undefined && marked.size > 0;
  const columns = [
    interval === 'hour' ? 'Hour' : 'Day (UTC)',
    ...series.map(({ name }) => name),
    hasMarks && marks.name,
  ];
  const rows = points.map((_, index) => [
    timeText(chart, index),
    ...series.map(({ values }) => values[index] ?? '–'),
    ...(hasMarks ? [marked.has(index) && 'yes'] : []),
  ]);
  return table(
    caption,
    columns.filter((column) => column !== false),
    rows,
    false,
  );
}

/** A share of the width or height, to a hundredth of a percent. */
const place = (percent: number): string => `${short(percent)}%`;

const short = (value: number): string => String(Math.round(value * 100) / 100);

export interface RankChart {
  caption: string;
  unit: string;
  /** The largest first. */
  rows: readonly { label: HtmlValue; value: number; share?: string; href?: string }[];
  /** What is said without rows. */
  empty?: string;
  /** Below the bars. */
  more?: HtmlValue;
}

/** Values side by side, as bars with their label and number. */
export function rankChart({ caption, unit, rows, empty = `No ${unit} yet`, more }: RankChart): Html {
  const largest = Math.max(1, ...rows.map(({ value }) => value));
  const share = scaleLinear().domain([0, largest]).range([0, 100]);
  const entries = rows.map(
    ({ label, value, share: part, href }) =>
      html`<li>
        <span>${href === undefined ? label : html`<a href="${href}">${label}</a>`}</span>
        <span class="number"
          >${number(value)}<span class="hidden"> ${unit}</span>
          ${part !== undefined && html`<span class="note">${part}</span>`}</span
        >
        <svg aria-hidden="true"><rect class="series-1" width="${place(share(value))}" height="100%" /></svg>
      </li>`,
  );
  return html`<figure class="chart">
    <figcaption>${caption}</figcaption>
    ${
      rows.length === 0
        ? html`<p class="note">${empty}</p>`
        : html`<ol class="rank">
            ${entries}
          </ol>`
    }
    ${more}
  </figure>`;
}
