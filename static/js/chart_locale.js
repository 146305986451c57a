// Plotly's locale for the page's language: names of days and months, separators of numbers.
const { lang } = document.documentElement;
const nameOf = (parts) => (date) => new Intl.DateTimeFormat(lang, { ...parts, timeZone: "UTC" }).format(date);
const months = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month, 1));
const days = Array.from({ length: 7 }, (_, day) => Date.UTC(2026, 1, 1 + day)); // 1 February 2026 is a Sunday
const mark = (type) => new Intl.NumberFormat(lang).formatToParts(12345.6).find((part) => part.type === type).value;
if (lang !== "en") {
  Plotly.register({
    moduleType: "locale",
    name: lang,
    dictionary: {},
    format: {
      days: days.map(nameOf({ weekday: "long" })),
      shortDays: days.map(nameOf({ weekday: "short" })),
      months: months.map(nameOf({ month: "long" })),
      shortMonths: months.map(nameOf({ month: "short" })),
      date: "%d/%m/%Y",
      decimal: mark("decimal"),
      thousands: mark("group"),
      year: "%Y",
      month: "%b %Y",
      dayMonth: "%-d %b",
      dayMonthYear: "%-d %b %Y",
    },
  });
}
