// Tries the rule of a form while it is typed. Without this file, a button of the form does it.

const TYPING_MS = 500;
/** The longest silence of an answer that is not mentioned. */
const SILENCE_MS = 8_000;
const LONGEST_PAUSE_S = 300;
const SLOW = 'The archive is slow to respond. You can save the form meanwhile.';
const UNREACHABLE = 'The server cannot be reached. What you typed is still here.';

/** The events of a response, as soon as each is complete. */
async function* eventsOf(body) {
  let text = '';
  for await (const piece of piecesOf(body.pipeThrough(new TextDecoderStream()))) {
    const events = (text + piece).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length));
    }
  }
}

/** Not every browser can iterate over a stream. */
async function* piecesOf(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function linesOf(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

class Trial {
  constructor(form) {
    this.form = form;
    this.names = new Set(form.dataset.rule.split(' '));
    this.line = document.getElementById('try-line');
    this.panel = document.getElementById('preview');
    this.marks = new FieldMarks(form, this.names);
    this.rule = this.ruleOf();
    this.asking = new AbortController();
    this.failures = 0;
    form.addEventListener('input', () => this.change(TYPING_MS));
    form.addEventListener('click', (event) => this.click(event));
    form.addEventListener('submit', (event) => this.submit(event));
    // A page that the browser kept may hold other values.
    addEventListener('pageshow', (event) => event.persisted && this.change(0));
    for (const button of form.querySelectorAll('button[value="say"]')) button.hidden = true;
    const isShown = document.getElementById('try-found').children.length > 0;
    if (!isShown && (form.elements.keywords.value !== '' || form.elements.terms.value !== '')) this.start(0);
  }

  /** What is sent; without the spaces and empty lines that do not count. */
  ruleOf() {
    const fields = [...new FormData(this.form)].filter(([name]) => this.names.has(name));
    return new URLSearchParams(fields.map(([name, text]) => [name, linesOf(text)])).toString();
  }

  change(ms) {
    const rule = this.ruleOf();
    if (rule === this.rule) return;
    this.rule = rule;
    this.failures = 0;
    this.start(ms);
  }

  start(ms) {
    this.stop();
    this.say('Searching…');
    this.form.querySelector('.side').setAttribute('aria-busy', 'true');
    this.timer = setTimeout(() => this.ask(), ms);
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    this.asking.abort();
  }

  async ask() {
    const asking = new AbortController();
    this.asking = asking;
    try {
      this.expectSoon();
      await this.read(asking.signal);
    } catch {
      if (!asking.signal.aborted) this.fail(UNREACHABLE, 5);
    }
    if (asking.signal.aborted) return;
    clearTimeout(this.silence);
    this.form.querySelector('.side').removeAttribute('aria-busy');
  }

  async read(signal) {
    const body = new URLSearchParams(this.rule);
    body.set('form_token', this.form.elements.form_token.value);
    const headers = { Accept: 'text/event-stream' };
    const answer = await fetch(this.form.dataset.try, { method: 'POST', headers, body, signal });
    if (!answer.ok) {
      const { error } = await answer.json();
      this.fail(error.message.replace(/ Try again in \d+ s\.$/, ''), error.retry_after);
      return;
    }
    let isLast = false;
    for await (const state of eventsOf(answer.body)) {
      if (signal.aborted) return;
      this.expectSoon();
      this.show(state);
      ({ isLast } = state);
    }
    if (!isLast) throw new Error('the answer broke off');
  }

  expectSoon() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.say(SLOW), SILENCE_MS);
  }

  /** Replaces the parts that the markup names. */
  show({ markup, problems, again, isLast }) {
    const hadFocus = this.panel.contains(document.activeElement);
    const parts = document.createElement('template');
    parts.innerHTML = markup;
    for (const part of parts.content.children) {
      const shown = document.getElementById(part.id);
      // A part that stays the same is not announced again.
      if (shown.innerHTML !== part.innerHTML) shown.replaceChildren(...part.childNodes);
    }
    if (hadFocus && !this.panel.contains(document.activeElement)) this.panel.focus({ preventScroll: true });
    this.marks.update(problems);
    this.failed = again !== undefined;
    if (again !== undefined) this.retry(again);
    else if (isLast) this.failures = 0;
  }

  fail(message, again) {
    this.failed = true;
    this.say(message, 'bad');
    if (again !== undefined && again <= LONGEST_PAUSE_S) this.retry(again);
  }

  /** Asks again after a pause, which gets longer with every failure. A hidden page waits until it is seen. */
  retry(seconds) {
    const pause = Math.min(LONGEST_PAUSE_S, seconds * 2 ** this.failures);
    this.failures += 1;
    this.line.append(` Trying again in ${pause} s.`);
    this.timer = setTimeout(() => {
      if (!document.hidden) this.start(0);
      else document.addEventListener('visibilitychange', () => this.start(0), { once: true });
    }, pause * 1000);
  }

  say(text, kind = '') {
    if (this.line.textContent === text) return;
    const words = document.createElement('span');
    words.className = kind;
    words.textContent = text;
    this.line.replaceChildren(words);
  }

  /** A suggestion fills its field here, as the server does without scripts. */
  click(event) {
    const { value } = event.target.closest('button[name="add"]') ?? {};
    if (value === undefined) return;
    event.preventDefault();
    const [name, ...entry] = value.split(' ');
    const field = this.form.elements[name];
    field.value = `${field.value.trimEnd()}\n${entry.join(' ')}`.trimStart();
    const hidden = field.closest('details');
    if (hidden !== null) hidden.open = true;
    this.change(0);
    this.reveal();
  }

  submit(event) {
    const { name, value } = event.submitter ?? {};
    // After a failure the button asks in its own way, for a page.
    if (name !== 'do' || value !== 'try' || this.failed) {
      this.stop();
      return;
    }
    event.preventDefault();
    this.rule = this.ruleOf();
    this.failures = 0;
    this.marks.leaveAll();
    this.start(0);
    this.reveal();
  }

  reveal() {
    this.panel.focus({ preventScroll: true });
    this.panel.scrollIntoView({ block: 'nearest' });
  }
}

/** Says beside a field what is wrong with it, once the person has left it. */
class FieldMarks {
  constructor(form, names) {
    this.form = form;
    this.names = names;
    this.problems = {};
    this.left = new Set();
    form.addEventListener('focusout', ({ target }) => {
      this.left.add(target.name);
      this.update(this.problems);
    });
    form.addEventListener('focusin', ({ target }) => this.left.delete(target.name));
  }

  leaveAll() {
    for (const name of this.names) this.left.add(name);
  }

  update(problems) {
    this.problems = problems;
    for (const name of this.names) {
      const field = document.getElementById(name);
      if (field === null) continue;
      const shown = document.getElementById(`${name}-problem`);
      const problem = problems[name];
      if (problem === undefined) this.unmark(field, shown);
      else if (shown !== null) shown.textContent = problem;
      else if (this.left.has(name)) this.mark(field, problem);
    }
  }

  mark(field, problem) {
    const shown = document.createElement('p');
    shown.id = `${field.name}-problem`;
    shown.className = 'problem';
    shown.textContent = problem;
    field.after(shown);
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', `${field.getAttribute('aria-describedby') ?? ''} ${shown.id}`.trim());
  }

  unmark(field, shown) {
    if (shown === null) return;
    shown.remove();
    field.removeAttribute('aria-invalid');
    const others = (field.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id !== shown.id);
    field.setAttribute('aria-describedby', others.join(' '));
  }
}

const form = document.querySelector('form[data-try]');
if (form !== null) new Trial(form);
