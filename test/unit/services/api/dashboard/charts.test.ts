import { describe, expect, test } from 'vitest';
import {
  adjacentIntervals,
  lastIntervals,
  rankChart,
  timeChart,
} from '../../../../../services/api/dashboard/charts.ts';
import type { Series, TimeChart } from '../../../../../services/api/dashboard/charts.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
const NOON = Date.UTC(2026, 10, 12, 12);

const one = (values: Series['values'], name = 'matches'): Series => ({ name, tone: 1, values });

function chartOf(values: Series['values'], given: Partial<TimeChart> = {}): string {
  const interval = given.interval ?? 'hour';
  return String(
    timeChart({
      caption: 'Matches',
      unit: 'matches',
      interval,
      points: lastIntervals(interval, values.length, NOON),
      series: [one(values)],
      kind: 'stacked bars',
      ...given,
    }),
  );
}

const titles = (page: string) => [...page.matchAll(/<title>([^<]*)<\/title>/g)].map(([, text]) => text);
const textsIn = (page: string, group: string): string[] => {
  const [, content] = new RegExp(`<g class="${group}">([\\s\\S]*?)</g>`).exec(page)!;
  return [...content!.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);
};
const heights = (page: string) =>
  [...page.matchAll(/<rect\s+x="[\d.]+%"\s+y="([\d.]+)%"\s+width="[\d.]+%"\s+height="([\d.]+)%"/g)].map(
    ([, top, height]) => [Number(top), Number(height)],
  );

describe('intervals', () => {
  test('of the present end with the one of now', () => {
    expect(lastIntervals('hour', 3, NOON + 5)).toEqual([NOON - 2 * HOUR, NOON - HOUR, NOON]);
    expect(lastIntervals('day', 2, NOON)).toEqual([NOON - DAY / 2 - DAY, NOON - DAY / 2]);
    expect(adjacentIntervals('day', 0, 2 * DAY)).toEqual([0, DAY]);
  });
});

describe('bars', () => {
  test('have the height of their value, and each column says its time and values', () => {
    const page = chartOf([5, 0, 20], {
      series: [one([5, 0, 20]), { name: 'not sent', tone: 6, values: [5, 0, 0] }],
    });
    expect(heights(page)).toEqual([
      [75, 25],
      [0, 100],
      [50, 25],
    ]);
    expect(titles(page)).toEqual([
      '12 Nov, 10:00 UTC: 5 matches, 5 not sent',
      '12 Nov, 11:00 UTC: 0 matches',
      '12 Nov, 12:00 UTC: 20 matches',
    ]);
    expect(page).toMatch(/<output[^>]*>\s*25 matches, 5 not sent\s*<\/output>/);
  });

  test('stand on a scale of whole numbers', () => {
    expect(textsIn(chartOf([1]), 'chart-y')).toEqual(['matches', '0', '1']);
    expect(textsIn(chartOf([3, 2]), 'chart-y')).toEqual(['matches', '0', '1', '2', '3']);
    expect(textsIn(chartOf([34]), 'chart-y')).toEqual(['matches', '0', '10', '20', '30', '40']);
  });

  test('of huge numbers have short ticks and whole values', () => {
    const page = chartOf([1_234_567_890_123, 12]);
    expect(textsIn(page, 'chart-y')).toEqual(['matches', '0', '500B', '1T', '1.5T']);
    expect(titles(page)[0]).toContain('1,234,567,890,123 matches');
    // The small one is still seen.
    expect(heights(page)[1]).toEqual([99, 1]);
  });

  test('are missing where nothing was counted', () => {
    const page = chartOf([null, 4, null]);
    expect(heights(page)).toHaveLength(1);
    expect(titles(page)[0]).toBe('12 Nov, 10:00 UTC: no data');
    expect(page).toMatch(/<td\s*>–<\/td>/);
  });
});

describe('the axis of time', () => {
  test('names dates and hours, and hides every second one on narrow screens, but no date', () => {
    const page = chartOf(Array.from({ length: 48 }, () => 1));
    expect(textsIn(page, 'chart-x')).toEqual([
      '18:00',
      '11 Nov',
      '06:00',
      '12:00',
      '18:00',
      '12 Nov',
      '06:00',
      '12:00',
    ]);
    const hidden = [...page.matchAll(/class="[^"]*chart-wide[^"]*"[^>]*>([^<]*)</g)].map(([, text]) => text);
    expect(hidden).toEqual(['18:00', '06:00', '18:00', '06:00']);
    expect(page).toMatch(/class="chart-end"[^>]*>12:00</);
  });

  test('has days for days', () => {
    const page = chartOf(
      Array.from({ length: 5 }, () => 1),
      { interval: 'day' },
    );
    expect(textsIn(page, 'chart-x')).toEqual(['8 Nov', '9 Nov', '10 Nov', '11 Nov', '12 Nov']);
    expect(titles(page)[0]).toBe('8 Nov: 1 match');
  });

  test('of one point has one tick', () => {
    expect(textsIn(chartOf([7], { interval: 'day' }), 'chart-x')).toEqual(['12 Nov']);
  });
});

describe('lines', () => {
  const lines = (values: Series['values']) =>
    chartOf(values, { kind: 'lines', unit: 'seconds', series: [one(values, 'median'), one(values, 'most')] });

  test('have a gap where nothing was measured, and a dot for a point alone', () => {
    const page = lines([1, 2, null, 4]);
    const [, path] = /<path class="series-1 chart-line-1" d="([^"]*)"/.exec(page)!;
    expect(path).toBe('M12.5 75h0L37.5 50M87.5 0h0');
    expect(titles(page)[2]).toContain('no data');
    expect(page.match(/<circle /g)).toHaveLength(6);
    expect(page).toMatch(/<output[^>]*>\s*12 Nov, 12:00 UTC: median 4 seconds, most 4 seconds\s*<\/output>/);
  });

  test('of fractions have fractions on their scale', () => {
    expect(textsIn(lines([0.2, 0.31]), 'chart-y')).toEqual(['seconds', '0', '0.1', '0.2', '0.3', '0.4']);
  });
});

describe('marks', () => {
  const marks = { name: 'Spike', at: [NOON - HOUR + 60_000, NOON - 40 * DAY] };

  test('name their point by a symbol, in the legend, in the values and in the table', () => {
    const page = chartOf([2, 30, 1], { marks });
    expect(titles(page)[1]).toBe('12 Nov, 11:00 UTC: 30 matches – spike');
    expect(page.match(/class="chart-mark"/g)).toHaveLength(2);
    expect(page).toMatch(/<\/svg>\s*<\/svg\s*>\s*Spike/);
    expect(page).toContain('<th scope="col" >Spike</th>');
  });

  test('outside of the time are not in the legend', () => {
    const page = chartOf([2], { marks: { name: 'Spike', at: [NOON + DAY] } });
    expect(page).not.toContain('Spike');
  });
});

test.each([[[]], [[0, 0]], [[null, null]]])('a chart of %j says that there is nothing', (values) => {
  const page = chartOf(values);
  expect(page).toContain('No matches yet');
  expect(page).not.toContain('<time-chart');
  expect(chartOf(values, { empty: 'Silence' })).toContain('Silence');
  expect(String(rankChart({ caption: 'c', unit: 'matches', rows: [] }))).toContain('No matches yet');
});

test('hostile names are text', () => {
  const pages = [
    chartOf([1, 2], {
      caption: HOSTILE,
      unit: HOSTILE,
      series: [one([1, 2], HOSTILE), one([1, 0], HOSTILE)],
      marks: { name: HOSTILE, at: [NOON] },
    }),
    chartOf([0], { empty: HOSTILE }),
    String(rankChart({ caption: HOSTILE, unit: HOSTILE, rows: [{ label: HOSTILE, value: 1, href: HOSTILE }] })),
  ];
  for (const page of pages) {
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toMatch(/<script|<img/);
    expect(page).not.toMatch(/"'><|style=/);
  }
});

test('ranks have bars relative to the largest', () => {
  const page = String(
    rankChart({
      caption: 'Communities',
      unit: 'matches',
      rows: [
        { label: 'r/rust', value: 1_250, href: '/x?a=1&b=2' },
        { label: 'r/cars', value: 125 },
      ],
    }),
  );
  expect([...page.matchAll(/ width="([^"]*)"/g)].map(([, width]) => width)).toEqual(['100%', '10%']);
  expect(page).toContain('href="/x?a=1&amp;b=2"');
  expect(page).toContain('1,250<');
});

test('720 points of six series stay below a megabyte, and no value is off the frame', () => {
  const values = Array.from({ length: 720 }, (_, index) => (index * 7919) % 1000);
  const tones = [1, 2, 3, 4, 5, 6] as const;
  const page = chartOf(values, { series: tones.map((tone) => ({ name: `series ${tone}`, tone, values })) });
  expect(Buffer.byteLength(page)).toBeLessThan(1_000_000);
  expect(Buffer.byteLength(chartOf(values))).toBeLessThan(350_000);
  expect(heights(page).every(([top, height]) => top! >= 0 && top! + height! <= 100.01)).toBe(true);
});
