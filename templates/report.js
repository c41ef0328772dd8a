"use strict";
// Optional: the page is complete without it. Copy buttons, and tables that sort.
for (const block of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
  });
  block.after(button);
}
// A link to a result inside a closed fold opens it.
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest("details:not([open])");
  if (fold) {
    fold.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", unfold);
unfold();
const value = (row, column) => {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(number) ? text : number;
};
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
