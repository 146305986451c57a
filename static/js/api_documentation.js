// Swagger UI for the API's schema; "Try it out" sends requests with the reader's session.
const container = document.getElementById("api-documentation");
const csrfToken = () => /(?:^|; )(?:__Host-)?csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";

window.SwaggerUIBundle({
  url: container.dataset.schema,
  domNode: container,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  validatorUrl: null,
  syntaxHighlight: false, // its colours are those of one theme
  // The page has a main landmark of its own.
  onComplete: () => container.querySelector("main")?.setAttribute("role", "group"),
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
