// A battle's page: panes scroll with their text, milestones go to screen readers, arrow keys vote.
const SETTLE_MS = 600; // an arrow key pressed for scrolling when the vote bar appears must not vote
const NEAR_END_PX = 40;

let barShownAt = performance.now();
let snapshots = [];

const panesIn = (battle) => battle.querySelectorAll(".answer");
const announce = (text) => (document.getElementById("announcer").textContent = text.trim());

// ---- Panes scroll with the text unless the reader has scrolled up; a complete answer is shown from its top. ----

const scrolledUp = new WeakSet();
const hasScrolled = new WeakSet(); // panes that their reader scrolled at least once
const COMPLETE = '[data-state="done"], [data-state="stopped"], [data-state="failed"]';
const isComplete = (pane) => pane.parentElement.querySelector(COMPLETE) !== null;
document.addEventListener(
  "scroll",
  ({ target }) => {
    if (!(target instanceof Element) || !target.matches(".answer") || isComplete(target)) return;
    const atEnd = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END_PX;
    atEnd ? scrolledUp.delete(target) : scrolledUp.add(target);
    if (!atEnd) hasScrolled.add(target);
    const latest = target.parentElement.querySelector(".latest");
    if (latest) latest.hidden = atEnd;
  },
  { capture: true, passive: true },
);
document.addEventListener("click", ({ target }) => {
  if (!target.matches(".latest")) return;
  const pane = target.parentElement.querySelector(".answer");
  pane.focus({ preventScroll: true });
  scrolledUp.delete(pane); // text may arrive before the scroll event
  pane.scrollTop = pane.scrollHeight;
});
document.addEventListener("htmx:sseMessage", ({ target }) => {
  for (const pane of target.closest("[data-live]")?.querySelectorAll(".answer") ?? []) {
    if (!scrolledUp.has(pane)) follow(pane);
  }
});

function follow(pane) {
  if (!isComplete(pane)) pane.scrollTop = pane.scrollHeight;
  else {
    pane.scrollTop = restingPlace(pane);
    scrolledUp.add(pane);
  }
}

const restingPlace = (pane) => (pane.closest("[data-live]") && !hasScrolled.has(pane) ? 0 : pane.scrollTop);

// ---- A replaced battle keeps scroll positions and focus, and announces changes. ----

// A button that is disabled during its request has lost the focus when the response arrives.
let lastFocused = null;
document.addEventListener("focusin", ({ target }) => (lastFocused = target));
const focused = () => (document.activeElement === document.body ? lastFocused : document.activeElement);

function battleIn(target) {
  return target instanceof Element && target.matches(".battle") ? target : null;
}

const milestone = (battle) => battle.dataset.milestone.trim();

function takeSnapshot(battle, { quietly = false } = {}) {
  const at = quietly ? document.activeElement : focused();
  snapshots.push({
    quietly,
    id: battle.id,
    milestone: milestone(battle),
    revealed: battle.querySelector(".reveal") !== null,
    hadFocus: battle.contains(at) || (!quietly && at?.matches("[data-follow-up]")),
    revealHadFocus: battle.contains(at) && at.matches(".reveal"),
    scrolled: [...panesIn(battle)].map(restingPlace),
    swiped: [...battle.querySelectorAll(".panes")].map((panes) => panes.scrollLeft),
  });
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  snapshots = [];
  const battle = battleIn(detail.target);
  if (battle && (detail.xhr.status < 400 || detail.xhr.status === 422)) takeSnapshot(battle);
});
// Changes made in another tab (tabs.js) are shown, but neither announced nor focused.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const battle = battleIn(detail.target);
  if (battle) takeSnapshot(battle, { quietly: true });
});

document.addEventListener("htmx:afterSwap", () => {
  const swapped = snapshots;
  snapshots = [];
  for (const before of swapped) restore(before);
  if (swapped.length) updateFollowUp();
});

function restore(before) {
  const battle = document.getElementById(before.id);
  if (!battle) return;
  panesIn(battle).forEach((pane, index) => (pane.scrollTop = before.scrolled[index] ?? 0));
  battle.querySelectorAll(".panes").forEach((panes, index) => (panes.scrollLeft = before.swiped[index] ?? 0));
  if (!before.revealed && battle.querySelector(".reveal") && promptBox()?.value === "") answerNext(true);
  if (milestone(battle) !== before.milestone) {
    barShownAt = performance.now();
    if (!before.quietly) {
      announce(milestone(battle));
      showNews(battle, before);
    }
  }
  if (before.revealHadFocus) battle.querySelector(".reveal")?.focus({ preventScroll: true });
  if (before.hadFocus) focusLastPrompt(battle);
}

function showNews(battle, before) {
  const live = battle.querySelector("[data-live]");
  const news = live || before.revealed ? null : battle.querySelector(".reveal, .vote, .questions");
  live?.scrollIntoView({ block: "start" });
  news?.scrollIntoView({ block: "nearest" });
  settle(news);
  const votedByKey = document.activeElement === document.body && news?.matches(".reveal");
  if (before.hadFocus || votedByKey) news?.focus({ preventScroll: true });
}

// Ignore pointers for a moment: a second tap, or one meant for Stop, would press what has just appeared there.
function settle(news) {
  news?.classList.add("settling");
  setTimeout(() => news?.classList.remove("settling"), SETTLE_MS);
}

// If the focused element was removed and nothing else took the focus, continue at the last prompt.
function focusLastPrompt(battle) {
  if (document.activeElement !== document.body) return;
  [...battle.querySelectorAll(".question")].at(-1)?.focus({ preventScroll: true });
}

// An accepted follow-up clears the box for the next one.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.xhr.status === 200 && detail.elt.matches("[data-follow-up]")) detail.elt.form.reset();
});

function updateFollowUp() {
  const last = [...document.querySelectorAll(".battle")].at(-1);
  const button = document.querySelector("[data-follow-up]");
  if (!last || !button) return;
  button.disabled = !("canFollowUp" in last.dataset);
  button.hidden = last.dataset.state === "void";
  if (!button.disabled) button.form.querySelector(".notice.still")?.remove();
}

// ---- Arrow keys vote, but not from a field or inside an answer, and not while a key is held. ----

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable], .answer, .question, pre, [popover]")) return;
  if (performance.now() - barShownAt < SETTLE_MS) return;
  const button = [...document.querySelectorAll(".vote button:enabled[data-key]")].findLast(
    ({ dataset }) => dataset.key === event.key,
  );
  if (!button) return;
  event.preventDefault();
  button.click();
});

// The chosen button of a failed vote keeps the focus: Enter sends it again.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful || !detail.elt.matches(".vote")) return;
  const chosen = detail.requestConfig.triggeringEvent?.submitter;
  detail.elt.querySelectorAll("[data-chosen]").forEach((button) => delete button.dataset.chosen);
  if (!chosen) return;
  chosen.dataset.chosen = "";
  chosen.focus({ preventScroll: true });
});

// ---- After the reveal, Enter in the box starts a new battle, or continues this one if "Follow up" was pressed. ----

const promptBox = () => document.getElementById("prompt");

function answerNext(isNext) {
  const form = document.getElementById("composer");
  const label = isNext ? form.dataset.nextLabel : form.dataset.followUpLabel;
  form.toggleAttribute("data-next", isNext);
  promptBox().placeholder = label;
  promptBox().labels[0].textContent = label;
}

// Digits answer the questions of a review, one after the other; Enter then sends them, and 0 skips them.

document.addEventListener("keydown", (event) => {
  const form = document.querySelector(".questions");
  if (!form || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!/^[0-9]$/.test(event.key) || event.target.closest("input:not([type=radio]), textarea, select")) return;
  if (performance.now() - barShownAt < SETTLE_MS) return;
  event.preventDefault();
  if (event.key === "0") return form.querySelector("[name=skip]").click();
  const questions = [...form.querySelectorAll("fieldset")];
  const isOpen = (question) => !question.querySelector(":checked");
  const at = event.target.closest(".questions fieldset") ?? questions.find(isOpen) ?? questions.at(-1);
  const step = at.querySelector(`[value="${event.key}"]`);
  if (!step) return;
  step.checked = true;
  const next = questions[questions.indexOf(at) + 1];
  (next?.querySelector("input") ?? form.querySelector("[type=submit]")).focus();
});

// "n" works only while the focus is inside the reveal.

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "n" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const next = event.target.closest(".reveal")?.querySelector("[data-next-battle], [data-next-answers]");
  if (!next) return;
  event.preventDefault(); // otherwise the letter would be typed into the box
  next.click();
});
// "i" leads to the instructions of a review.
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "i" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!event.target.closest("input, textarea, select")) document.querySelector("[data-instructions]")?.click();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-next-battle], [data-ask-again]");
  if (!link) return;
  event.preventDefault();
  answerNext("nextBattle" in link.dataset);
  document.getElementById("composer").scrollIntoView({ block: "center" });
  promptBox().focus({ preventScroll: true });
});

// The URL of a new battle in the same session differs in its fragment only, which makes browsers load nothing.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#battle-") && !document.getElementById(location.hash.slice(1))) {
    history.scrollRestoration = "manual"; // scroll to the battle, not to the earlier position
    location.reload();
  }
});

updateFollowUp();
const turns = [...document.querySelectorAll(".turn")];
const target = document.getElementById(location.hash.slice(1)) ?? (turns.length > 1 ? turns.at(-1) : null);
target?.scrollIntoView({ block: "start" });
