// The list of matches where scripts run: marks without a new page, keys, and what was seen. Everything else works
// without this file.
import { enhance } from './dashboard.js';

const list = document.querySelector('ol.matches');
const markRead = document.getElementById('mark-read');

/** Sends a form; the answer is the changed part alone. */
async function send(form, more = {}) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries({ part: 'entry', ...more })) body.set(name, value);
  const answer = await fetch(form.action, { method: 'POST', body, keepalive: true });
  if (!answer.ok || answer.redirected) throw new Error(`response ${answer.status}`);
  return answer.text();
}

const SAID_MS = 5_000;
let saying;

/** For all to see, and read aloud. */
function say(sentence) {
  const said = document.getElementById('said-of-match');
  said.textContent = sentence;
  clearTimeout(saying);
  saying = setTimeout(() => said.replaceChildren(), SAID_MS);
}

/** Adds to the number on a filter. A number that stands for more stays. */
function count(name, difference) {
  const shown = document.querySelector(`[data-count="${name}"]`);
  const number = Number(shown?.textContent.replaceAll(',', ''));
  if (Number.isInteger(number)) shown.textContent = Math.max(0, number + difference).toLocaleString('en');
}

const stateOf = (entry) => ({
  bookmarked: entry.querySelector('[data-key="b"][aria-pressed="true"]') !== null,
  irrelevant: entry.matches('.gone') || entry.querySelector('[data-key="x"][aria-pressed="true"]') !== null,
});

const SAID = { bookmarked: 'Bookmarked.', irrelevant: 'Not relevant, and hidden.', none: 'The mark was removed.' };

async function mark(form, button) {
  const entry = form.closest('li');
  const key = button.dataset.key;
  const mark = button.value;
  let markup;
  try {
    markup = await send(form, { mark, ...(entry.matches('.unread') && { unread: 'yes' }) });
  } catch {
    // The browser shows what is wrong.
    form.dataset.plain = '';
    form.requestSubmit(button);
    return;
  }
  const focused = document.activeElement;
  const isWithin = entry !== focused && entry.contains(focused);
  const before = stateOf(entry);
  const wasUnread = entry.matches('.unread');
  const newer = document.createElement('template');
  newer.innerHTML = markup;
  const shown = newer.content.firstElementChild;
  entry.replaceWith(shown);
  enhance(shown);
  const after = stateOf(shown);
  for (const name of ['bookmarked', 'irrelevant']) if (before[name] !== after[name]) count(name, after[name] ? 1 : -1);
  if (wasUnread && before.irrelevant !== after.irrelevant) count('unread', after.irrelevant ? -1 : 1);
  if (entry === focused) shown.focus({ preventScroll: true });
  else if (isWithin) (shown.querySelector(`[data-key="${key}"]`) ?? shown).focus({ preventScroll: true });
  say(SAID[mark]);
}

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (form.dataset.plain !== undefined) return;
  if (form.matches('form.marks') && submitter !== null) {
    event.preventDefault();
    void mark(form, submitter);
  } else if (form === markRead) {
    event.preventDefault();
    void markAllRead();
  }
});

async function markAllRead() {
  const newest = list.firstElementChild?.id;
  try {
    await send(markRead, newest > markRead.elements.seen.value ? { seen: newest } : {});
  } catch {
    markRead.dataset.plain = '';
    markRead.requestSubmit();
    return;
  }
  for (const entry of list.querySelectorAll('.unread')) {
    entry.classList.remove('unread');
    for (const note of entry.querySelectorAll('.unread-note')) note.remove();
  }
  document.querySelector('[data-count="unread"]').textContent = '0';
  markRead.querySelector('button').removeAttribute('aria-busy');
  markRead.hidden = true;
  say('All matches are marked as read.');
}

/** The position moves when the page is really seen. The entries stay marked as unread until it is opened again. */
function noteSeen() {
  if (document.hidden || document.prerendering || markRead?.dataset.auto === undefined) return;
  delete markRead.dataset.auto;
  send(markRead).catch(() => {});
}

/** Entries that arrive while the page is open. */
function watchArrivals() {
  new MutationObserver((changes) => {
    const arrived = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .filter((node) => node.matches?.('.unread.new'));
    if (arrived.length === 0) return;
    count('unread', arrived.length);
    if (markRead !== null) markRead.hidden = false;
  }).observe(list, { childList: true });
}

const SETTING = 'shortcuts';
const areKeysOn = () => localStorage.getItem(SETTING) !== 'off';

function isTyping({ target, isComposing, ctrlKey, metaKey, altKey }) {
  if (isComposing || ctrlKey || metaKey || altKey) return true;
  return (
    target.isContentEditable ||
    target.matches('input, textarea, select') ||
    document.querySelector('dialog[open]') !== null
  );
}

function currentEntry() {
  return document.activeElement?.closest('ol.matches > li') ?? null;
}

function move(step) {
  const current = currentEntry();
  const next =
    current === null ? list.firstElementChild : step > 0 ? current.nextElementSibling : current.previousElementSibling;
  if (next === null) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

function press(key) {
  const entry = currentEntry();
  entry?.querySelector(`[data-key="${key}"]`)?.click();
  // What was hidden needs no further look.
  if (key === 'x' && entry !== null && !entry.matches('.gone')) move(1);
}

function enableKeys() {
  const dialog = document.getElementById('shortcuts');
  const open = document.querySelector('[data-shortcuts]');
  const setting = dialog.querySelector('[data-shortcuts-on]');
  open.hidden = false;
  open.onclick = () => dialog.showModal();
  setting.checked = areKeysOn();
  setting.onchange = () => localStorage.setItem(SETTING, setting.checked ? 'on' : 'off');
  document.addEventListener('keydown', (event) => {
    if (!areKeysOn() || isTyping(event)) return;
    const { key, target } = event;
    // A key that is held down moves on, and does nothing else.
    if (event.repeat && key !== 'j' && key !== 'k') return;
    if (key === 'j') move(1);
    else if (key === 'k') move(-1);
    else if (key === 'o' || (key === 'Enter' && target === currentEntry())) press('o');
    else if (key === 'b' || key === 'x') press(key);
    else if (key === '?') dialog.showModal();
    else return;
    event.preventDefault();
  });
}

if (list !== null) {
  noteSeen();
  document.addEventListener('visibilitychange', noteSeen);
  document.addEventListener('prerenderingchange', noteSeen);
  watchArrivals();
  enableKeys();
}
