// Swagger UI for the API's schema; "Try it out" sends requests with the reader's session.
const container = document.getElementById("api-documentation");
const csrfToken = () => /(?:^|; )(?:__Host-)?csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
const words = container.dataset;
let pending = 0;

// Swagger UI leaves out names, and puts links into buttons.
function mend() {
  pending = 0;
  // The button itself opens the operation and writes its address.
  for (const link of container.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
  for (const heading of container.querySelectorAll(":is(h3, h4, h5):not([aria-level])")) {
    heading.ariaLevel = heading.matches(".models > h4") ? "2" : String(heading.tagName[1] - 1); // the page's title is level 1
  }
  for (const field of container.querySelectorAll(":is(select, textarea, input):not([aria-label], [type=hidden])")) {
    if (!field.labels?.length) field.ariaLabel = nameOf(field);
  }
  for (const region of container.querySelectorAll(".opblock .responses-table[role=region]:not([aria-label])")) {
    const operation = region.closest(".opblock");
    const [method, path] = [".opblock-summary-method", ".opblock-summary-path"].map((part) => operation.querySelector(part));
    region.ariaLabel = `${words.responses} ${method.textContent} ${path.dataset.path}`;
  }
  for (const code of container.querySelectorAll("pre:not([tabindex])")) {
    if (code.scrollWidth > code.clientWidth || code.scrollHeight > code.clientHeight) code.tabIndex = 0;
  }
}

function nameOf(field) {
  const parameter = field.closest("tr[data-param-name]");
  if (parameter) return parameter.dataset.paramName;
  return field.matches(".body-param__text") ? words.body : words.example;
}

window.SwaggerUIBundle({
  url: container.dataset.schema,
  domNode: container,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  validatorUrl: null,
  syntaxHighlight: false, // its colours are those of one theme
  onComplete: () => {
    // The page has a main landmark of its own.
    container.querySelector("main")?.setAttribute("role", "group");
    mend();
    new MutationObserver(() => { pending ||= requestAnimationFrame(mend); }).observe(container, { childList: true, subtree: true });
  },
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
