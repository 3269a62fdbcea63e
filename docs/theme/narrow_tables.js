/* On a phone a table that is wider than its box is read row by row, each cell below the other behind the name of its
   column (site.css). The first cell of a row is its name, and stands alone. */
const PHONE = 600; // px, as in site.css

function fit() {
  for (const table of document.querySelectorAll(".bd-article table")) {
    table.classList.remove("row-by-row");
    if (innerWidth <= PHONE && table.scrollWidth > table.parentElement.clientWidth) table.classList.add("row-by-row");
  }
}

function nameColumns(table) {
  const heads = table.tHead ? [...table.tHead.rows].at(-1).cells : [];
  for (const row of table.tBodies[0]?.rows || []) {
    [...row.cells].forEach((cell, k) => {
      const name = heads[k]?.textContent.trim();
      if (k && name) cell.dataset.column = name;
    });
  }
}

addEventListener("load", () => {
  document.querySelectorAll(".bd-article table").forEach(nameColumns);
  fit();
});
addEventListener("resize", fit);
