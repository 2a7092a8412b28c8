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

function enhance(root) {
  enableCopying(root);
  localiseTimes(root);
}

/** Whether the person is busy in an element, which must then stay as it is. */
const isBusy = (element) => element.contains(document.activeElement) || element.querySelector('details[open]') !== null;

/** Shows the balance that a newer copy of the page has in its header. */
function updateBalance(page) {
  const [shown, newer] = [document, page].map((copy) => copy.querySelector('header .balance'));
  if (shown !== null && newer !== null && shown !== document.activeElement) shown.replaceWith(newer);
}

/** Replaces an element by its newer state every few seconds, while the page is visible. */
function keepCurrent(id, seconds) {
  setInterval(async () => {
    const shown = document.getElementById(id);
    if (document.hidden || shown === null || isBusy(shown)) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const newer = page.getElementById(id);
      if (newer === null || isBusy(shown)) return;
      shown.replaceWith(newer);
      enhance(newer);
      updateBalance(page);
    } catch {
      // The next round tries again.
    }
  }, seconds * 1000);
}

/** Puts what an event stream sends at the top of a list: each event `item` holds the HTML of one entry. */
function keepAdding(list) {
  const limit = Number(list.dataset.limit ?? 100);
  let stream;
  const add = (event) => {
    const { id, markup } = JSON.parse(event.data);
    if (document.getElementById(id) !== null) return;
    list.insertAdjacentHTML('afterbegin', markup);
    enhance(list.firstElementChild);
    while (list.children.length > limit) list.lastElementChild.remove();
  };
  const open = () => {
    const address = new URL(list.dataset.stream, location.href);
    const newest = list.firstElementChild?.id;
    if (newest) address.searchParams.set('after', newest);
    stream = new EventSource(address);
    stream.addEventListener('item', add);
    // The server ends a stream for good, for instance when the session is over.
    stream.addEventListener('end', () => stream.close());
  };
  open();
  // Browsers open six connections to a server over HTTP/1.1: with a stream in each of six tabs, none would load a page.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) {
      if (stream.readyState === EventSource.CLOSED) open();
    } else if (list.firstElementChild !== null) stream.close();
  });
}

enhance(document);
for (const element of document.querySelectorAll('[data-live][id]'))
  keepCurrent(element.id, Number(element.dataset.live));
for (const list of document.querySelectorAll('[data-stream]')) keepAdding(list);
