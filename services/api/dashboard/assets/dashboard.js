// What the pages do by themselves where scripts run. Every action works without this file.

/** Copies the text of the element that a button names. */
function enableCopying(root) {
  for (const button of root.querySelectorAll('button[data-copy]')) {
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.classList.add('done');
      setTimeout(() => button.classList.remove('done'), 1500);
    };
  }
}

/** Adds the reader's own time to each time. */
function localiseTimes(root) {
  for (const time of root.querySelectorAll('time')) time.title = new Date(time.dateTime).toLocaleString();
}

const UNITS = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [172_800, 3_600, 'h'],
  [Infinity, 86_400, 'days'],
];

/** Keeps "5 s ago" true while the page is open. */
function updateAges() {
  for (const time of document.querySelectorAll('time')) {
    if (!time.textContent.endsWith(' ago')) continue;
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time.dateTime)) / 1_000));
    const [, length, unit] = UNITS.find(([below]) => seconds < below);
    const text = `${Math.floor(seconds / length)} ${unit} ago`;
    if (time.textContent !== text) time.textContent = text;
  }
}

export function enhance(root) {
  enableCopying(root);
  localiseTimes(root);
}

/** Whether the person is busy in an element, which must then stay as it is. */
const isBusy = (element) => element.contains(document.activeElement) || element.querySelector('details[open]') !== null;

/** Milliseconds between updates, unless a part wants them sooner: `data-live="5"`, in seconds. */
const USUAL_MS = 15_000;
/** The fewest when matches arrive: a session may ask for 120 pages a minute. */
const SOONEST_MS = 4_000;
let updatedAt = Date.now();
let timer;

/** Replaces all parts of the page that change by their newer state, together, so that their numbers agree. */
async function update() {
  updatedAt = Date.now();
  schedule();
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const parts = [...document.querySelectorAll('[data-live][id]')];
    if (parts.some(isBusy)) return;
    for (const shown of [...parts, ...document.querySelectorAll('header .balance')]) {
      const newer = shown.id ? page.getElementById(shown.id) : page.querySelector('header .balance');
      if (newer === null || shown === document.activeElement) continue;
      shown.replaceWith(newer);
      enhance(newer);
    }
  } catch {
    // The next update tries again.
  }
}

function schedule(delayMs) {
  const wanted = [...document.querySelectorAll('[data-live]')].map(({ dataset }) => Number(dataset.live) * 1_000);
  delayMs ??= Math.min(USUAL_MS, ...wanted.filter(Boolean));
  clearTimeout(timer);
  timer = setTimeout(update, Math.max(delayMs, updatedAt + SOONEST_MS - Date.now()));
}

/** Puts what an event stream sends at the top of a list: each event `item` holds the HTML of one entry. */
function keepAdding(list) {
  const limit = Number(list.dataset.limit ?? 100);
  let stream;
  let isOver = false;
  let newest;
  const add = (event) => {
    const { id, markup } = JSON.parse(event.data);
    newest = id;
    if (document.getElementById(id) !== null) return;
    // Further down the page, browsers keep what is read in its place themselves.
    const page = document.scrollingElement;
    const isKept = page.scrollTop === 0 && list.matches(':hover, :focus-within');
    const height = list.offsetHeight;
    list.insertAdjacentHTML('afterbegin', markup);
    if (isKept) page.scrollTop = list.offsetHeight - height;
    list.firstElementChild.classList.add('new');
    enhance(list.firstElementChild);
    schedule(0);
    while (list.children.length > limit) list.lastElementChild.remove();
  };
  const open = () => {
    const address = new URL(list.dataset.stream, location.href);
    if (newest) address.searchParams.set('after', newest);
    stream = new EventSource(address);
    stream.addEventListener('item', add);
    // The server ends a stream for good, for instance when the session is over.
    stream.addEventListener('end', () => {
      isOver = true;
      stream.close();
    });
    // One that was refused, as while a database restarts, is not opened again by the browser.
    stream.addEventListener('error', () => {
      if (stream.readyState === EventSource.CLOSED) setTimeout(reopen, USUAL_MS);
    });
  };
  const reopen = () => {
    if (!isOver && !document.hidden && stream.readyState === EventSource.CLOSED) open();
  };
  open();
  // Browsers open six connections to a server over HTTP/1.1: with a stream in each of six tabs, none would load a page.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) {
      isOver = false;
      reopen();
    } else if (list.firstElementChild !== null) stream.close();
  });
}

/** Shows at once that a form was sent. */
function showSending({ target, submitter }) {
  if (submitter === null || target.method !== 'post') return;
  submitter.setAttribute('aria-busy', 'true');
  // A page that the browser shows again from its memory is as it was left.
  addEventListener('pageshow', () => submitter.removeAttribute('aria-busy'), { once: true });
}

enhance(document);
setInterval(updateAges, 5_000);
document.addEventListener('submit', showSending);
if (document.querySelector('[data-live]') !== null) schedule();
for (const list of document.querySelectorAll('[data-stream]')) keepAdding(list);
