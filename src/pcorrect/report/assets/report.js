"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Tables: sort by the exact number where a cell has one, else by its text.
  const collator = new Intl.Collator(undefined, { numeric: true });
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    const number = (v) => typeof v === "number";
    if (number(a) && number(b)) return a - b;
    if (number(a) !== number(b)) return number(a) ? -1 : 1;
    return collator.compare(a, b);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, i) => {
      head.querySelector("button").addEventListener("click", () => {
        const body = table.tBodies[0];
        const first = head.classList.contains("num") ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const order = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = [...body.rows].map((row) => [key(row, i), row]);
        rows.sort((a, b) => sign * compare(a[0], b[0]));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
    const filter = table.closest(".table").querySelector(".filter");
    if (filter) {
      filter.addEventListener("input", () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const row of table.tBodies[0].rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
        }
      });
    }
  }

  // Prompts: all rows are data; those that match are shown page by page, as text and nothing else.
  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const PAGE = 25;
  const listing = (box) => {
    const { kinds, rows, more } = JSON.parse(box.querySelector("script.rows").textContent);
    const body = box.querySelector("tbody"), filter = box.querySelector(".filter");
    const button = box.querySelector(".more"), found = box.querySelector(".found");
    const heads = [...box.querySelectorAll("thead th")];
    const text = (cell) => (Array.isArray(cell) ? cell[1] : cell);
    const value = (cell) => (Array.isArray(cell) ? cell[0] : cell);
    const haystack = rows.map((row, i) =>
      [...row.filter((cell) => !Array.isArray(cell)), more[i][0], ...more[i][3].map((a) => a[0])]
        .join("\n").toLowerCase());
    let order = rows.map((_, i) => i), matches = order, shown = 0;
    const details = (i) => {
      const [prompt, key, different, answers] = more[i];
      const line = make("tr", undefined, "details"), cell = make("td");
      cell.colSpan = heads.length;
      if (prompt) cell.append(make("pre", prompt));
      if (key) cell.append(make("p", `Key: ${key}`));
      if (answers.length) {
        const list = make("ul");
        for (const [answer, times, right, llms] of answers) {
          const item = make("li");
          item.append(make("bdi", answer || "(no answer)", right ? "right" : ""),
            ` × ${times}${right ? " (key)" : ""}${llms > 1 ? `, by ${llms} llms` : ""}`);
          list.append(item);
        }
        if (different > answers.length) list.append(make("li", `… and ${different - answers.length} more`));
        cell.append(list);
      }
      if (!cell.hasChildNodes()) cell.append(make("p", "The log holds no text and no answers."));
      line.append(cell);
      return line;
    };
    const toggle = (row, i) => {
      const open = row.nextElementSibling && row.nextElementSibling.classList.contains("details");
      if (open) row.nextElementSibling.remove(); else row.after(details(i));
      row.querySelector("button").setAttribute("aria-expanded", String(!open));
    };
    const line = (i) => {
      const row = make("tr");
      rows[i].forEach((cell, j) => {
        const element = make(j ? "td" : "th", undefined, kinds[j] || "");
        if (j) element.append(make("bdi", text(cell)));
        else {
          const opener = make("button");
          opener.type = "button";
          opener.append(make("bdi", text(cell)));
          opener.setAttribute("aria-expanded", "false");
          element.append(opener);
        }
        row.append(element);
      });
      row.addEventListener("click", () => toggle(row, i));
      return row;
    };
    const add = () => {
      body.append(...matches.slice(shown, shown + PAGE).map(line));
      shown = Math.min(shown + PAGE, matches.length);
      button.hidden = shown >= matches.length;
      found.textContent = shown < matches.length || matches.length < rows.length
        ? `${shown} of ${matches.length} prompts shown` : "";
    };
    const refresh = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      matches = order.filter((i) => words.every((word) => haystack[i].includes(word)));
      body.replaceChildren();
      shown = 0;
      add();
    };
    heads.forEach((head, j) => head.querySelector("button").addEventListener("click", () => {
      const first = kinds[j] === "num" ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      const way = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      order = [...order].sort((a, b) => {
        const x = value(rows[a][j]), y = value(rows[b][j]);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * compare(x, y);
      });
      refresh();
    }));
    filter.addEventListener("input", refresh);
    button.addEventListener("click", add);
    refresh();
  };
  for (const box of document.querySelectorAll(".prompts")) listing(box);

  // What a chart says at the point nearest to the pointer.
  const tip = document.getElementById("tip");
  const hide = () => { tip.style.display = "none"; };
  const show = (text, event) => {
    tip.textContent = text;
    tip.style.display = "block";
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(event.clientX + 14, 4), innerWidth - box.width - 4);
    const above = event.clientY - box.height - 12;
    tip.style.transform = `translate(${Math.max(left, 4)}px, ${above < 4 ? event.clientY + 18 : above}px)`;
  };
  const watch = (area, say) => {
    for (const kind of ["pointermove", "pointerdown"]) {
      area.addEventListener(kind, (event) => {
        const box = area.getBoundingClientRect();
        const text = say(event.clientX - box.left, event.clientY - box.top, box);
        if (text) show(text, event); else hide();
      });
    }
    area.addEventListener("pointerleave", hide);
  };
  const lazily = (element) => {
    let value = null;
    return () => (value ??= JSON.parse(element.textContent));
  };
  for (const element of document.querySelectorAll("script.hover")) {
    const points = lazily(element);
    watch(element.closest("figure").querySelector(".plot"), (x, y, box) => {
      let best = null, least = 40 * 40;
      for (const point of points()) {
        const dx = (point[0] / 100) * box.width - x, dy = (point[1] / 100) * box.height - y;
        const d = dx * dx + dy * dy;
        if (d < least) { least = d; best = point; }
      }
      return best && best[2];
    });
  }
  for (const element of document.querySelectorAll("script.pairs")) {
    const pairs = lazily(element);
    watch(element.closest("figure").querySelector(".square"), (x, y, box) => {
      const { names, p } = pairs(), n = names.length;
      const i = Math.min(Math.floor((y / box.height) * n), n - 1);
      const j = Math.min(Math.floor((x / box.width) * n), n - 1);
      if (i < 0 || j < 0 || i === j) return "";
      return `P(${names[i]} better than ${names[j]}) = ${p[i][j].toFixed(3)}`;
    });
  }
})();
