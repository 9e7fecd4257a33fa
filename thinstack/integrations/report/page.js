for (const table of document.querySelectorAll("table.figures")) {
  const body = table.tBodies[0], rows = [...body.rows];
  const number = (row, column) => parseFloat(row.cells[column].textContent.replaceAll(",", "")) || 0;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.className === "picture") return;
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const turn = head.ariaSort === "descending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = turn === 1 ? "descending" : "ascending";
      const order = (a, b) => turn * (column ? number(b, column) - number(a, column) : rows.indexOf(a) - rows.indexOf(b));
      body.append(...[...rows].sort(order));
    };
  });
}
const box = document.createElement("input");
Object.assign(box, { type: "search", placeholder: "Filter", ariaLabel: "Filter rows and quotes" });
document.querySelector("nav").append(box);
box.oninput = () => {
  const words = box.value.toLowerCase();
  for (const part of document.querySelectorAll("tbody tr, article, blockquote")) part.hidden = !part.textContent.toLowerCase().includes(words);
  for (const part of document.querySelectorAll("details")) part.open = words !== "";
};
onhashchange = () => document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
