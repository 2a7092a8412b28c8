import { init } from 'echarts';
import type { Curve, Figures } from './curves.ts';

const WIDTH = 720;
const HEIGHT = 360;

/** An SVG of a curve's lines. Values of x grow by factors, so they are drawn at even distances; y is logarithmic. */
export function drawCurve({ title, x, lines }: Curve, points: readonly Figures[]): string {
  const units = [...new Set(lines.map(({ unit }) => unit))];
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', textStyle: { fontSize: 15 } },
    legend: { bottom: 0 },
    grid: { left: 70, right: 70, top: 60, bottom: 70 },
    xAxis: {
      type: 'category',
      name: x.label,
      nameLocation: 'middle',
      nameGap: 26,
      data: points.map((point) => shortNumber(point.x)),
    },
    // One axis for each unit, the first at the left.
    yAxis: units.map((name) => ({ type: 'log', name, axisLabel: { formatter: shortNumber } })),
    series: lines.map(({ name, unit, field }) => ({
      ...{ type: 'line', name, yAxisIndex: units.indexOf(unit) },
      data: points.map((point) => point[field]),
      label: { show: true, formatter: ({ value }: { value: number }) => shortNumber(value) },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** 1,500,000 as 1.5M. */
export function shortNumber(value: number): string {
  const short = (number: number) => String(Number(number.toPrecision(3)));
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  return value >= 1e3 ? `${short(value / 1e3)}k` : short(value);
}
