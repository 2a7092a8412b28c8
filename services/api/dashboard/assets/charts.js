// Shows the values of a chart's column: of that under the pointer, or of that chosen with the arrow keys.

/** Where a key leads from a column. */
const STEPS = {
  ArrowLeft: (column) => column - 1,
  ArrowDown: (column) => column - 1,
  ArrowRight: (column) => column + 1,
  ArrowUp: (column) => column + 1,
  Home: () => 0,
  End: (column, last) => last,
};

/** One tab stop. It is a slider for programs that read the screen, since these pass on the arrow keys to sliders. */
class TimeChart extends HTMLElement {
  connectedCallback() {
    this.plot = this.querySelector('.chart-plot');
    this.readout = this.querySelector('output');
    this.summary = this.readout.textContent;
    this.columns = [...this.querySelectorAll('.chart-columns rect')];
    this.texts = this.columns.map((column) => column.textContent.trim());
    this.chosen = this.columns.length - 1;
    // The readout takes the place of the tooltips.
    for (const column of this.columns) column.replaceChildren();
    const caption = this.closest('figure').querySelector('figcaption').textContent;
    this.querySelector('svg[role="img"]').setAttribute('aria-hidden', 'true');
    for (const [name, value] of Object.entries({
      role: 'slider',
      tabindex: '0',
      'aria-label': caption,
      'aria-valuemin': '1',
      'aria-valuemax': String(this.columns.length),
    })) {
      this.plot.setAttribute(name, value);
    }
    this.announce();
    this.plot.addEventListener('keydown', (event) => this.step(event));
    this.plot.addEventListener('focus', () => this.show(this.chosen));
    this.plot.addEventListener('blur', () => this.clear());
    this.plot.addEventListener('pointermove', (event) => this.show(this.columnAt(event)));
    this.plot.addEventListener('pointerdown', (event) => this.show(this.columnAt(event)));
    this.plot.addEventListener('pointerleave', () => this.clear());
  }

  columnAt({ clientX }) {
    const { left, width } = this.plot.firstElementChild.getBoundingClientRect();
    const column = Math.floor(((clientX - left) / width) * this.columns.length);
    return Math.max(0, Math.min(this.columns.length - 1, column));
  }

  step(event) {
    const last = this.columns.length - 1;
    const next = STEPS[event.key]?.(this.chosen, last);
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.show(Math.max(0, Math.min(last, next)));
  }

  show(column) {
    this.columns[this.chosen].classList.remove('chosen');
    this.chosen = column;
    this.columns[column].classList.add('chosen');
    this.readout.textContent = this.texts[column];
    this.announce();
  }

  clear() {
    if (this.plot.matches(':focus')) return;
    this.columns[this.chosen].classList.remove('chosen');
    this.readout.textContent = this.summary;
  }

  announce() {
    this.plot.setAttribute('aria-valuenow', String(this.chosen + 1));
    this.plot.setAttribute('aria-valuetext', this.texts[this.chosen]);
  }
}

customElements.define('time-chart', TimeChart);
