import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';

/** A bar of a chart, with a second part on top of it where a chart has two series. */
export interface Bar {
  label: string;
  value: number;
  /** Drawn in another colour above `value`. */
  more?: number;
}

interface BarChart {
  /** The heading of the chart and of its table. */
  caption: string;
  /** What the values count: the table's column. */
  unit: string;
  /** The column of `more`. */
  moreUnit?: string;
  bars: readonly Bar[];
}

const WIDTH = 600;
const HEIGHT = 120;
const GAP = 0.2;

/** A bar chart as a picture, with the same figures as a table. */
export function barChart({ caption, unit, moreUnit, bars }: BarChart): Html {
  const largest = Math.max(1, ...bars.map(({ value, more = 0 }) => value + more));
  const step = WIDTH / Math.max(1, bars.length);
  const shapes = bars.map(({ label, value, more = 0 }, index) => {
    const at = { x: (step * (index + GAP / 2)).toFixed(1), width: (step * (1 - GAP)).toFixed(1) };
    const [low, high] = [(HEIGHT * value) / largest, (HEIGHT * more) / largest];
    return html`<g>
      <title>${label}: ${value} ${unit}${moreUnit !== undefined && `, ${more} ${moreUnit}`}</title>
      <rect class="bar-value" x="${at.x}" width="${at.width}" y="${HEIGHT - low}" height="${low}" />
      <rect class="bar-more" x="${at.x}" width="${at.width}" y="${HEIGHT - low - high}" height="${high}" />
    </g>`;
  });
  return html`<figure class="chart">
    <figcaption>${caption}, at most ${largest.toLocaleString('en')} a bar</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      ${shapes}
    </svg>
    <div class="ends" aria-hidden="true"><span>${bars[0]?.label}</span><span>${bars.at(-1)?.label}</span></div>
    <details>
      <summary>The figures</summary>
      <table>
        <caption class="hidden">
          ${caption}
        </caption>
        <thead>
          <tr>
            <th scope="col">${caption}</th>
            <th scope="col">${unit}</th>
            ${moreUnit !== undefined && html`<th scope="col">${moreUnit}</th>`}
          </tr>
        </thead>
        <tbody>
          ${bars.map(
            ({ label, value, more = 0 }) =>
              html`<tr>
                <th scope="row">${label}</th>
                <td class="number">${value}</td>
                ${moreUnit !== undefined && html`<td class="number">${more}</td>`}
              </tr>`,
          )}
        </tbody>
      </table>
    </details>
  </figure>`;
}
