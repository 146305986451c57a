// A battle in the browser: panes follow their text, milestones are said aloud, arrows vote.
const SETTLE_MS = 600; // an arrow pressed for scrolling as the vote bar appears is not a vote
const NEAR_END_PX = 40;

let barSince = performance.now();
let kept = [];

const panesIn = (battle) => battle.querySelectorAll(".answer");
const announce = (text) => (document.getElementById("announcer").textContent = text.trim());

// ---- Panes follow the text unless the reader has scrolled up. ----

const leftBehind = new WeakSet();
document.addEventListener(
  "scroll",
  ({ target }) => {
    if (!(target instanceof Element) || !target.matches(".answer")) return;
    const atEnd = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END_PX;
    atEnd ? leftBehind.delete(target) : leftBehind.add(target);
    const latest = target.parentElement.querySelector(".latest");
    if (latest) latest.hidden = atEnd;
  },
  { capture: true, passive: true },
);
document.addEventListener("click", ({ target }) => {
  if (!target.matches(".latest")) return;
  const pane = target.parentElement.querySelector(".answer");
  pane.focus({ preventScroll: true });
  leftBehind.delete(pane); // a piece that comes before the scroll is noticed is followed, too
  pane.scrollTop = pane.scrollHeight;
});
document.addEventListener("htmx:sseMessage", ({ target }) => {
  for (const pane of target.closest("[data-live]")?.querySelectorAll(".answer") ?? []) {
    if (!leftBehind.has(pane)) pane.scrollTop = pane.scrollHeight;
  }
});

// ---- A battle that is replaced keeps its readers' place, and says what changed. ----

// A button that is disabled while its request runs has lost the focus by the time the answer comes.
let lastFocused = null;
document.addEventListener("focusin", ({ target }) => (lastFocused = target));
const focused = () => (document.activeElement === document.body ? lastFocused : document.activeElement);

function battleIn(target) {
  return target instanceof Element && target.matches(".battle") ? target : null;
}

const milestone = (battle) => battle.dataset.milestone.trim();

function keep(battle, { quietly = false } = {}) {
  const at = quietly ? document.activeElement : focused();
  kept.push({
    quietly,
    id: battle.id,
    milestone: milestone(battle),
    revealed: battle.querySelector(".reveal") !== null,
    hadFocus: battle.contains(at) || (!quietly && at?.matches("[data-follow-up]")),
    scrolled: [...panesIn(battle)].map((pane) => pane.scrollTop),
    swiped: [...battle.querySelectorAll(".panes")].map((panes) => panes.scrollLeft),
  });
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  kept = [];
  const battle = battleIn(detail.target);
  if (battle && (detail.xhr.status < 400 || detail.xhr.status === 422)) keep(battle);
});
// What another tab did (tabs.js) is news, too, but to nobody who waits for it here.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const battle = battleIn(detail.target);
  if (battle) keep(battle, { quietly: true });
});

document.addEventListener("htmx:afterSwap", () => {
  const swapped = kept;
  kept = [];
  for (const before of swapped) goOn(before);
  if (swapped.length) openFollowUp();
});

function goOn(before) {
  const battle = document.getElementById(before.id);
  if (!battle) return;
  panesIn(battle).forEach((pane, index) => (pane.scrollTop = before.scrolled[index] ?? 0));
  battle.querySelectorAll(".panes").forEach((panes, index) => (panes.scrollLeft = before.swiped[index] ?? 0));
  if (milestone(battle) !== before.milestone) {
    barSince = performance.now();
    if (!before.quietly) {
      announce(milestone(battle));
      showNews(battle, before);
    }
  }
  if (before.hadFocus) readOn(battle);
}

function showNews(battle, before) {
  const live = battle.querySelector("[data-live]");
  const news = live || before.revealed ? null : battle.querySelector(".reveal, .vote");
  live?.scrollIntoView({ block: "start" });
  news?.scrollIntoView({ block: "nearest" });
  settle(news);
  const votedByKey = document.activeElement === document.body && news?.matches(".reveal");
  if (before.hadFocus || votedByKey) news?.focus({ preventScroll: true });
}

// What appears under a finger that presses twice, or where Stop just was, is not meant yet; keys are.
function settle(news) {
  news?.classList.add("settling");
  setTimeout(() => news?.classList.remove("settling"), SETTLE_MS);
}

// What had the focus is gone, and there is no verdict to go on to: from what was asked last one reads on.
function readOn(battle) {
  if (document.activeElement !== document.body) return;
  [...battle.querySelectorAll(".question")].at(-1)?.focus({ preventScroll: true });
}

// A follow-up that was taken leaves the box empty for the next one.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.xhr.status === 200 && detail.elt.matches("[data-follow-up]")) detail.elt.form.reset();
});

function openFollowUp() {
  const last = [...document.querySelectorAll(".battle")].at(-1);
  const button = document.querySelector("[data-follow-up]");
  if (!last || !button) return;
  button.disabled = !("canFollowUp" in last.dataset);
  button.hidden = last.dataset.state === "void";
  if (!button.disabled) button.form.querySelector(".notice.still")?.remove();
}

// ---- Arrows vote, but never from a field, from inside an answer, or by a key that is being held. ----

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable], .answer, .question, pre, [popover]")) return;
  if (performance.now() - barSince < SETTLE_MS) return;
  const button = [...document.querySelectorAll(".vote button:enabled[data-key]")].findLast(
    ({ dataset }) => dataset.key === event.key,
  );
  if (!button) return;
  event.preventDefault();
  button.click();
});

// A vote that was not stored keeps its choice: Enter sends it again.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful || !detail.elt.matches(".vote")) return;
  const chosen = detail.requestConfig.triggeringEvent?.submitter;
  detail.elt.querySelectorAll("[data-chosen]").forEach((button) => delete button.dataset.chosen);
  if (!chosen) return;
  chosen.dataset.chosen = "";
  chosen.focus({ preventScroll: true });
});

// ---- After the names the next question is one key away; a letter is heard only where the focus is at the reveal. ----

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "n" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const next = event.target.closest(".reveal")?.querySelector("[data-next-battle]");
  if (!next) return;
  event.preventDefault(); // or the letter would be typed into the box
  next.click();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-next-battle]")) return;
  event.preventDefault();
  const form = document.getElementById("composer");
  const box = document.getElementById("prompt");
  form.dataset.next = "";
  box.placeholder = form.dataset.nextLabel;
  form.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
});

// A new battle in the same session differs only by its fragment, for which a browser loads nothing.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#battle-") && !document.getElementById(location.hash.slice(1))) {
    history.scrollRestoration = "manual"; // to the battle, not to where the reader was
    location.reload();
  }
});

openFollowUp();
const turns = [...document.querySelectorAll(".turn")];
const asked = document.getElementById(location.hash.slice(1)) ?? (turns.length > 1 ? turns.at(-1) : null);
asked?.scrollIntoView({ block: "start" });
