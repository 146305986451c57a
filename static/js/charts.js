// Charts: numbers from the page's own JSON, drawn in the page's colours, and again when these change.
const plots = [...document.querySelectorAll("[data-chart]")];
const FEW = 12; // snapshots, of which a line alone may be too short to be seen
const SERIES = 8;
const LEGEND_PX = 16;
const ROW_PX = 22;
const LETTER_PX = 7; // of the charts' font, on average
const LEAST_CELL_PX = 22;
const WIDEST_CELL_PX = 180; // of few models cells do not become bands

// ---- Colours are the stylesheet's, as they are now: light or dark. ----

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function faint(name, share) {
  probe.style.color = `color-mix(in srgb, var(--${name}) ${share}%, transparent)`;
  return getComputedStyle(probe).color;
}

// Numbers and dollars as the page's language writes them; chart_locale.js tells Plotly the rest.
const { lang } = document.documentElement;
const dollars = new Intl.NumberFormat(lang, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" });
const [tickprefix, ticksuffix] = dollars.format(1).split(/[\d.,]+/);

const isNarrow = (plot) => plot.parentElement.clientWidth < 600;
// In the middle: variants of a model differ at the end.
const cut = (name, most) => (name.length > most ? `${name.slice(0, Math.ceil(most / 2) - 1).trimEnd()}…${name.slice(-Math.floor(most / 2)).trimStart()}` : name);
// Names are shown as they are: Plotly takes some tags in a text for its own.
const plain = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const named = (point, plot) => plain(cut(point.name, isNarrow(plot) ? 16 : 32));

// ---- One function per chart: (data, plot) → {traces, layout}. Points are listed top down, Plotly counts bottom up. ----

const DAY_MS = 86_400_000;
// Around snapshots of less than a day, which would be drawn over the milliseconds between them.
function wholeDay(series) {
  const times = series.flatMap(({ points }) => points.map(({ computed_at }) => Date.parse(computed_at)));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const missing = (DAY_MS - (last - first)) / 2;
  return missing > 0 ? { range: [first - missing, last + missing] } : {};
}

const charts = {
  intervals(points, plot) {
    const rows = points.toReversed();
    const ends = rows.flatMap(({ score, ci_low, ci_high }) => [score, ci_low ?? score, ci_high ?? score]);
    const [least, most] = [Math.min(...ends) - 20, Math.max(...ends) + 20];
    return {
      traces: [
        {
          type: "scatter",
          mode: "markers",
          x: rows.map(({ score }) => score),
          y: rows.map((_, row) => row),
          customdata: rows.map(({ name, ci_low, ci_high }) => [plain(name), whole(ci_low), whole(ci_high)]),
          hovertemplate: "%{customdata[0]}<br>%{x:.0f} (%{customdata[1]} – %{customdata[2]})<extra></extra>",
          marker: { size: 8, color: rows.map(({ preliminary }) => colour(preliminary ? "edge" : "accent")) },
          error_x: {
            type: "data",
            symmetric: false,
            // A side without a bound is drawn to the end.
            array: rows.map(({ score, ci_high }) => (ci_high ?? most) - score),
            arrayminus: rows.map(({ score, ci_low }) => score - (ci_low ?? least)),
            color: colour("edge"),
            thickness: 1.5,
            width: 3,
          },
        },
      ],
      layout: { height: 90 + ROW_PX * rows.length, xaxis: { title: plot.dataset.x, range: [least, most], nticks: isNarrow(plot) ? 4 : 10 }, yaxis: rowAxis(rows, plot) },
    };
  },

  shares: (matrix, plot) => heatmap(matrix, plot, {
    value: (cell) => Math.round(cell.share * 100),
    label: (cell) => `${Math.round(cell.share * 100)} % · ${cell.votes} ${plot.dataset.votes}`,
    scale: [[0, colour("low")], [0.5, colour("middle")], [1, colour("high")]],
    range: [0, 100],
  }),

  votes: (matrix, plot) => heatmap(matrix, plot, {
    value: (cell) => cell.votes,
    label: (cell) => `${cell.votes} ${plot.dataset.votes}`,
    scale: [[0, colour("middle")], [1, colour("high")]],
  }),

  history(series, plot) {
    const band = series.length === 1 ? bandOf(series[0].points) : [];
    const lines = series.map(({ name, points }, number) => ({
      type: "scatter",
      mode: points.length < FEW ? "lines+markers" : "lines",
      name: plain(name),
      x: points.map(({ computed_at }) => computed_at),
      y: points.map(({ score }) => score),
      hovertemplate: `${plain(name)}: %{y:.0f}<extra></extra>`,
      line: { width: 2, color: colour(`series-${(number % SERIES) + 1}`), dash: number < SERIES ? "solid" : "dash" },
    }));
    return {
      traces: [...band, ...lines],
      layout: {
        height: plot.classList.contains("low") ? 280 : 420 + (isNarrow(plot) ? LEGEND_PX * series.length : 0),
        hovermode: "x unified",
        showlegend: series.length > 1,
        xaxis: wholeDay(series),
        yaxis: { title: plot.dataset.y, tickformat: ".0f" },
      },
    };
  },

  prices(points, plot) {
    const best = points.filter(({ best_for_its_price }) => best_for_its_price);
    const beside = placesOfNames(points, plot);
    const place = (shown) => ({ x: shown.map(({ price }) => Number(price)), y: shown.map(({ score }) => score) });
    return {
      traces: [
        { type: "scatter", mode: "lines", ...place(best), name: plot.dataset.line, hoverinfo: "skip", line: { color: colour("accent"), width: 2, dash: "dot" } },
        {
          type: "scatter",
          mode: "markers+text",
          ...place(points),
          text: points.map((point, place) => (beside[place] ? named(point, plot) : "")),
          textposition: points.map((_, place) => beside[place] ?? "top center"),
          customdata: points.map(({ name }) => plain(name)),
          textfont: { size: 11, color: colour("soft") },
          cliponaxis: false,
          hovertemplate: `%{customdata}<br>${tickprefix}%{x}${ticksuffix} · %{y:.0f}<extra></extra>`,
          showlegend: false,
          marker: { size: 10, color: points.map(({ best_for_its_price }) => colour(best_for_its_price ? "accent" : "edge")) },
        },
      ],
      layout: {
        height: 440,
        showlegend: best.length > 1,
        xaxis: { title: plot.dataset.x, type: "log", dtick: 1, tickprefix, ticksuffix },
        yaxis: { title: plot.dataset.y, tickformat: ".0f" },
      },
    };
  },

  firstTokens(points, plot) {
    const rows = points.toReversed();
    return {
      traces: [
        {
          type: "bar",
          orientation: "h",
          x: rows.map(({ median_first_token_ms }) => median_first_token_ms),
          y: rows.map((_, row) => row),
          text: rows.map(({ median_first_token_ms }) => median_first_token_ms.toLocaleString(lang)),
          textposition: "outside",
          cliponaxis: false,
          customdata: rows.map(({ name }) => plain(name)),
          hovertemplate: "%{customdata}: %{x} ms<extra></extra>",
          marker: { color: colour("accent") },
        },
      ],
      layout: { height: 90 + ROW_PX * rows.length, bargap: 0.35, xaxis: { title: plot.dataset.x, range: [0, (isNarrow(plot) ? 1.4 : 1.15) * Math.max(...rows.map(({ median_first_token_ms }) => median_first_token_ms))] }, yaxis: rowAxis(rows, plot) },
    };
  },
};

const whole = (bound) => (bound === null ? "?" : Math.round(bound));

const rowAxis = (rows, plot) => ({ tickvals: rows.map((_, row) => row), ticktext: rows.map((row) => named(row, plot)), showgrid: false, range: [-0.7, rows.length - 0.3] });

// A name stands beside its point where it covers nothing, or nowhere: the best for their price come first.
function placesOfNames(points, plot) {
  const spread = (values, px) => values.map((value) => ((value - Math.min(...values)) / (Math.max(...values) - Math.min(...values) || 1)) * px);
  const width = 0.87 * (plot.clientWidth - 64);
  const x = spread(points.map(({ price }) => Math.log(Math.max(price, 0.001))), width);
  const y = spread(points.map(({ score }) => score), 310);
  const taken = points.map((_, place) => ({ x: x[place], y: y[place], half: 6 }));
  const places = points.map(() => null);
  const covers = (name, other) => Math.abs(other.x - name.x) < other.half + name.half && Math.abs(other.y - name.y) < 14;
  for (const place of [...points.keys()].sort((one, two) => points[two].best_for_its_price - points[one].best_for_its_price)) {
    const half = (LETTER_PX * named(points[place], plot).length) / 2;
    const ways = { "top center": [0, 15], "bottom center": [0, -15], "middle right": [half + 10, 0], "middle left": [-half - 10, 0] };
    for (const [way, [right, up]] of Object.entries(ways)) {
      const name = { x: x[place] + right, y: y[place] + up, half };
      const isInside = name.x - half > -0.065 * width && name.x + half < 1.065 * width + 12;
      if (places[place] || !isInside || taken.some((other) => covers(name, other))) continue;
      taken.push(name);
      places[place] = way;
    }
  }
  return places;
}

const longestName = (rows, plot) => LETTER_PX * Math.max(...rows.map((row) => named(row, plot).length)) + 16;

// As many of the first as there is room for.
function fitting(rows, plot) {
  const most = Math.max(2, Math.floor((plot.parentElement.clientWidth - longestName(rows, plot) - 40) / LEAST_CELL_PX));
  return rows.slice(0, most).map((row) => ({ ...row, cells: row.cells.slice(0, most) }));
}

function heatmap(matrix, plot, { value, label, scale, range }) {
  const rows = fitting(matrix.rows, plot);
  const fewer = plot.parentElement.querySelector("[data-fewer]");
  fewer.textContent = rows.length < matrix.rows.length ? fewer.dataset.fewer.replace("{shown}", rows.length) : "";
  const shown = rows.toReversed();
  const places = rows.map((_, place) => place);
  const longest = longestName(rows, plot);
  plot.style.maxWidth = `${longest + WIDEST_CELL_PX * rows.length}px`;
  const cellPx = (plot.clientWidth - longest) / rows.length;
  const digits = String(Math.max(...rows.flatMap(({ cells }) => cells.map((cell) => (cell ? value(cell) : 0))))).length;
  return {
    traces: [
      {
        type: "heatmap",
        x: places,
        y: places,
        z: shown.map(({ cells }) => cells.map((cell) => (cell ? value(cell) : null))),
        text: shown.map(({ cells }) => cells.map((cell) => (cell ? value(cell) : ""))),
        texttemplate: cellPx < LETTER_PX * (digits + 1) ? "" : "%{text}",
        textfont: { color: colour("ink") },
        customdata: shown.map((row) => row.cells.map((cell, column) => (cell ? `${plain(row.name)} – ${plain(rows[column].name)}: ${label(cell)}` : ""))),
        hovertemplate: "%{customdata}<extra></extra>",
        hoverongaps: false,
        xgap: 1,
        ygap: 1,
        colorscale: scale,
        ...(range ? { zmin: range[0], zmax: range[1] } : {}),
        showscale: false,
      },
    ],
    layout: {
      height: (cellPx > longest ? 60 : 150) + (ROW_PX + 4) * rows.length,
      xaxis: { tickvals: places, ticktext: rows.map((row) => named(row, plot)), tickangle: cellPx > longest ? 0 : isNarrow(plot) ? -90 : -45, showgrid: false, side: "bottom" },
      yaxis: { ...rowAxis(shown, plot), range: [-0.5, rows.length - 0.5] },
    },
  };
}

function bandOf(points) {
  const known = points.filter(({ ci_low, ci_high }) => ci_low !== null && ci_high !== null);
  const edge = (bounds, fill) => ({ type: "scatter", mode: "lines", x: known.map(({ computed_at }) => computed_at), y: bounds, line: { width: 0 }, hoverinfo: "skip", showlegend: false, ...fill });
  return [
    edge(known.map(({ ci_low }) => ci_low), {}),
    edge(known.map(({ ci_high }) => ci_high), { fill: "tonexty", fillcolor: faint("accent", 18) }),
  ];
}

// ---- Drawing ----

const dataOf = ({ dataset }) => JSON.parse(document.getElementById(`data-${dataset.source ?? dataset.chart}`).textContent);

function draw(plot) {
  const { traces, layout } = charts[plot.dataset.chart](dataOf(plot), plot);
  const axis = { fixedrange: true, automargin: true, zeroline: false, gridcolor: colour("line"), linecolor: colour("line"), tickcolor: colour("line") };
  const titled = ({ title, ...rest } = {}) => ({ ...axis, ...rest, ...(title ? { title: { text: title, font: { size: 12 }, standoff: 12 } } : {}) });
  const shared = {
    autosize: true,
    dragmode: false,
    margin: { l: 8, r: 16, t: 16, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("ink") },
    hoverlabel: { bgcolor: colour("page"), bordercolor: colour("edge"), font: { color: colour("ink") } },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    showlegend: false,
  };
  const whole = { ...shared, ...layout, xaxis: titled(layout.xaxis), yaxis: titled(layout.yaxis) };
  plot.style.minHeight = "0"; // its place was kept until now
  return Plotly.react(plot, traces, whole, { displayModeBar: false, responsive: true, showTips: false, displaylogo: false, locale: lang });
}

// A cell of a pair leads to their head to head.
function openPair({ points: [point] }, plot, matrix) {
  const rows = fitting(matrix.rows, plot);
  const [row, column] = [rows.at(-1 - point.y), rows[point.x]];
  if (row.cells[point.x]) location.assign(`${plot.dataset.compare}${row.id}/${column.id}/`);
}

let drawing = Promise.resolve();
const drawAll = () => (drawing = drawing.then(() => Promise.all(plots.map(draw))));

drawAll();
drawing.then(() => {
  for (const plot of plots.filter(({ dataset }) => dataset.compare)) {
    plot.on("plotly_click", (event) => openPair(event, plot, dataOf(plot)));
  }
});
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
matchMedia("(max-width: 40em)").addEventListener("change", drawAll);

for (const form of document.querySelectorAll("[data-send-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
