// Charts of the JSON in the page, in the page's colours; drawn again when these change.
const plots = [...document.querySelectorAll("[data-chart]")];
const MAX_MARKED_POINTS = 12; // a line through a few snapshots may be too short to be seen without markers
const SERIES_COLOURS = 8;
const LEGEND_PX = 16;
const ROW_PX = 22;
const LETTER_PX = 7; // of the charts' font, on average
const MIN_CELL_PX = 22;
const MAX_CELL_PX = 180; // with few models, wider cells would look like bands

// ---- Colours of the stylesheet in the current theme, light or dark. ----

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

// Dollars in the page's language; chart_locale.js configures Plotly's numbers and dates.
const { lang } = document.documentElement;
const dollars = new Intl.NumberFormat(lang, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" });
const [tickprefix, ticksuffix] = dollars.format(1).split(/[\d.,]+/);

const isNarrow = (plot) => plot.parentElement.clientWidth < 600;
// Shorten in the middle, because variants of a model differ at the end.
const cut = (name, max) => (name.length > max ? `${name.slice(0, Math.ceil(max / 2) - 1).trimEnd()}…${name.slice(-Math.floor(max / 2)).trimStart()}` : name);
// Escape names, because Plotly renders some HTML tags in texts.
const plain = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const named = (point, plot) => plain(cut(point.name, isNarrow(plot) ? 16 : 32));

// ---- One function per chart: (data, plot) → {traces, layout}. Data are listed top down, Plotly's rows bottom up. ----

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const MONTH_MS = 30 * DAY_MS;
const STAR_OFFSET_MS = DAY_MS / 2;
// Without a least span, the axis of one snapshot, or of a few seconds, would show milliseconds.
function timeAxis(times, span) {
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const missing = (span - (last - first)) / 2;
  return missing > 0 ? { range: [first - missing, last + missing] } : {};
}

const charts = {
  intervals(points, plot) {
    const rows = points.toReversed();
    const ends = rows.flatMap(({ score, ci_low, ci_high }) => [score, ci_low ?? score, ci_high ?? score]);
    const [min, max] = [Math.min(...ends) - 20, Math.max(...ends) + 20];
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
            // An unbounded side is drawn to the end of the axis.
            array: rows.map(({ score, ci_high }) => (ci_high ?? max) - score),
            arrayminus: rows.map(({ score, ci_low }) => score - (ci_low ?? min)),
            color: colour("edge"),
            thickness: 1.5,
            width: 3,
          },
        },
      ],
      layout: { height: 90 + ROW_PX * rows.length, xaxis: { title: plot.dataset.x, range: [min, max], nticks: isNarrow(plot) ? 4 : 10 }, yaxis: rowAxis(rows, plot) },
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
      mode: points.length < MAX_MARKED_POINTS ? "lines+markers" : "lines",
      name: plain(name),
      x: points.map(({ computed_at }) => computed_at),
      y: points.map(({ score }) => score),
      hovertemplate: `${plain(name)}: %{y:.0f}<extra></extra>`,
      line: { width: 2, color: colour(`series-${(number % SERIES_COLOURS) + 1}`), dash: number < SERIES_COLOURS ? "solid" : "dash" },
    }));
    return {
      traces: [...band, ...lines],
      layout: {
        height: plot.classList.contains("low") ? 280 : 420 + (isNarrow(plot) ? LEGEND_PX * series.length : 0),
        hovermode: "x unified",
        showlegend: series.length > 1,
        xaxis: timeAxis(series.flatMap(({ points }) => points.map(({ computed_at }) => Date.parse(computed_at))), 10 * MINUTE_MS),
        yaxis: { title: plot.dataset.y, tickformat: ".0f" },
      },
    };
  },

  stars(series, plot) {
    const middle = (series.length - 1) / 2;
    return {
      traces: series.map(({ name, points }, number) => ({
        type: "scatter",
        mode: "lines+markers",
        name: plain(name),
        // Side by side within the week, so that intervals do not cover each other.
        x: points.map(({ week }) => Date.parse(week) + (number - middle) * STAR_OFFSET_MS),
        y: points.map(({ mean }) => mean),
        customdata: points.map(({ low, high, answers }) => [stars(low), stars(high), answers]),
        hovertemplate: `${plain(name)}: %{y:.2f} (%{customdata[0]} – %{customdata[1]}, n = %{customdata[2]})<extra></extra>`,
        line: { width: 2, color: colour(`series-${(number % SERIES_COLOURS) + 1}`) },
        error_y: {
          type: "data",
          symmetric: false,
          array: points.map(({ mean, high }) => (high ?? mean) - mean),
          arrayminus: points.map(({ mean, low }) => mean - (low ?? mean)),
          thickness: 1.5,
          width: 3,
        },
      })),
      layout: {
        height: 320 + (isNarrow(plot) && series.length > 1 ? LEGEND_PX * series.length : 0),
        showlegend: series.length > 1,
        xaxis: { type: "date", ...timeAxis(series.flatMap(({ points }) => points.map(({ week }) => Date.parse(week))), MONTH_MS) },
        yaxis: { title: plot.dataset.y, range: [0.8, 5.2], dtick: 1 },
      },
    };
  },

  prices(points, plot) {
    const best = points.filter(({ best_for_its_price }) => best_for_its_price);
    const positions = labelPositions(points, plot);
    const coordinates = (shown) => ({ x: shown.map(({ price }) => Number(price)), y: shown.map(({ score }) => score) });
    return {
      traces: [
        { type: "scatter", mode: "lines", ...coordinates(best), name: plot.dataset.line, hoverinfo: "skip", line: { color: colour("accent"), width: 2, dash: "dot" } },
        {
          type: "scatter",
          mode: "markers+text",
          ...coordinates(points),
          text: points.map((point, index) => (positions[index] ? named(point, plot) : "")),
          textposition: points.map((_, index) => positions[index] ?? "top center"),
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

const stars = (bound) => (bound === null ? "?" : bound.toLocaleString(lang, { maximumFractionDigits: 2 }));
const whole = (bound) => (bound === null ? "?" : Math.round(bound));

const rowAxis = (rows, plot) => ({ tickvals: rows.map((_, row) => row), ticktext: rows.map((row) => named(row, plot)), showgrid: false, range: [-0.7, rows.length - 0.3] });

// Return each point's label position that covers nothing, or null; the best models for their price choose first.
function labelPositions(points, plot) {
  const spread = (values, px) => values.map((value) => ((value - Math.min(...values)) / (Math.max(...values) - Math.min(...values) || 1)) * px);
  const width = 0.87 * (plot.clientWidth - 64);
  const x = spread(points.map(({ price }) => Math.log(Math.max(price, 0.001))), width);
  const y = spread(points.map(({ score }) => score), 310);
  const taken = points.map((_, index) => ({ x: x[index], y: y[index], half: 6 }));
  const positions = points.map(() => null);
  const covers = (label, other) => Math.abs(other.x - label.x) < other.half + label.half && Math.abs(other.y - label.y) < 14;
  for (const index of [...points.keys()].sort((one, two) => points[two].best_for_its_price - points[one].best_for_its_price)) {
    const half = (LETTER_PX * named(points[index], plot).length) / 2;
    const offsets = { "top center": [0, 15], "bottom center": [0, -15], "middle right": [half + 10, 0], "middle left": [-half - 10, 0] };
    for (const [position, [right, up]] of Object.entries(offsets)) {
      const label = { x: x[index] + right, y: y[index] + up, half };
      const isInside = label.x - half > -0.065 * width && label.x + half < 1.065 * width + 12;
      if (positions[index] || !isInside || taken.some((other) => covers(label, other))) continue;
      taken.push(label);
      positions[index] = position;
    }
  }
  return positions;
}

const longestName = (rows, plot) => LETTER_PX * Math.max(...rows.map((row) => named(row, plot).length)) + 16;

// Return the first rows and columns that fit the page's width.
function fittingRows(rows, plot) {
  const max = Math.max(2, Math.floor((plot.parentElement.clientWidth - longestName(rows, plot) - 40) / MIN_CELL_PX));
  return rows.slice(0, max).map((row) => ({ ...row, cells: row.cells.slice(0, max) }));
}

function heatmap(matrix, plot, { value, label, scale, range }) {
  const rows = fittingRows(matrix.rows, plot);
  const fewer = plot.parentElement.querySelector("[data-fewer]");
  fewer.textContent = rows.length < matrix.rows.length ? fewer.dataset.fewer.replace("{shown}", rows.length) : "";
  const shown = rows.toReversed();
  const indices = rows.map((_, index) => index);
  const longest = longestName(rows, plot);
  plot.style.maxWidth = `${longest + MAX_CELL_PX * rows.length}px`;
  const cellPx = (plot.clientWidth - longest) / rows.length;
  const digits = String(Math.max(...rows.flatMap(({ cells }) => cells.map((cell) => (cell ? value(cell) : 0))))).length;
  return {
    traces: [
      {
        type: "heatmap",
        x: indices,
        y: indices,
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
      xaxis: { tickvals: indices, ticktext: rows.map((row) => named(row, plot)), tickangle: cellPx > longest ? 0 : isNarrow(plot) ? -90 : -45, showgrid: false, side: "bottom" },
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
  const wholeLayout = { ...shared, ...layout, xaxis: titled(layout.xaxis), yaxis: titled(layout.yaxis) };
  plot.style.minHeight = "0"; // the stylesheet reserves the chart's height until it is drawn
  return Plotly.react(plot, traces, wholeLayout, { displayModeBar: false, responsive: true, showTips: false, displaylogo: false, locale: lang });
}

// A cell links to the head-to-head page of its pair.
function openPair({ points: [point] }, plot, matrix) {
  const rows = fittingRows(matrix.rows, plot);
  const [row, column] = [rows.at(-1 - point.y), rows[point.x]];
  const team = new URLSearchParams(location.search).get("team");
  const place = team ? `?team=${encodeURIComponent(team)}` : "";
  if (row.cells[point.x]) location.assign(`${plot.dataset.compare}${row.id}/${column.id}/${place}`);
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
