// The interactive features of the pages. All pages work without it.
'use strict';

// Keyboard shortcuts: / searches, j and k move through a list, Enter opens an item, ? shows help.
const rows = () => [...document.querySelectorAll('main .list tbody tr, main ul.plain > li, main details.group')]
  .filter((row) => row.querySelector('a'));
let at = -1;

function select(step) {
  const all = rows();
  if (all.length === 0) return;
  if (all[at]) all[at].classList.remove('selected');
  at = Math.min(Math.max(at + step, 0), all.length - 1);
  all[at].classList.add('selected');
  all[at].querySelector('a').focus({ preventScroll: true });
  all[at].scrollIntoView({ block: 'nearest' });
}

function explain() {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'keys');
  const title = document.createElement('h2');
  title.id = 'keys';
  title.textContent = 'Keyboard';
  const list = document.createElement('dl');
  const keys = [['/', 'search documents'], ['j', 'next item of a list'], ['k', 'previous item'], ['Enter', 'open the item'],
    ['g', 'go to the overview'], ['?', 'show this'], ['Esc', 'close this']];
  for (const [key, what] of keys) {
    const term = document.createElement('dt');
    const kbd = document.createElement('kbd');
    kbd.textContent = key;
    term.append(kbd);
    const meaning = document.createElement('dd');
    meaning.textContent = what;
    list.append(term, meaning);
  }
  const close = document.createElement('button');
  close.textContent = 'Close';
  close.addEventListener('click', () => dialog.close());
  dialog.append(title, list, close);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog')) return;
  const actions = {
    '/': () => document.getElementById('find')?.focus(),
    j: () => select(1),
    k: () => select(-1),
    g: () => { location.href = document.body.dataset.base; },
    '?': explain,
  };
  if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
});

// The graph can be enlarged, reduced, and moved by dragging.
const picture = document.getElementById('picture');
const zoom = document.querySelector('[data-zoom]');
if (picture && zoom) {
  const frame = picture.parentElement;
  zoom.hidden = false;
  const resize = (by) => {
    const width = picture.getBoundingClientRect().width;
    frame.classList.toggle('free', by !== 0);
    picture.style.width = by === 0 ? '' : `${Math.min(Math.max(width * by, 100), 20000)}px`;
  };
  for (const button of zoom.querySelectorAll('button')) {
    button.addEventListener('click', () => resize(Number(button.dataset.by)));
  }
  let from = null; // where dragging began; without a move it is a click
  let moved = false;
  frame.addEventListener('pointerdown', (event) => {
    from = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop, at: [event.clientX, event.clientY] };
    moved = false;
  });
  frame.addEventListener('pointermove', (event) => {
    if (!from) return;
    if (!moved && Math.hypot(event.clientX - from.at[0], event.clientY - from.at[1]) > 4) {
      moved = true;
      frame.setPointerCapture(event.pointerId);
    }
    if (moved) frame.scrollTo(from.x - event.clientX, from.y - event.clientY);
  });
  for (const end of ['pointerup', 'pointercancel']) frame.addEventListener(end, () => { from = null; });
  frame.addEventListener('click', (event) => { if (moved) event.preventDefault(); }, true);
  frame.addEventListener('dragstart', (event) => event.preventDefault());
}

// Commands have a button that copies them, where the browser lets a page do so.
function offerCopies() {
  if (!navigator.clipboard) return;
  for (const command of document.querySelectorAll('pre[data-copy]:not(.copied > pre)')) {
    const frame = document.createElement('div');
    frame.className = 'copied';
    command.replaceWith(frame);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.textContent).then(
        () => { button.textContent = 'Copied'; }, () => { button.textContent = 'Select and copy it'; });
    });
    frame.append(command, button);
  }
}
offerCopies();

// Times are written as the server writes them, as seen from now.
function tell() {
  const day = 24 * 60;
  for (const time of document.querySelectorAll('main time')) {
    const minutes = (Date.now() - Date.parse(time.dateTime)) / 60000;
    const distance = Math.abs(minutes);
    if (Number.isNaN(distance) || distance >= 30 * day) continue; // a date stays
    const unit = distance < 60 ? 'minute' : distance < day ? 'hour' : 'day';
    const n = Math.floor(distance / { minute: 1, hour: 60, day }[unit]);
    const many = `${n} ${unit}${n === 1 ? '' : 's'}`;
    const text = n === 0 ? 'now' : minutes < 0 ? `in ${many}` : `${many} ago`;
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(tell, 30000);

// Live updates: a page that depends on the site is read again when the site changes, while the page is visible.
const base = document.body.dataset.base;
let stream = null;
let reading = false;
let again = false;

async function refresh() {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  do {
    again = false;
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) break;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.getElementById('main');
    const old = document.getElementById('main');
    if (!fresh || old.querySelector('input:focus, select:focus')) break; // the user is filling in a form
    if (fresh.innerHTML === old.innerHTML) break;
    old.replaceChildren(...fresh.childNodes);
    offerCopies();
    at = -1;
    say(`Updated at ${new Date().toISOString().slice(11, 19)} UTC`);
  } while (again);
  reading = false;
}

function say(text) {
  let news = document.getElementById('news');
  if (!news) {
    news = document.createElement('p');
    news.id = 'news';
    news.setAttribute('role', 'status');
    document.querySelector('footer').prepend(news);
  }
  news.textContent = text;
}

function listen() {
  if (stream || document.hidden) return;
  stream = new EventSource(`${base}events`);
  for (const type of ['revision.created', 'validation.posted', 'verdict.changed', 'validation.claimed', 'validation.requested',
    'waiver.created', 'waiver.ended', 'tag.set', 'tag.deleted',
    'revision.pruned', 'site.purged']) {
    stream.addEventListener(`purser.${type}`, refresh);
  }
}

if ('live' in document.body.dataset) {
  say('');
  listen();
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      stream?.close();
      stream = null;
    } else {
      listen();
      refresh();
    }
  });
}
