import { expect, test } from 'vitest';
import { barChart } from '../../../../../../services/api/dashboard/parts/bar-chart.ts';

const chart = (bars: Parameters<typeof barChart>[0]['bars']) =>
  String(barChart({ caption: 'Matches', unit: 'matches', moreUnit: 'suppressed', bars }));

test('the highest bar fills the picture, and every figure is in the table too', () => {
  const html = chart([
    { label: 'a', value: 30, more: 10 },
    { label: 'b', value: 20 },
  ]);
  const heights = [...html.matchAll(/class="bar-(?:value|more)"[^>]* height="([\d.]+)"/g)].map(([, height]) =>
    Number(height),
  );
  expect(heights).toEqual([90, 30, 60, 0]);
  expect(html.match(/<th scope="row">/g)).toHaveLength(2);
  for (const figure of ['>30<', '>10<', '>20<']) expect(html).toContain(figure);
});

test('labels cannot become markup', () => {
  expect(chart([{ label: '"><script>', value: 1 }])).not.toContain('<script>');
});
