/* The order of what the search finds, one hit a page: pages whose name was typed, then pages for users, then the
   reference, and at last, folded away, evidence. Pages that are equal come in the order of the menus.
   SEARCH_PAGES is written by extensions/site_search.py; Search is the search of Sphinx, which finds the pages. */
const MOST = 15; // hits that are shown before one asks for more
const PAGES = Object.keys(SEARCH_PAGES);
const stemmer = new Stemmer();

function stems(text) {
  const words = splitQuery(text.toLowerCase());
  const heavy = words.filter((word) => !stopwords.has(word));
  return (heavy.length ? heavy : words).map((word) => stemmer.stemWord(word));
}

/* How much of a name of the page was typed: 1 of a whole name, less of a longer one, and 0.2 of several together. */
function called(page, words) {
  const names = SEARCH_PAGES[page].names.map((name) => new Set(stems(name)));
  const holds = (name) => words.size > 0 && [...words].every((word) => name.has(word));
  const together = new Set(names.flatMap((name) => [...name]));
  return Math.max(holds(together) ? 0.2 : 0, ...names.filter(holds).map((name) => words.size / name.size));
}

function part(page) {
  if (SEARCH_PAGES[page].evidence) return -20; // where a page for users has the same name, that comes first
  if (/^reference/.test(page)) return 0;
  return /^(gallery|start\/from-|measures)/.test(page) ? 6 : 12;
}

/* The hits of Sphinx are [page, title, anchor, description, score, file, kind]; the best of a page stands for it. */
function ordered(hits, query) {
  const best = new Map();
  for (const hit of hits) {
    const rival = best.get(hit[0]);
    if (SEARCH_PAGES[hit[0]] && (!rival || hit[4] > rival[4] || (hit[4] === rival[4] && !hit[2]))) best.set(hit[0], hit);
  }
  const words = new Set(stems(query));
  const found = [];
  PAGES.forEach((page, place) => {
    const hit = best.get(page);
    const name = called(page, words);
    if (!hit && name < 0.5) return;
    const whole = !hit || !hit[2] || name === 1;
    found.push({
      page: page,
      title: whole ? Search._index.titles[Search._index.docnames.indexOf(page)] : hit[1],
      anchor: whole ? "" : hit[2],
      last: SEARCH_PAGES[page].evidence && name < 1,
      score: 60 * name + part(page) + (hit ? Math.min(hit[4], 20) : 0),
      place: place,
    });
  });
  return found.sort((a, b) => a.last - b.last || b.score - a.score || a.place - b.place);
}

function listed(hits) {
  const list = document.createElement("ul");
  list.className = "search";
  list.setAttribute("role", "list");
  for (const { page, title, anchor } of hits) {
    const item = list.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = page + DOCUMENTATION_OPTIONS.LINK_SUFFIX + anchor;
    link.textContent = title;
    const says = item.appendChild(document.createElement("p"));
    says.className = "context";
    says.textContent = SEARCH_PAGES[page].says;
  }
  return list;
}

function folded(summary, hits) {
  if (!hits.length) return;
  const box = Search.output.parentElement.appendChild(document.createElement("details"));
  box.appendChild(document.createElement("summary")).textContent = `${summary} (${hits.length})`;
  box.appendChild(listed(hits));
}

Search.query = (query) => {
  const parsed = Search._parseQuery(query);
  const found = ordered(Search._performSearch(...parsed), query);
  const pages = found.filter((hit) => !hit.last);
  Search.output.replaceWith((Search.output = listed(pages.slice(0, MOST))));
  folded("More pages", pages.slice(MOST));
  folded("Evidence and internals", found.filter((hit) => hit.last));
  _finishSearch(pages.length || found.length);
};
